"""Rated competitions: entering bots, settings, and verifying or rebuilding the ratings."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any, Final, NamedTuple

from sqlalchemy import bindparam, delete, select, update

from cw.errors import UsageError, choices, short
from cw.games.entry import game_of
from cw.games.registry import game_entries, load_game, load_protocol
from cw_hub.bots import house
from cw_hub.bots.health import BotHosting
from cw_hub.competitions import maps
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.rated import ratings
from cw_hub.competitions.rated.ratings import (
    _MATCHES,
    _SEATS,
    AT_ONCE,
    MOVE,
    SEAT_AFTER,
    Book,
    Seated,
    Totals,
    add_totals,
    new,
    seat_after,
    standing_of,
)
from cw_hub.competitions.service import SINCE, CompetitionFacts
from cw_hub.matches.results import BattleResult, Claim
from cw_hub.pages.request import whole_number
from cw_hub.store.database import Session
from cw_hub.store.models import Bot, Competition, Rating, RatingTotal

FORMAT: Final = "rated"
"""The name of the format."""


def enter(session: Session, bot: int) -> None:
    """Enter a new bot in the rated competitions of its game. Idempotent."""
    row = session.get_one(Bot, bot)
    entered = select(Rating.competition_id).where(Rating.bot_id == bot)
    rated = (
        Competition.format == FORMAT,
        Competition.game == row.game,
        Competition.id.not_in(entered),
    )
    for competition in session.scalars(select(Competition.id).where(*rated)).all():
        session.add(Rating(competition_id=competition, bot_id=bot))
        row.check_due_at = row.created_at if row.kind == "url" else None


def enter_all(session: Session, competition: int, game: str) -> None:
    """Enter all users' bots that play a game in a competition. Idempotent."""
    entered = select(Rating.bot_id).where(Rating.competition_id == competition)
    people = (Bot.game == game, Bot.user_id.is_not(None))
    missing = select(Bot.id).where(*people, Bot.id.not_in(entered))
    for bot in session.scalars(missing).all():
        session.add(Rating(competition_id=competition, bot_id=bot))
    unasked = (*people, Bot.kind == "url", Bot.check_due_at.is_(None))
    session.execute(update(Bot).where(*unasked).values(check_due_at=session.now()))


LONGEST_REST: Final = 7 * 24 * 3600.0
"""Maximum rest between two matches of a bot, in seconds."""

MOST_MATCHES: Final = 100_000_000

NONE: Final = "none"
"""The value for an unlimited number of matches."""


@dataclass(frozen=True, slots=True)
class RatedSettings:
    """The settings of a rated competition."""

    formats: tuple[int, ...]
    """Allowed numbers of players."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """The game's options."""
    same_owner: bool = False
    """Whether two bots of one owner may meet."""
    rest: float = 60.0
    """Seconds between matches of a bot."""
    warm_up: int = 0
    """Number of first matches of the competition for which `rest` is ignored."""
    house_plays: bool = False
    """Whether house bots play each other when no other bot can play."""
    matches: int | None = None
    """The total number of matches; None: unlimited."""


def checked(game: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings parsed from text; raise UsageError if they are invalid."""
    for name in values:
        if name not in READERS:
            raise UsageError(f"a rated competition has no {short(name)}; {choices(name, READERS)}")
    return {name: READERS[name](game, value) for name, value in values.items()}


def read_formats(game: str, value: Any) -> list[int]:
    """Parse numbers of players, such as `2,4`."""
    seats = load_game(game).rules.seats
    numbers = [whole_number(part.strip(), 2) for part in str(value).split(",")]
    if any(number not in seats for number in numbers):
        raise UsageError(
            f"formats must be numbers of players from {max(2, seats.start)} to {seats.stop - 1},"
            f" such as {max(2, seats.start)}, with commas between several, not {short(value)}"
        )
    return sorted({number for number in numbers if number is not None})


def read_options(game: str, value: Any) -> dict[str, Any]:
    """Check the game's options, which its rules must accept."""
    if not isinstance(value, dict):
        raise UsageError("options must be a JSON object, such as {}")
    rules, options = load_game(game).rules, load_protocol(game).options
    of_rules = {name: option for name, option in value.items() if name not in options}
    try:
        rules.new(max(2, rules.seats.start), 1, **of_rules)
    except UsageError as error:
        raise UsageError(f"options: {error}") from None
    return value


def read_rest(_: str, value: Any) -> float:
    """Parse the rest between two matches, in seconds."""
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        seconds = math.nan
    if not 0 <= seconds <= LONGEST_REST:
        raise UsageError(
            f"rest must be seconds from 0 to {LONGEST_REST:.0f}, such as 60, not {short(value)}"
        )
    return seconds


def read_matches(_: str, value: Any) -> int | None:
    """Parse the total number of matches."""
    number = whole_number(str(value), 1, MOST_MATCHES)
    if number is None and value not in (None, NONE):
        raise UsageError(
            f"matches must be a whole number from 1 to {MOST_MATCHES}, or {NONE},"
            f" not {short(value)}"
        )
    return number


def read_warm_up(_: str, value: Any) -> int:
    """Parse the number of matches without rest."""
    number = whole_number(str(value), 0, MOST_MATCHES)
    if number is None:
        raise UsageError(
            f"warm_up must be a whole number from 0 to {MOST_MATCHES}, not {short(value)}"
        )
    return number


def yes_or_no(name: str) -> Callable[[str, Any], bool]:
    """Return a parser for a boolean setting."""

    def read(_: str, value: Any) -> bool:
        if value in (True, "true"):
            return True
        if value in (False, "false"):
            return False
        raise UsageError(f"{name} must be true or false, not {short(value)}")

    return read


READERS: Final[Mapping[str, Callable[[str, Any], Any]]] = {
    "formats": read_formats,
    "options": read_options,
    "same_owner": yes_or_no("same_owner"),
    "rest": read_rest,
    "warm_up": read_warm_up,
    "house_plays": yes_or_no("house_plays"),
    "matches": read_matches,
}
"""The parsers of the settings, by name."""


FIRST_GAME: Final = "code-battle"
"""The game of a new site's first rated competition."""

FIRST_TITLE: Final = "AI Code Battle"


def settings_of(session: Session, competition: Competition | CompetitionFacts) -> RatedSettings:
    """Return a competition's settings, with defaults for missing values.

    The numbers of players default to those for which the game has maps, or else to the fewest that
    the game allows.
    """
    values = {name: value for name, value in competition.settings.items() if name != SINCE}
    formats = tuple(values.pop("formats", ())) or maps.numbers_with_maps(session, competition.game)
    return RatedSettings(formats or fewest_players(competition.game), **values)


def fewest_players(game: str) -> tuple[int, ...]:
    """Return the minimum number of players of a bot match; 2 for a game that is not installed."""
    entry = game_entries().get(game)
    return (2,) if entry is None else (max(2, game_of(entry).rules.seats.start),)


def begin(session: Session, game: str, title: str, **settings: Any) -> int:
    """Create a game's rated competition and house bots, and enter all bots of the game.

    Returns its id. Idempotent, also when called concurrently: existing rows stay unchanged.
    """
    # This must come first, because concurrent callers wait here.
    house.open_house(session, game)
    row = of_game(session, game)
    if row is None:
        new = competitions_service.new(session, FORMAT, game, title=title, settings=settings)
        competitions_service.set_state(session, new.id, "running")
    competition = new.id if row is None else row.id
    enter_all(session, competition, game)
    return competition


def open_to_all(session: Session, competition: int, game: str) -> None:
    """Create a game's house bots, and enter all its bots. Idempotent."""
    house.open_house(session, game)
    enter_all(session, competition, game)


def begin_site(session: Session, settings: Mapping[str, Any]) -> None:
    """Create the rated competition of a new site. Idempotent."""
    begin(session, FIRST_GAME, FIRST_TITLE, **settings)


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


def finished(session: Session, claim: Claim, battles: Sequence[BattleResult]) -> None:
    """Rate a match in the transaction that ends it, so that it is rated once and in order."""
    ratings.apply(session, claim.id, battles[-1].slots)


class Difference(NamedTuple):
    """A value in the database that contradicts the matches."""

    match: str
    """The match's public name; "" if the value does not belong to a single match."""
    bot: str
    what: str
    stored: Any
    right: Any

    def __str__(self) -> str:
        """Return a text with the location of the value, the stored value, and the correct one."""
        where = " ".join(filter(None, (self.match, self.bot)))
        return f"{where or 'the competition'}: {self.what} is {self.stored}, not {self.right}"


class Entered(NamedTuple):
    """A rated match, as stored."""

    id: int
    match_id: str
    seq: int
    ended: datetime
    seated: Sequence[Seated]
    rows: Sequence[Any]
    """The rows of its slots, in order, with the values stored when it was rated."""


RATED: Final = (
    select(
        *(_MATCHES.c[name] for name in ("id", "match_id", "seq", "finished_at")),
        *(_SEATS.c[name] for name in ("slot", "bot_id", "rank", "score", "crashed")),
        *(_SEATS.c[name] for name in ("pair_rank", "mu", "phi", "sigma")),
    )
    .join(_SEATS, _SEATS.c.match_id == _MATCHES.c.id)
    .where(_MATCHES.c.competition_id == bindparam("competition"), _MATCHES.c.seq.is_not(None))
    .order_by(_MATCHES.c.seq, _SEATS.c.slot)
)


def entered(session: Session, competition: int) -> Iterator[Entered]:
    """Yield the rated matches in order of seq."""
    rows: Iterable[Any] = session.execute(
        RATED, {"competition": competition}, execution_options={"yield_per": AT_ONCE}
    )
    for seq, group in groupby(rows, key=attrgetter("seq")):
        slots = list(group)
        first = slots[0]
        seated = [Seated(bot.bot_id or 0, bot.rank, bot.score, bot.crashed) for bot in slots]
        yield Entered(first.id, first.match_id, seq, first.finished_at, seated, slots)


def verify(session: Session, competition: int, tolerance: float = 0.0) -> Iterator[Difference]:
    """Re-rate all matches in order, and yield the differences from the stored values."""
    names = names_of(session, competition)
    book, last = Book(), 0
    for bot in entered(session, competition):
        last += 1
        if bot.seq != last:
            yield Difference(bot.match_id, "", "seq", bot.seq, last)
            last = bot.seq
        ranks, after = book.enter(bot.seated, bot.ended)
        for row, rank, rating in zip(bot.rows, ranks, after, strict=True):
            for name, stored, value in differing(row, seat_after(rank, rating), tolerance):
                yield Difference(bot.match_id, names[row.bot_id or 0], name, stored, value)
    stored_last = session.scalars(
        select(Competition.last_seq).where(Competition.id == competition)
    ).one()
    if stored_last != last:
        yield Difference("", "", "last_seq", stored_last, last)
    yield from differing_ratings(session, competition, book, names, tolerance)
    yield from differing_totals(session, competition, book, names)


def verify_all(session: Session, tolerance: float) -> Iterator[str]:
    """Yield the differences found by `verify` in all rated competitions, as text."""
    for competition in rated_competitions(session):
        for difference in verify(session, competition.id, tolerance):
            yield f"{competition.slug}: {difference}"


def names_of(session: Session, competition: int) -> dict[int, str]:
    """Return the bot ids of a competition by row id."""
    of_bots = select(Bot.id, Bot.bot_id).join(Rating, Rating.bot_id == Bot.id)
    rows = session.execute(of_bots.where(Rating.competition_id == competition))
    return {row: bot_id for row, bot_id in rows}  # noqa: C416 - mypy knows no dict of rows


def differing(
    row: object, right: Mapping[str, Any], tolerance: float
) -> Iterator[tuple[str, Any, Any]]:
    """Yield name, stored value and correct value of each wrong column of a row."""
    for name, value in right.items():
        stored = getattr(row, name)
        near = isinstance(value, float) and stored is not None
        if stored != value and not (near and abs(stored - value) <= tolerance):
            yield name, stored, value


def differing_ratings(
    session: Session, competition: int, book: Book, names: Mapping[int, str], tolerance: float
) -> Iterator[Difference]:
    """Yield the wrong values in the ratings."""
    for row in session.scalars(select(Rating).where(Rating.competition_id == competition)):
        for name, stored, value in differing(row, standing_of(book, row.bot_id), tolerance):
            yield Difference("", names[row.bot_id], name, stored, value)


def differing_totals(
    session: Session, competition: int, book: Book, names: Mapping[int, str]
) -> Iterator[Difference]:
    """Yield the wrong values in the totals."""
    rows = session.scalars(select(RatingTotal).where(RatingTotal.competition_id == competition))
    stored = {
        (row.players, row.day, row.bot_id): Totals(row.games, row.wins, row.draws, row.losses)
        for row in rows
    }
    for key in sorted(stored.keys() | book.totals.keys()):
        kept_totals, right = stored.get(key, Totals()), book.totals.get(key, Totals())
        if kept_totals != right:
            players, day, bot = key
            place = f"totals of players {players}, day {day}"
            yield Difference("", names.get(bot, str(bot)), place, tuple(kept_totals), tuple(right))


def rebuild(session: Session, competition: int) -> int:
    """Rewrite all ratings from the matches; return the number of matches. Idempotent.

    The competition is locked until the transaction ends, so that no match ends in the meantime.
    """
    session.execute(
        select(Competition.id).where(Competition.id == competition).with_for_update()
    ).one()
    book, number = Book(), 0
    # Write only after reading everything: rows must not change while they are streamed.
    moved, wrong = [], []
    for number, bot in enumerate(entered(session, competition), 1):
        ranks, after = book.enter(bot.seated, bot.ended)
        if bot.seq != number:
            moved.append({"match": bot.id, "next_seq": number})
        for row, rank, rating in zip(bot.rows, ranks, after, strict=True):
            right = seat_after(rank, rating)
            if any(differing(row, right, 0)):
                wrong.append({"match": bot.id, "of_slot": row.slot, **new(right)})
    for statement, rows in ((MOVE, moved), (SEAT_AFTER, wrong)):
        if rows:
            session.execute(statement, rows)
    for rating_row in session.scalars(select(Rating).where(Rating.competition_id == competition)):
        for name, value in standing_of(book, rating_row.bot_id).items():
            setattr(rating_row, name, value)
    session.execute(delete(RatingTotal).where(RatingTotal.competition_id == competition))
    add_totals(session, competition, book.totals)
    again = {"last_seq": number, "revision": Competition.revision + 1}
    session.execute(update(Competition).where(Competition.id == competition).values(again))
    return number
