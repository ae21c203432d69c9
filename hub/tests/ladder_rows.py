"""A tournament as rows, to be looked at: made at once, without a round that is played."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import combinations
from typing import Any

from sqlalchemy import insert, select, update

from cw_hub.accounts.tickets import digest_of
from cw_hub.context import Clock
from cw_hub.store.database import Database, Session
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
    Ticket,
)

HEXAGON_3 = {"name": "Hexagon 3", "options": {"size": 3}, "factor": 1}
HEXAGON_5 = {"name": "Hexagon 5", "options": {"size": 5}, "factor": 3}
LETTERS = "ABCDEFGHJKMNPQRS"


@dataclass
class Rows:
    """Makes rows of one tournament."""

    database: Database
    clock: Clock
    slug: str = "t1"
    game: str = "hexagon"
    id: int = 0
    groups: dict[str, int] = field(default_factory=dict)
    teams: dict[str, int] = field(default_factory=dict)
    bots: dict[str, int] = field(default_factory=dict)

    def add(self, row: Any) -> Any:
        """Keep a row; return it with its id."""
        with self.database.writing() as session:
            session.add(row)
            session.flush()
            self.rise(session)
        return row

    def rise(self, session: Session) -> None:
        """Let the tags of all pages of the tournament be others."""
        for table in (Competition, Group):
            session.execute(update(table).values(revision=table.revision + 1))

    def begin(self, **more: Any) -> Rows:
        """Make the tournament."""
        row = Competition(
            slug=self.slug,
            game=self.game,
            format="tournament",
            title="Duel <1>",
            seed=1,
            state="running",
            settings={},
            created_at=self.clock(),
        )
        for name, value in more.items():
            setattr(row, name, value)
        self.id = self.add(row).id
        return self

    def group(self, name: str, *teams: str, kind: str = "public", **more: Any) -> int:
        """Make a group with new teams."""
        group = Group(competition_id=self.id, slug=name.lower(), name=name, kind=kind)
        self.groups[name] = self.add(group).id
        for team in teams:
            self.team(team, name, **more)
        return self.groups[name]

    def team(self, name: str, *groups: str, **more: Any) -> int:
        """Make a team with its bot and its entries."""
        slug = more.pop("slug", name.lower())
        team = Team(competition_id=self.id, slug=slug, name=name, name_key=name.lower(), **more)
        self.teams[name] = self.add(team).id
        for group in groups:
            self.enter(name, group)
        bot = Bot(
            bot_id=f"b_{self.teams[name]:08x}",
            game=self.game,
            team_id=self.teams[name],
            name=slug,
            name_key=slug,
            kind="url",
            endpoint=f"http://127.0.0.1:4{self.teams[name]:03}",
            status="PENDING",
            created_at=self.clock(),
        )
        self.bots[name] = self.add(bot).id
        return self.teams[name]

    def enter(self, team: str, group: str, **more: Any) -> None:
        """Let a team play in a group, too."""
        keys = {"group_id": self.groups[group], "team_id": self.teams[team]}
        self.add(Entry(**keys, joined_at=self.clock(), **more))

    def event(
        self, kind: str, after: float = 0, *, applied: bool | None = None, **more: Any
    ) -> Event:
        """Make an event so many seconds from now; those that are due are applied."""
        at = self.clock() + timedelta(seconds=after)
        done = after <= 0 if applied is None else applied
        row = Event(
            competition_id=self.id,
            kind=kind,
            at=at,
            applied_at=at if done else None,
            **{"title": kind.capitalize(), "text": "", "announced": True, **more},
        )
        event: Event = self.add(row)
        return event

    def round(
        self,
        group: str,
        number: int,
        board: dict[str, Any] | None = None,
        *,
        closed: bool = False,
        positions: dict[str, int] | None = None,
    ) -> int:
        """Make a round."""
        known = positions or {}
        row = Round(
            group_id=self.groups[group],
            number=number,
            board=board or HEXAGON_3,
            seed=number,
            positions={str(self.teams[name]): place for name, place in known.items()},
            opened_at=self.clock(),
            closed_at=self.clock() if closed else None,
        )
        round_id: int = self.add(row).id
        return round_id

    def score(self, round_id: int, scores: dict[str, tuple[float, ...]]) -> None:
        """Write what teams have made of a round: points, total, position; won, drawn, lost."""
        for team, (points, total, position, *record) in scores.items():
            won, drawn, lost = (*record, 0, 0, 0)[:3]
            row = RoundScore(
                round_id=round_id,
                team_id=self.teams[team],
                points=points,
                total=total,
                position=int(position),
                won=int(won),
                drawn=int(drawn),
                lost=int(lost),
                battles_diff=0,
                score_diff=0,
            )
            self.add(row)

    def match(
        self,
        round_id: int,
        teams: Sequence[str],
        battles: Sequence[tuple[str, Sequence[int], Sequence[float]]] = (),
        *,
        state: str = "",
        sequence: int = 0,
        **more: Any,
    ) -> str:
        """Make a match: each battle has a reason, ranks and scores; return its name."""
        with self.database.writing() as session:
            number = len(session.scalars(select(Match.id)).all()) + 1
            row = Match(
                match_id=f"m_{number:08x}",
                competition_id=self.id,
                kind="tournament",
                key=f"{round_id}/{number}",
                game=self.game,
                players=len(teams),
                options={},
                seed=number,
                round_id=round_id,
                sequence=sequence or number,
                state=state or ("done" if battles else "queued"),
                at=self.clock(),
                finished_at=self.clock() if battles else None,
            )
            for name, value in more.items():
                setattr(row, name, value)
            session.add(row)
            session.flush()
            for slot, team in enumerate(teams):
                seat = {"match_id": row.id, "slot": slot, "bot_id": self.bots[team]}
                session.add(MatchParticipant(**seat, name=team.lower()))
            for one, (reason, ranks, scores) in enumerate(battles, 1):
                session.add(self.battle(row.id, one, reason, ranks, scores))
            self.rise(session)
            return row.match_id

    def battle(
        self, match: int, number: int, reason: str, ranks: Sequence[int], scores: Sequence[float]
    ) -> Battle:
        """Return the row of a battle; the first slot begins the first, the second the second."""
        return Battle(
            match_id=match,
            number=number,
            options={},
            first_slot=number - 1,
            reason=reason,
            ranks=list(ranks),
            scores=list(scores),
            turns=3,
            replay_key=None,
            started_at=self.clock(),
            ended_at=self.clock(),
        )

    def set_faults(self, match_id: str, slot: int, faults: list[dict[str, Any]]) -> None:
        """Write the faults of a participant."""
        with self.database.writing() as session:
            match = session.scalars(select(Match.id).where(Match.match_id == match_id)).one()
            its = (MatchParticipant.match_id == match, MatchParticipant.slot == slot)
            session.execute(update(MatchParticipant).where(*its).values(faults=faults))
            self.rise(session)

    def fill(self, session: Session, teams: int, rounds: int) -> None:
        """Make a group GRODNO of many teams and closed rounds, the last with all its matches."""
        now, board = self.clock(), HEXAGON_5
        session.add(
            Group(id=1, competition_id=self.id, slug="grodno", name="GRODNO", kind="public")
        )
        session.flush()
        numbers = range(1, teams + 1)
        for number in numbers:
            name = f"team{number}"
            values = {"id": number, "competition_id": self.id, "slug": name}
            session.add(Team(**values, name=name.upper(), name_key=name))
        session.flush()
        for number in numbers:
            session.add(Entry(group_id=1, team_id=number, joined_at=now))
            bot = {"id": number, "bot_id": f"b_{number:08x}", "game": self.game, "kind": "url"}
            named = {"name": f"team{number}", "name_key": f"team{number}", "endpoint": ""}
            session.add(Bot(**bot, **named, team_id=number, status="PENDING", created_at=now))
        positions = {str(number): number for number in numbers}
        for number in range(1, rounds + 1):
            row = {"id": number, "group_id": 1, "number": number, "board": board, "seed": 1}
            moments = {"opened_at": now, "closed_at": now if number < rounds else None}
            session.add(Round(**row, **moments, positions=positions))
        session.flush()
        session.execute(
            insert(RoundScore),
            [
                {
                    "round_id": number,
                    "team_id": team,
                    "points": team,
                    "won": 1,
                    "drawn": 2,
                    "lost": 3,
                    "battles_diff": 0,
                    "score_diff": 0,
                    "total": team * number,
                    "position": teams + 1 - team,
                }
                for number in range(1, rounds)
                for team in numbers
            ],
        )
        self.fill_matches(session, list(combinations(numbers, 2)), rounds)

    def fill_matches(self, session: Session, pairs: list[tuple[int, int]], round_id: int) -> None:
        """Make the matches of a round: each pair has played twice."""
        now = self.clock()
        common = {"competition_id": self.id, "kind": "tournament", "game": self.game, "players": 2}
        session.execute(
            insert(Match),
            [
                {
                    **common,
                    "id": number,
                    "match_id": f"m_{number:08x}",
                    "key": f"{round_id}/{number}",
                    "seed": 1,
                    "options": {},
                    "round_id": round_id,
                    "sequence": number,
                    "state": "done",
                    "at": now,
                }
                for number, _ in enumerate(pairs, 1)
            ],
        )
        session.execute(
            insert(MatchParticipant),
            [
                {"match_id": number, "slot": slot, "bot_id": team, "name": "x"}
                for number, pair in enumerate(pairs, 1)
                for slot, team in enumerate(pair)
            ],
        )
        for number, _ in enumerate(pairs, 1):
            session.add(self.battle(number, 1, "finished", (1, 2), (30, 20)))
            session.add(self.battle(number, 2, "finished", (2, 1), (20, 30)))

    def card(self, team: str | None, letters: str = LETTERS, days: float = 180) -> str:
        """Make a card, of the host for None; return its token."""
        self.add(
            Ticket(
                digest=digest_of(letters),
                kind="card" if team else "host_card",
                competition_id=self.id,
                team_id=self.teams[team] if team else None,
                created_at=self.clock(),
                expires_at=self.clock() + timedelta(days=days),
            )
        )
        return letters


def duel(database: Database, clock: Clock, *, begun: bool = True) -> Rows:
    """Return a tournament of two sandboxes, with a final one."""
    rows = Rows(database, clock).begin()
    rows.group("GRODNO", "Alpha", "Beta", "Gamma")
    rows.group("MINSK", "Delta", "Eta")
    rows.group("FINAL", kind="final")
    if begun:
        rows.event("start", -60, title="The duel begins")
    return rows


def all_pairs(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return each two of these."""
    return list(combinations(names, 2))
