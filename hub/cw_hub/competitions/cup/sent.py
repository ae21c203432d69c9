"""Cups of championships run by a command: open, query, call off.

The hub plans and plays such a cup like any other; the command follows it, and appends match
results to its own journal.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from cw.arena.bots import BotSpec
from cw.championship.config import ChampionshipSettings
from cw.championship.report_page import title_of
from cw.championship.teams import Team
from cw_hub.bots.seats import BUILTIN, PROGRAM
from cw_hub.clock import Clock
from cw_hub.competitions import verbs as competitions
from cw_hub.competitions.cup.parcels import is_program
from cw_hub.competitions.cup.settings import NAME
from cw_hub.competitions.cup.verbs import plan_cup
from cw_hub.matches.interruptions import ANEW, OPEN
from cw_hub.store.tables import Match, MatchState

CALLED_OFF: Final = "its championship was stopped"
ACTOR: Final = "championship"


class SentMatch(NamedTuple):
    """The state of a match."""

    id: int
    key: str
    state: MatchState
    attempt: int
    reason: str | None


def open_cup(
    session: Session,
    clock: Clock,
    slug: str,
    settings: ChampionshipSettings,
    values: Mapping[str, Any],
) -> int:
    """Create the cup of a championship with the values of `settings_for`, or resume it.

    Returns its id. Matches that were called off or have failed are played again.
    """
    cup = competitions.find(session, NAME, slug) or competitions.new(
        session,
        clock,
        NAME,
        settings.game,
        slug=slug,
        title=f"{title_of(settings.game)}, {settings.format.replace('-', ' ')}",
        seed=settings.seed,
        actor=ACTOR,
    )
    competitions.set_values(session, clock, cup.id, values)
    its = (Match.competition_id == cup.id, Match.state.in_(("void", "failed")))
    session.execute(update(Match).where(*its).values(ANEW))
    competitions.set_state(session, clock, cup.id, "running", ACTOR)
    plan_cup(session, clock, cup.id)
    return cup.id


def settings_for(
    settings: ChampionshipSettings, teams: Sequence[Team], most: int
) -> dict[str, Any]:
    """Return the cup settings of a championship, with at most `most` open matches."""
    numbers = {
        "groups": settings.groups,
        "players": settings.players,
        "rounds": settings.rounds,
        "at_once": most,
    }
    return {
        "contest": settings.format,
        "options": settings.options,
        "entrants": {team.id: public_spec(team.bot) for team in teams},
        "parallel": {team.id: team.parallel for team in teams if team.parallel is not None},
        **{name: value for name, value in numbers.items() if value is not None},
    }


def public_spec(bot: BotSpec) -> str | None:
    """Return the kind of a bot, without anything secret."""
    if is_program(bot):
        return PROGRAM
    return f"{BUILTIN}{bot.target}" if bot.kind == "builtin" else None


def statuses(session: Session, cup: int, keys: Collection[str]) -> list[SentMatch]:
    """Return the state of those of the given matches that are planned."""
    query = select(Match.id, Match.key, Match.state, Match.attempt, Match.reason)
    rows = session.execute(query.where(Match.competition_id == cup, Match.key.in_(keys)))
    return [SentMatch(*row) for row in rows]


def open_keys(session: Session, cup: int) -> set[str]:
    """Return the keys of a cup's unfinished matches."""
    query = select(Match.key).where(Match.competition_id == cup, Match.state.in_(OPEN))
    return set(session.scalars(query))


def stop(session: Session, clock: Clock, cup: int, *, with_played: bool = False) -> None:
    """Stop planning matches of a cup, and void those waiting, and with `with_played` those running.

    Idempotent. A worker that has lost its match notices, and stops.
    """
    if competitions.lock(session, cup).state == "running":
        competitions.set_state(session, clock, cup, "paused", ACTOR)
    states: tuple[MatchState, ...] = OPEN if with_played else ("queued", "interrupted")
    off = {
        "state": "void",
        "finished_at": clock(),
        "reason": CALLED_OFF,
        "worker": None,
        "lease_until": None,
    }
    its = (Match.competition_id == cup, Match.state.in_(states))
    session.execute(update(Match).where(*its).values(off))
