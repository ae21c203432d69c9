"""A tournament on a site, and those who take part in it: its host, and teams with their bots."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from cw_hub.competitions.tournament import teams as tournament_teams
from cw_hub.competitions.tournament.service import TournamentConfig, create
from cw_hub.competitions.tournament.teams import printed
from cw_hub.matches.jobs import Worker
from cw_hub.matches.planning import PLAY, send_own
from cw_hub.pages.polls import Tags
from cw_hub.site.formats import FORMATS, MATCH_TYPES
from cw_hub.site.processes import jobs_of
from hub.tests.pages.test_polls import Seconds
from hub.tests.sites import Site, Visitor, words_of

JOBS = jobs_of(Worker("me", 1, MATCH_TYPES))
HOST = "/t/t1/host"
LADDER = "/t/t1/grodno/"
MY_TEAM = "/t/t1/my-team"


@dataclass
class Evening:
    """A tournament `t1` on a site; its host and its teams have joined."""

    site: Site
    config: TournamentConfig
    host: Visitor = field(init=False)
    teams: dict[str, Visitor] = field(default_factory=dict)
    ids: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Make it as the command does; its host and the teams join by their tokens."""
        self.site.app.extensions["tags"] = Tags(Seconds())
        with self.site.resources.database.writing() as session:
            tournament = create(session, self.config)
            token = tournament_teams.issue_to_host(session, tournament.id)
            cards = tournament_teams.issue(session, tournament.id, tournament.teams)
        self.host = self.joined(printed(token))
        self.teams = {card.team: self.joined(printed(card.token).lower()) for card in cards}
        self.ids = {card.team: card.team_id for card in cards}

    def joined(self, token: str) -> Visitor:
        visitor = self.site.visitor()
        assert visitor.fill("/t/t1/join", on=LADDER, token=token, group="grodno").status_code == 303
        return visitor

    def saves(self, team: str, address: str) -> None:
        """Let a team say where its bot is; it is checked at once."""
        answer = self.teams[team].fill(f"{MY_TEAM}/bot", on=MY_TEAM, endpoint=address)
        assert answer.status_code == 303
        self.do_jobs()

    def uploads(self, team: str, name: str, data: bytes) -> None:
        """Let a team upload a program; it is not checked."""
        visitor = self.teams[team]
        form = {"csrf_token": visitor.token(MY_TEAM)}
        answer = visitor.send_form(f"{MY_TEAM}/upload", form, files={"program": (name, data)})
        assert answer.status_code == 303
        self.site.queue.jobs.clear()

    def does(self, verb: str, **values: str) -> None:
        """Let the host fill in a form."""
        assert self.host.fill(f"{HOST}/{verb}", on=HOST, **values).status_code == 303

    def do_jobs(self, most: int | None = None) -> int:
        """Send what may be played, and do what waits in the queue; return how many were played."""
        played = 0
        send_own(self.site.resources, MATCH_TYPES.sendings)
        while self.site.queue.jobs and played != most:
            job, arguments, _ = self.site.queue.jobs.pop(0)
            JOBS[job](self.site.resources, *arguments)
            played += job == PLAY
            send_own(self.site.resources, MATCH_TYPES.sendings)
        return played

    def later(self) -> None:
        """Let a minute go by, and what is due then happen."""
        self.site.clock.advance(60)
        with self.site.resources.database.writing() as session:
            for plan in [format_.plan for format_ in FORMATS]:
                plan(session)

    def payload(self, path: str) -> Any:
        """Return what scripts are told now."""
        self.site.app.extensions["tags"] = Tags(Seconds())
        return self.site.visitor().open(path).json()

    def points(self, group: str = "grodno") -> dict[str, int]:
        entries = self.payload(f"/t/t1/{group}/ladder.json")["entries"]
        return {one["team"]: one["points"] for one in entries}

    def words(self, path: str) -> str:
        return words_of(self.site.visitor().open(path))

    def text(self, path: str) -> str:
        return self.site.visitor().open(path).text
