"""Bots of known strength that play for some days, as a ladder would let them."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import log
from random import Random

from cw.league.glicko2 import Rating, pair_ranks, rate
from cw.league.matchmaking import Candidate, Pairing, eligible, pair, seed_bot

DAY = 86400.0
SPREAD = 400.0
"""Of the known strengths, in points of a rating."""

UNIT = 173.7178
"""Points by which a chance of 1 : 1 becomes one of e : 1."""

MAPS = {players: [f"m{players}_{number}" for number in range(10)] for players in (2, 3, 4, 6)}


@dataclass
class Player:
    """A bot."""

    bot_id: str
    strength: float
    rating: Rating = field(default_factory=Rating)
    last: float | None = None
    playing: bool = False
    by_format: Counter[int] = field(default_factory=Counter)
    ended: list[float] = field(default_factory=list)
    met: dict[str, float] = field(default_factory=dict)
    phis: list[float] = field(default_factory=list)


@dataclass
class Week:
    """What the bots have done."""

    players: dict[str, Player]
    maps: dict[int, dict[str, float | None]]
    distances: list[int] = field(default_factory=list)
    """Between the places of those that met, at the time."""
    uses: Counter[str] = field(default_factory=Counter)

    def correlation(self) -> float:
        """Return how well the shown ratings put the bots in their order (Spearman)."""
        names = sorted(self.players)
        places = ranks([self.players[name].strength for name in names])
        by_rating = ranks([self.players[name].rating.shown_rating for name in names])
        gaps = sum((one - other) ** 2 for one, other in zip(places, by_rating, strict=True))
        count = len(names)
        return 1 - 6 * gaps / (count * (count**2 - 1))

    def fewest_a_day(self) -> int:
        """Return the matches of the bot and the day that had the fewest."""
        last = max(end for player in self.players.values() for end in player.ended)
        days = [Counter(int(end // DAY) for end in one.ended) for one in self.players.values()]
        return min(day[number] for day in days for number in range(round(last / DAY)))

    def within(self, places: int) -> float:
        """Return the share of those that met who were so near."""
        return sum(gap <= places for gap in self.distances) / len(self.distances)


def ranks(values: Sequence[float]) -> list[int]:
    """Return the place of each value."""
    order = sorted(range(len(values)), key=values.__getitem__)
    return [order.index(number) for number in range(len(values))]


def played_week(bots: int, days: float, *, lasts: float = 240.0, seed: int = 1) -> Week:
    """Let bots play: so many matches that each has about thirteen a day."""
    rng = Random(seed)
    players = {
        f"b_{number:08x}": Player(f"b_{number:08x}", rng.gauss(1500, SPREAD))
        for number in range(bots)
    }
    week = Week(players, {count: dict.fromkeys(ids) for count, ids in MAPS.items()})
    running: deque[tuple[float, Pairing]] = deque()
    pause = DAY * 3.2 / (bots * 13)
    for number in range(int(days * DAY / pause)):
        now = number * pause
        while running and running[0][0] <= now:
            end(week, *running.popleft(), rng)
        pairing = paired(week, now, Random(rng.getrandbits(63)))
        if pairing is not None:
            running.append((now + lasts, pairing))
    return week


def paired(week: Week, now: float, rng: Random) -> Pairing | None:
    """Make the next match, and note who plays it."""
    pool = [
        candidate(player, now)
        for player in week.players.values()
        if eligible(
            now,
            status="ACTIVE",
            healthy_at=now,
            playing=player.playing,
            crash_streak=0,
            last_match_at=player.last,
            rest=60,
        )
    ]
    first = seed_bot(pool)
    if first is None:
        return None
    maps = {players: list(maps_of.items()) for players, maps_of in week.maps.items()}
    pairing = pair(pool, week.players[first.bot_id].met, maps, rng)
    if pairing is not None:
        note(week, pairing, pool, now)
    return pairing


def candidate(player: Player, now: float) -> Candidate:
    lately = sum(end > now - DAY for end in player.ended[-40:])
    return Candidate(
        player.bot_id,
        player.bot_id,
        player.rating.shown_rating,
        player.last,
        lately,
        player.by_format,
    )


def note(week: Week, pairing: Pairing, pool: Sequence[Candidate], now: float) -> None:
    """Note that a match begins."""
    order = sorted(pool, key=lambda one: (-one.shown_rating, one.bot_id))
    place = {one.bot_id: at for at, one in enumerate(order)}
    others = [name for name in pairing.slots if name != pairing.seed_bot]
    week.distances += [abs(place[name] - place[pairing.seed_bot]) for name in others]
    for name in pairing.slots:
        week.players[name].playing = True
    assert pairing.map_id is not None
    week.maps[len(pairing.slots)][pairing.map_id] = now
    week.uses[pairing.map_id] += 1


def end(week: Week, now: float, pairing: Pairing, rng: Random) -> None:
    """Play a match out: the stronger a bot, the more often it is before another."""
    played = [week.players[name] for name in pairing.slots]
    scores = [one.strength / UNIT - log(-log(rng.random())) for one in played]
    after = rate([one.rating for one in played], pair_ranks(scores))
    for player, rating in zip(played, after, strict=True):
        player.rating, player.last, player.playing = rating, now, False
        player.by_format[len(played)] += 1
        player.ended.append(now)
        player.phis.append(rating.phi)
        player.met |= {one.bot_id: now for one in played if one is not player}
