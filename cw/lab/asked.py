"""What a bot is asked again about a match, and what it answers today."""

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
    """Who is asked what."""

    document: Document
    """The replay."""
    player: Player
    """Whose place the bot takes."""
    bot: BotSpec
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    turn: int | None = None
    """The turn that is asked about, by its number in sentences; None for all."""
    is_cold: bool = False
    """Whether the match begins for the bot with the position before that turn."""
    is_patient: bool = False
    """Whether the bot has as much time as it likes."""
    isolation: Isolation = field(default_factory=Isolation)


@dataclass(frozen=True, slots=True)
class AskedAnswer:
    """What a bot answers today, beside what was answered in the match."""

    turn: int
    """As sentences count."""
    question: str
    before: Json
    """The action in the match, or `{"fault": kind, "error": sentence}`."""
    after: Json
    """What the bot says now, in the same form."""
    verdict_before: str
    """What the rules say of it: `legal`, or the kind of the fault and a sentence."""
    verdict: str
    seconds_before: float | None
    """The time of the answer in the match, None where it is not recorded."""
    seconds: float
    stderr: str
    """What the bot has written to its standard error since the question before."""

    @property
    def is_changed(self) -> bool:
        """Whether the answer is another one than in the match."""
        return bool(self.before != self.after)

    @property
    def is_legal(self) -> bool:
        """Whether the rules allow the answer."""
        return self.verdict == LEGAL

    def to_json(self) -> dict[str, Json]:
        """Return it for programs; times are in milliseconds."""
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
