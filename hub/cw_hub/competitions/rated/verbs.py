"""Rated competitions: settings, creation, and processing of results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from cw.games.entry import game_of
from cw.games.registry import game_entries
from cw_hub.bots import house
from cw_hub.bots.checks.health import BotHosting
from cw_hub.clock import Clock
from cw_hub.competitions import maps
from cw_hub.competitions import verbs as competitions
from cw_hub.competitions.rated import ratings
from cw_hub.competitions.rated.entry import FORMAT, enter_all
from cw_hub.competitions.rated.settings import RatedSettings
from cw_hub.competitions.verbs import SINCE, CompetitionFacts
from cw_hub.matches.claims import Claim
from cw_hub.matches.results import BattleResult
from cw_hub.store.tables import Bot, Competition

FIRST_GAME: Final = "code-battle"
"""The game of a new site's first rated competition."""

FIRST_TITLE: Final = "AI Code Battle"


def settings_of(session: Session, competition: Competition | CompetitionFacts) -> RatedSettings:
    """Return a competition's settings, with defaults for missing values.

    Without numbers of players: those for which the game has maps, or else the fewest it allows.
    """
    values = {name: value for name, value in competition.settings.items() if name != SINCE}
    formats = tuple(values.pop("formats", ())) or maps.numbers_with_maps(session, competition.game)
    return RatedSettings(formats or fewest_players(competition.game), **values)


def fewest_players(game: str) -> tuple[int, ...]:
    """Return the fewest players of a match between bots; two for a game that is not installed."""
    entry = game_entries().get(game)
    return (2,) if entry is None else (max(2, game_of(entry).rules.seats.start),)


def begin(session: Session, clock: Clock, game: str, title: str, **settings: Any) -> int:
    """Create a game's rated competition and house bots, and enter all bots of the game.

    Returns its id. Idempotent, also when called concurrently: existing rows stay unchanged.
    """
    # First, because concurrent callers wait here.
    house.open_house(session, clock, game)
    row = of_game(session, game)
    if row is None:
        new = competitions.new(session, clock, FORMAT, game, title=title, settings=settings)
        competitions.set_state(session, clock, new.id, "running")
    competition = new.id if row is None else row.id
    enter_all(session, clock, competition, game)
    return competition


def open_to_all(session: Session, clock: Clock, competition: int, game: str) -> None:
    """Create a game's house bots, and enter all its bots. Idempotent."""
    house.open_house(session, clock, game)
    enter_all(session, clock, competition, game)


def begin_site(session: Session, clock: Clock, settings: Mapping[str, Any]) -> None:
    """Create the rated competition of a new site. Idempotent."""
    begin(session, clock, FIRST_GAME, FIRST_TITLE, **settings)


def of_game(session: Session, game: str) -> Competition | None:
    """Return the rated competition of a game, or None."""
    wanted = (Competition.format == FORMAT, Competition.slug == game)
    return session.scalars(select(Competition).where(*wanted)).one_or_none()


def hosting_of(session: Session, bot: Bot) -> BotHosting | None:
    """Return how to run a user's program in rated matches, or None if it plays in none."""
    competition = None if bot.user_id is None else of_game(session, bot.game)
    if competition is None:
        return None
    return BotHosting("sandboxed", options=competition.settings.get("options", {}))


def rated_competitions(session: Session) -> list[Competition]:
    """Return all rated competitions, ordered by game."""
    query = select(Competition).where(Competition.format == FORMAT)
    return list(session.scalars(query.order_by(Competition.slug)))


def finished(session: Session, _: Clock, claim: Claim, battles: Sequence[BattleResult]) -> None:
    """Rate a match in the transaction that ends it, and so once and in order."""
    ratings.apply(session, claim.id, battles[-1].slots)
