"""Challenges as shown on pages: the bots, the score, and each match."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from cw_hub.matches.challenges.keys import (
    NAME,
    challenge_column,
    challenge_of,
    challenger_slot,
    keys_of,
)
from cw_hub.matches.interruptions import OPEN
from cw_hub.matches.kinds import Kinds
from cw_hub.matches.lookup import views_of
from cw_hub.matches.views import MatchView
from cw_hub.store.tables import Bot, Match, MatchParticipant


@dataclass(frozen=True, slots=True)
class Side:
    """A bot in a challenge."""

    bot: int
    """The id of its row."""
    bot_id: str
    name: str
    user_id: int | None
    """The id of its owner."""


@dataclass(frozen=True, slots=True)
class ChallengeView:
    """A challenge for its page, from the challenger's side."""

    id: str
    game: str
    challenger: Side
    challenged: Side
    matches: Sequence[MatchView]
    """In order."""

    @property
    def results(self) -> list[str]:
        """The challenger's results in the finished matches."""
        bot = self.challenger.bot
        return [match.result_of(bot) for match in self.matches if match.state == "done"]

    @property
    def won(self) -> int:
        """Matches won by the challenger."""
        return self.results.count("won")

    @property
    def drawn(self) -> int:
        """Drawn matches."""
        return self.results.count("drawn")

    @property
    def lost(self) -> int:
        """Matches lost by the challenger."""
        return self.results.count("lost")

    @property
    def score(self) -> float:
        """The challenger's points: 1 per win, 0.5 per draw."""
        return self.won + self.drawn / 2

    @property
    def is_over(self) -> bool:
        """Whether no match is waiting or being played."""
        return not any(match.state in OPEN for match in self.matches)

    @property
    def began_at(self) -> datetime:
        """When it started."""
        return self.matches[0].at

    @property
    def sentence(self) -> str:
        """The status text: the score so far, or the result."""
        over, all_of_them = len(self.results), len(self.matches)
        points = f"{self.score:g} : {over - self.score:g}"
        if self.is_over:
            done = "" if over == all_of_them else f" after {over} of {all_of_them} matches"
            return f"{self.challenger.name} {points} {self.challenged.name}{done}"
        if any(match.state == "in_progress" for match in self.matches):
            now = f"match {over + 1} of {all_of_them} is being played"
        else:
            now = f"match {over + 1} of {all_of_them} begins when both bots are free"
        return f"{self.challenger.name} {points} {self.challenged.name}: {now}"

    @property
    def tag(self) -> str:
        """A tag that changes whenever the page does."""
        return f"{self.id}-" + "-".join(f"{match.state}{match.attempt}" for match in self.matches)


def find(session: Session, kinds: Kinds, challenge: str) -> ChallengeView | None:
    """Return a challenge by its id, or None."""
    wanted = select(Match).where(Match.kind == NAME, Match.key.in_(keys_of(challenge)))
    rows = session.scalars(wanted.order_by(Match.id)).all()
    if not rows:
        return None
    first = rows[0]
    seats = session.execute(
        select(Bot.id, Bot.bot_id, Bot.name, Bot.user_id)
        .join(MatchParticipant, MatchParticipant.bot_id == Bot.id)
        .where(MatchParticipant.match_id == first.id)
        .order_by(MatchParticipant.slot)
    )
    challenger, challenged = (Side(*row) for row in seats)
    return ChallengeView(
        challenge, first.game, challenger, challenged, views_of(session, kinds, rows)
    )


def series_of(session: Session, match_id: str) -> str | None:
    """Return the id of a match's challenge, or None if that has no other match."""
    key = session.scalars(select(Match.key).where(Match.match_id == match_id)).one()
    its = (Match.kind == NAME, Match.key.in_(keys_of(challenge_of(key))))
    number = session.scalar(select(func.count()).select_from(Match).where(*its))
    return challenge_of(key) if number and number > 1 else None


@dataclass(frozen=True, slots=True)
class ChallengeRow:
    """A challenge in a list."""

    id: str
    opponent: str
    is_own: bool
    """Whether the bot of the list is the challenger."""
    matches: int
    at: datetime


LISTED: Final = 10
"""Challenges in a list."""


def of_bot(session: Session, bot: int) -> list[ChallengeRow]:
    """Return the last challenges by and against a bot, the latest first."""
    seat = MatchParticipant
    lasts = (
        select(func.max(Match.id), func.count())
        .join(seat, seat.match_id == Match.id)
        .where(seat.bot_id == bot, Match.kind == NAME)
        .group_by(challenge_column())
        .order_by(func.max(Match.id).desc())
        .limit(LISTED)
    )
    counts = {match: count for match, count in session.execute(lasts)}  # noqa: C416 - of rows
    if not counts:
        return []
    rows = session.execute(
        select(Match.id, Match.key, Match.at, seat.slot, seat.name)
        .join(seat, seat.match_id == Match.id)
        .where(Match.id.in_(counts), seat.bot_id != bot)
        .order_by(Match.id.desc())
    )
    return [
        ChallengeRow(challenge_of(key), name, slot != challenger_slot(key), counts[match], at)
        for match, key, at, slot, name in rows
    ]
