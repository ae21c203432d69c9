"""What to ask a bot again about a match, and its new answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from cw.arena.bots import BotSpec
from cw.games.rules import Json, Player
from cw.matches.spec import Isolation
from cw.replays.document import Document

LEGAL: Final = "legal"
"""The verdict on an action that the rules allow."""


@dataclass(frozen=True, slots=True)
class Asking:
    """A request to ask a bot again."""

    document: Document
    """The replay."""
    player: Player
    """The player whose seat the bot takes."""
    bot: BotSpec
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    turn: int | None = None
    """The turn to ask about, numbered as in sentences; None for all."""
    is_cold: bool = False
    """Whether the match starts for the bot with the position before that turn."""
    is_patient: bool = False
    """Whether the bot has no time limit."""
    isolation: Isolation = field(default_factory=Isolation)


@dataclass(frozen=True, slots=True)
class AskedAnswer:
    """A bot's new answer, and the one in the match."""

    turn: int
    """Numbered as in sentences."""
    question: str
    before: Json
    """The action in the match, or `{"fault": kind, "error": sentence}`."""
    after: Json
    """The new action, in the same form."""
    verdict_before: str
    """The verdict of the rules: `legal`, or the kind of the fault and a sentence."""
    verdict: str
    seconds_before: float | None
    """The answer's time in the match, or None if not recorded."""
    seconds: float
    stderr: str
    """What the bot has written to standard error since the previous question."""

    @property
    def is_changed(self) -> bool:
        """Whether the answer differs from that in the match."""
        return bool(self.before != self.after)

    @property
    def is_legal(self) -> bool:
        """Whether the rules allow the answer."""
        return self.verdict == LEGAL

    def to_json(self) -> dict[str, Json]:
        """Return the answer as JSON; times are in milliseconds."""
        before = self.seconds_before
        return {
            "turn": self.turn,
            "question": self.question,
            "before": self.before,
            "after": self.after,
            "changed": self.is_changed,
            "verdict_before": self.verdict_before,
            "verdict": self.verdict,
            "ms_before": None if before is None else round(before * 1000, 3),
            "ms": round(self.seconds * 1000, 3),
            "stderr": self.stderr,
        }
