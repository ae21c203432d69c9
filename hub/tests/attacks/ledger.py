"""The rated matches of a hub, as its rows have them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import pytest
from sqlalchemy import func, select

from cw import kits
from cw_hub.operation.settings import read_settings
from cw_hub.store.database import Database
from cw_hub.store.models import Bot, Competition, Match, MatchParticipant, Rating
from hub.tests.attacks.hubs import RATED, Hub, Player
from hub.tests.campaign import wait_until
from hub.tests.sites import words_of

KIT: Final = {name: file.read_bytes() for name, file in kits.files(RATED, "python").items()}

CHECKED: Final = 60
"""Turns of the longest match by which a program is checked."""

OPENING: Final = 20
"""Turns that rated matches here have in addition: by these a program knows them."""


def in_openings(deed: str) -> dict[str, bytes]:
    """Return a bot that does something in each of the first turns of a rated match.

    In its checks it does not: one after the other they would last for minutes.
    """
    choose = "        return random"
    turn = f"        if state.turns_left > {CHECKED}:\n            {deed}\n{choose}"
    return {**KIT, "bot.py": KIT["bot.py"].replace(choose.encode(), turn.encode())}


SLOW: Final = in_openings("__import__('time').sleep(0.3)")
"""Its matches last for six seconds at least."""


CHECKS: Final = 5

OPEN: Final = ("queued", "in_progress", "interrupted")


@dataclass(frozen=True)
class Ledger:
    """What became of the rated matches of a hub."""

    database: Database

    def enter(self, player: Player, bot: str, files: Mapping[str, bytes]) -> None:
        """Make a bot that passes its check, on a busy machine perhaps not the first one."""
        sent = player.send_program(bot, files)
        assert sent.status_code == 303, words_of(sent)
        page, seen = f"/bot/{bot}?game={RATED}", None
        for _ in range(CHECKS):
            status, seen = self.status_after(seen, bot)
            if status == "ACTIVE":
                return
            player.fill(f"/bot/{bot}/check?game={RATED}", on=page)
        pytest.fail(player.page_of(bot))

    def status_after(self, seen: datetime | None, bot: str) -> tuple[str, datetime | None]:
        """Return how a bot stands after its next check, and when that was; wait for it."""
        wait_until(lambda: self.status(bot)[1] != seen, f"a check of {bot}")
        return self.status(bot)

    def status(self, bot: str) -> tuple[str, datetime | None]:
        """Return how a bot stands, and when it was checked last."""
        query = select(Bot.status, Bot.checked_at).where(Bot.name == bot)
        with self.database.reading() as session:
            status, checked_at = session.execute(query).one()
            return status, checked_at

    def matches(self, bot: str, state: str) -> list[int]:
        """Return the rated matches of a bot in a state, the first first."""
        query = (
            select(Match.id)
            .join(MatchParticipant, MatchParticipant.match_id == Match.id)
            .join(Bot, Bot.id == MatchParticipant.bot_id)
            .where(Bot.name == bot, Match.kind == "rated", Match.state == state)
            .order_by(Match.id)
        )
        with self.database.reading() as session:
            return list(session.scalars(query))

    def next_match(self, bot: str, state: str) -> int:
        """Wait for a rated match of a bot in a state; return it."""
        wait_until(lambda: bool(self.matches(bot, state)), f"a match of {bot} that is {state}")
        found = self.matches(bot, state)
        return found[0] if found else self.next_match(bot, state)

    def state(self, match: int) -> str:
        """Return how a match stands."""
        with self.database.reading() as session:
            return session.scalars(select(Match.state).where(Match.id == match)).one()

    def wait_for_end(self, match: int) -> None:
        """Wait until a match is over, and find that it counts for all who played."""
        wait_until(lambda: self.state(match) not in OPEN, "the end of a match")
        assert self.state(match) == "done"
        seats = select(MatchParticipant.mu).where(MatchParticipant.match_id == match)
        with self.database.reading() as session:
            assert session.scalars(select(Match.seq).where(Match.id == match)).one()
            assert None not in session.scalars(seats).all()

    def ranks(self, match: int) -> dict[str, int | None]:
        """Return who came where in a match, by the names of the bots."""
        query = select(MatchParticipant.name, MatchParticipant.rank)
        with self.database.reading() as session:
            rows = session.execute(query.where(MatchParticipant.match_id == match))
            return {row.name: row.rank for row in rows}

    def is_competition(self, state: str) -> bool:
        """Return whether the rated competition is in a state."""
        query = select(Competition.state).where(Competition.slug == RATED)
        with self.database.reading() as session:
            return session.scalars(query.where(Competition.format == "rated")).one() == state

    def called_off(self) -> list[int]:
        """Return the rated matches that came to no result."""
        ended = (Match.kind == "rated", Match.state.in_(("failed", "void")))
        with self.database.reading() as session:
            return list(session.scalars(select(Match.id).where(*ended)))

    def begun(self) -> list[int]:
        """Return the rated matches that a worker plays, or that were just taken from one."""
        begun = (Match.kind == "rated", Match.state.in_(("in_progress", "interrupted")))
        with self.database.reading() as session:
            return list(session.scalars(select(Match.id).where(*begun)))

    def deviation(self, bot: str) -> float:
        """Return the deviation of the rating of a bot: each match lets it become smaller."""
        query = select(Rating.phi).join(Bot, Bot.id == Rating.bot_id).where(Bot.name == bot)
        with self.database.reading() as session:
            return session.scalars(query).one()

    def unrated(self) -> int:
        """Return how many other matches are over, and find that none of them counted."""
        seats = MatchParticipant.match_id == Match.id
        query = select(Match.id, Match.seq, MatchParticipant.mu).join(MatchParticipant, seats)
        others = (Match.kind != "rated", Match.game == RATED, Match.state == "done")
        with self.database.reading() as session:
            rows = session.execute(query.where(*others)).all()
        assert all(row.seq is None and row.mu is None for row in rows)
        return len({row.id for row in rows})

    def meetings_of_one_owner(self) -> list[int]:
        """Return the rated matches in which two bots of one account played."""
        query = (
            select(MatchParticipant.match_id)
            .join(Bot, Bot.id == MatchParticipant.bot_id)
            .join(Match, Match.id == MatchParticipant.match_id)
            .where(Match.kind == "rated", Bot.kind != "builtin")
            .group_by(MatchParticipant.match_id, Bot.user_id)
            .having(func.count() > 1)
        )
        with self.database.reading() as session:
            return list(session.scalars(query))


@contextmanager
def opened_ledger(hub: Hub) -> Iterator[Ledger]:
    """Read the rows of a hub while the block runs; its rated matches follow one another at once."""
    options = f'options={{"turns": {CHECKED + OPENING}}}'
    hub.operate("competition", "set", f"rated/{RATED}", "rest=0", options)
    with closing(Database(read_settings(hub.environment).database)) as database:
        yield Ledger(database)
