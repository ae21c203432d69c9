"""Tournaments of teams to try, with built-in bots; and their ladders by the replays alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import Any, TypeVar

from sqlalchemy import select, update

from cw.games.registry import load_game
from cw.league.ladder import (
    BoardSpec,
    GameResult,
    PlayedMatch,
    Scoring,
    crosstable,
    positions,
    summed,
)
from cw.replays.document import decode
from cw.replays.verify import verify
from cw_hub.competitions.tournament import progress, views
from cw_hub.competitions.tournament.actions import ACTIONS, perform
from cw_hub.matches.jobs import Worker
from cw_hub.matches.planning import PLAY, send_own
from cw_hub.matches.stored_replays import viewed_key
from cw_hub.operation.resources import Resources
from cw_hub.site.formats import MATCH_TYPES
from cw_hub.site.processes import jobs_of
from cw_hub.store.database import Session
from cw_hub.store.models import (
    Battle,
    Bot,
    Competition,
    Entry,
    Event,
    Group,
    Match,
    MatchParticipant,
    Round,
    RoundScore,
    Team,
)
from cw_hub.store.objects import file_at

T = TypeVar("T")

SMALL = [{"name": "Hexagon 3", "options": {"size": 3}, "factor": 1}]
WORKER = Worker("me", 1, MATCH_TYPES)
PLAY_JOB = jobs_of(WORKER)[PLAY]
"""What a message of a match does: it is played, and then those that waited for its end are sent."""


def kind_of(bot: str) -> str:
    """Return the kind of a bot by what it is in a test: the name of a strategy, or an address."""
    return "url" if not bot or bot.startswith("http") else "builtin"


class Messages:
    """A queue whose messages a test takes itself."""

    def __init__(self) -> None:
        self.matches: list[int] = []

    def send(self, job: str, *arguments: int | str, queue: str = "jobs", after: float = 0) -> bool:
        if job == PLAY:
            self.matches += map(int, arguments)
        return True

    def is_there(self) -> bool:
        return True


class Tournament:
    """A tournament; its teams have built-in bots, web services, or none where that is ""."""

    def __init__(
        self,
        resources: Resources,
        groups: Mapping[str, Mapping[str, str]],
        settings: Mapping[str, Any] | None = None,
        game: str = "hexagon",
    ) -> None:
        self.queue = Messages()
        self.resources, self.clock = replace(resources, queue=self.queue), resources.clock
        self.groups: dict[str, int] = {}
        self.teams: dict[str, int] = {}
        boards = {"boards": SMALL} if game == "hexagon" else {}
        with resources.database.writing() as session:
            row = Competition(
                slug="duel",
                game=game,
                format="tournament",
                title="Duel",
                settings={**boards, **(settings or {})},
                seed=7,
                created_at=self.clock(),
            )
            session.add(row)
            session.flush()
            self.id = row.id
            for name, teams in groups.items():
                kinds = {"final": "final", "internal": "internal"}
                kind = kinds.get(name, "public")
                about = {"slug": name, "name": name.upper(), "kind": kind}
                group = Group(competition_id=self.id, **about)
                session.add(group)
                session.flush()
                self.groups[name] = group.id
                for team, bot in teams.items():
                    self.add_team(session, name, team, bot)

    def do(self, verb: Callable[[Session], T]) -> T:
        with self.resources.database.writing() as session:
            return verb(session)

    def add_team(self, session: Session, group: str, name: str, bot: str) -> None:
        game = session.scalars(select(Competition.game).where(Competition.id == self.id)).one()
        outside = name.startswith("ours")
        about = {"slug": name, "name": name.title(), "name_key": name}
        team = Team(competition_id=self.id, out_of_competition=outside, **about)
        session.add(team)
        session.flush()
        self.teams[name] = team.id
        self.enter(session, group, name)
        session.add(
            Bot(
                bot_id=f"b_{team.id:08x}",
                game=game,
                team_id=team.id,
                name=name,
                name_key=name,
                kind=kind_of(bot),
                endpoint=bot,
                created_at=self.clock(),
            )
        )

    def enter(self, session: Session, group: str, name: str) -> None:
        where = {"group_id": self.groups[group], "team_id": self.teams[name]}
        session.add(Entry(**where, joined_at=self.clock()))

    def happens(self, kind: str, group: str | None = None, **data: Any) -> None:
        """Let an event be due now, and advance."""
        of_group = None if group is None else self.groups[group]
        about = {"kind": kind, "title": kind, "text": "", "data": data}
        event = Event(competition_id=self.id, group_id=of_group, at=self.clock(), **about)
        self.do(lambda session: session.add(event))
        self.advance()

    def advance(self) -> int:
        return self.do(lambda session: progress.advance(session, self.id))

    def act(self, name: str, **arguments: Any) -> Any:
        """Do something as its host does on pages and by commands."""
        action = ACTIONS[name]
        return self.do(lambda session: perform(session, self.id, action, arguments))

    def send(self) -> list[int]:
        """Send what may be played now; return it in its order."""
        send_own(self.resources, MATCH_TYPES.sendings)
        messages, self.queue.matches = self.queue.matches, []
        return messages

    def play(self, most: int | None = None) -> int:
        """Play what is sent, until nothing more is or so many matches are over."""
        send_own(self.resources, MATCH_TYPES.sendings)
        played = 0
        while self.queue.matches and played != most:
            PLAY_JOB(self.resources, self.queue.matches.pop(0))
            played += 1
        return played

    def play_at_once(self, number: int) -> int:
        """Play what is sent, so many matches at a time, until nothing more is."""
        send_own(self.resources, MATCH_TYPES.sendings)
        played, playing = 0, set[Future[object]]()
        with ThreadPoolExecutor(number) as threads:
            while self.queue.matches or playing:
                while self.queue.matches:
                    match = self.queue.matches.pop(0)
                    playing.add(threads.submit(PLAY_JOB, self.resources, match))
                done, playing = wait(playing, return_when=FIRST_COMPLETED)
                for one in done:
                    one.result()
                    played += 1
        return played

    def matches(self, number: int | None = None) -> list[Match]:
        """Return the matches, or those of the rounds of one number."""
        query = select(Match).join(Round, Round.id == Match.round_id).order_by(Match.id)
        query = query if number is None else query.where(Round.number == number)
        return self.read(query)

    def rounds(self, group: str) -> list[Round]:
        query = select(Round).where(Round.group_id == self.groups[group])
        return self.read(query.order_by(Round.number))

    def read(self, query: Any) -> list[Any]:
        with self.resources.database.reading() as session:
            return list(session.scalars(query))

    def seats(self, match: Match) -> list[MatchParticipant]:
        where = MatchParticipant.match_id == match.id
        return self.read(select(MatchParticipant).where(where).order_by(MatchParticipant.slot))

    def phase(self, group: str) -> str:
        phases = self.do(lambda session: views.phases_of(session, "duel"))
        return phases[self.groups[group]]

    def state(self) -> str:
        (row,) = self.read(select(Competition).where(Competition.id == self.id))
        return str(row.state)

    def totals(self, group: str) -> dict[str, int]:
        """Return the points of the teams of a group after its last closed round."""
        closed = [one for one in self.rounds(group) if one.closed_at is not None]
        if not closed:
            return {}
        query = select(Team.slug, RoundScore.total).join(RoundScore, RoundScore.team_id == Team.id)
        with self.resources.database.reading() as session:
            rows = session.execute(query.where(RoundScore.round_id == closed[-1].id))
            return {slug: int(total) for slug, total in rows}

    def set_bot(self, name: str, bot: str) -> None:
        change = update(Bot).where(Bot.team_id == self.teams[name])
        self.do(lambda session: session.execute(change.values(kind=kind_of(bot), endpoint=bot)))

    def entries(self, group: str) -> dict[str, str]:
        query = select(Team.slug, Entry.status).join(Entry, Entry.team_id == Team.id)
        with self.resources.database.reading() as session:
            rows = session.execute(query.where(Entry.group_id == self.groups[group]))
            return dict(list(rows))


def totals_by_replays(
    tournament: Tournament, group: str, points: Mapping[str, int]
) -> dict[str, int]:
    """Return the points of a group's teams by the replays of its closed rounds, and nothing else.

    Positions are those that follow from the rounds before; who is out of competition is named so.
    """
    names = {number: name for name, number in tournament.teams.items()}
    totals = dict.fromkeys(tournament.entries(group), 0)
    for one in tournament.rounds(group):
        if one.closed_at is None:
            continue
        competing = [name for name in totals if not name.startswith("ours")]
        places = positions(totals, competing)
        assert {int(team): places[names[int(team)]] for team in one.positions} == {
            int(team): place for team, place in one.positions.items()
        }
        board = BoardSpec.from_json(one.board)
        played = [replayed(tournament, match, board) for match in tournament.matches(one.number)
                  if match.round_id == one.id and match.state == "done"]  # fmt: skip
        table = summed(crosstable(played, places, Scoring(points, board.factor)))
        for name, own in table.items():
            totals[name] += own.points
    return totals


def replayed(tournament: Tournament, match: Match, board: BoardSpec) -> PlayedMatch[str]:
    """Return a match as its replays tell it: they are proven, and of the same board."""
    seats = [seat.name for seat in tournament.seats(match)]
    battles, starts = [], []
    rows: Iterable[Battle] = tournament.read(
        select(Battle).where(Battle.match_id == match.id).order_by(Battle.number)
    )
    for row in rows:
        data = file_at(tournament.resources.objects, viewed_key(match.game, row.replay_key or ""))
        assert data is not None
        document = decode(data)
        assert verify(load_game(match.game), document) is None
        assert document["options"]["size"] == board.options["size"]
        starts.append(document["start"]["cells"])
        players = {one["player"]: one["name"] for one in document["players"]}
        assert players[1] == seats[row.first_slot]
        ranks = {
            players[int(one)]: rank for one, rank in document["result"]["outcome"]["ranks"].items()
        }
        scores = {
            players[int(one)]: score
            for one, score in document["result"]["outcome"]["scores"].items()
        }
        battles.append(
            GameResult([ranks[name] for name in seats], [scores[name] for name in seats])
        )
    assert len(battles) == 2
    assert starts[0] == starts[1]
    return PlayedMatch(tuple(seats), tuple(battles))


def in_threads(number: int, do: Callable[[], T]) -> Sequence[T]:
    """Do something at once in so many threads; return what came of it."""
    with ThreadPoolExecutor(number) as threads:
        return list(threads.map(lambda _: do(), range(number)))
