"""Rated competitions: how each is played, how it begins, and what takes in its results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from cw.games.entry import game_of
from cw.games.registry import game_entries
from cw.hub.bots import house
from cw.hub.bots.checks.health import BotHosting
from cw.hub.clock import Clock
from cw.hub.competitions import maps
from cw.hub.competitions import verbs as competitions
from cw.hub.competitions.rated import ratings
from cw.hub.competitions.rated.entry import FORMAT, enter_all
from cw.hub.competitions.rated.settings import RatedSettings
from cw.hub.competitions.verbs import SINCE, CompetitionFacts
from cw.hub.matches.claims import Claim
from cw.hub.matches.results import BattleResult
from cw.hub.store.tables import Bot, Competition

FIRST_GAME: Final = "code-battle"
"""Whose competition a site begins with."""

FIRST_TITLE: Final = "AI Code Battle"


def settings_of(session: Session, competition: Competition | CompetitionFacts) -> RatedSettings:
    """Return how a competition is played; what its row does not say is the default.

    Without numbers of players: those for which the game has maps, or the fewest that it allows.
    """
    values = {name: value for name, value in competition.settings.items() if name != SINCE}
    formats = tuple(values.pop("formats", ())) or maps.numbers_with_maps(session, competition.game)
    return RatedSettings(formats or fewest_players(competition.game), **values)


def fewest_players(game: str) -> tuple[int, ...]:
    """Return the least number of players of a match between bots; two for a game not known here."""
    entry = game_entries().get(game)
    return (2,) if entry is None else (max(2, game_of(entry).rules.seats.start),)


def begin(session: Session, clock: Clock, game: str, title: str, **settings: Any) -> int:
    """Make the rated competition of a game, its house bots, and let all bots of the game take part.

    Returns its id. Twice, or by two at once: what is there stays as it is.
    """
    # First, as the second of two waits there.
    house.open_house(session, clock, game)
    row = of_game(session, game)
    if row is None:
        new = competitions.new(session, clock, FORMAT, game, title=title, settings=settings)
        competitions.set_state(session, clock, new.id, "running")
    competition = new.id if row is None else row.id
    enter_all(session, clock, competition, game)
    return competition


def open_to_all(session: Session, clock: Clock, competition: int, game: str) -> None:
    """Make the house bots of a game, and let all its bots take part. Twice: once."""
    house.open_house(session, clock, game)
    enter_all(session, clock, competition, game)


def begin_site(session: Session, clock: Clock, settings: Mapping[str, Any]) -> None:
    """Make the rated competition that a site begins with. Twice: it stays as it is."""
    begin(session, clock, FIRST_GAME, FIRST_TITLE, **settings)


def of_game(session: Session, game: str) -> Competition | None:
    """Return the rated competition of a game, None if there is none."""
    wanted = (Competition.format == FORMAT, Competition.slug == game)
    return session.scalars(select(Competition).where(*wanted)).one_or_none()


def hosting_of(session: Session, bot: Bot) -> BotHosting | None:
    """Return how a person's program is run in rated matches; None for one that plays in none."""
    competition = None if bot.user_id is None else of_game(session, bot.game)
    if competition is None:
        return None
    return BotHosting("sandboxed", options=competition.settings.get("options", {}))


def rated_competitions(session: Session) -> list[Competition]:
    """Return all rated competitions, by their game."""
    query = select(Competition).where(Competition.format == FORMAT)
    return list(session.scalars(query.order_by(Competition.slug)))


def finished(session: Session, _: Clock, claim: Claim, battles: Sequence[BattleResult]) -> None:
    """Rate what a match has come to; in the transaction of its end, and so once and in order."""
    ratings.apply(session, claim.id, battles[-1].slots)
