"""A hub with a daily competition of End of Codes, and what is done in it."""

from __future__ import annotations

from sqlalchemy import select

from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.daily import bots, history
from cw_hub.competitions.daily import service as daily_service
from cw_hub.competitions.daily.history import sentence
from cw_hub.competitions.daily.service import GAME
from cw_hub.matches.jobs import Worker
from cw_hub.operation.resources import Resources
from cw_hub.site.formats import FORMATS, MATCH_TYPES
from cw_hub.site.processes import begin_site
from cw_hub.store.models import Match, MatchParticipant, User

ME = Worker("me", 1, MATCH_TYPES)
SMALL = {"M": 2, "MAX_HP": 2, "max_rounds": 12}


class Hub:
    """A hub whose daily competition runs."""

    def __init__(self, resources: Resources, options: dict[str, int] = SMALL) -> None:
        """Begin the competition."""
        self.resources, self.clock = resources, resources.clock
        with resources.database.writing() as session:
            daily_service.begin_site(session)
            self.id = competitions_service.named(session, GAME).id
            competitions_service.set_values(session, self.id, {"options": options})

    def rest_elsewhere(self) -> None:
        """Let the site play nothing but daily games once it is served."""
        begin_site(self.resources)
        with self.resources.database.writing() as session:
            rated = competitions_service.named(session, "rated/code-battle").id
            competitions_service.set_state(session, rated, "paused")

    def tick(self) -> None:
        """Let each format plan."""
        for plan in [format_.plan for format_ in FORMATS]:
            with self.resources.database.writing() as session:
                plan(session)

    def games(self) -> list[Match]:
        """Return all games, the first first."""
        with self.resources.database.reading() as session:
            return list(session.scalars(select(Match).order_by(Match.id)))

    def outcomes(self) -> list[tuple[str, str | None]]:
        """Return the states of all games, and why they ended."""
        return [(game.state, game.reason) for game in self.games()]

    def begin(self) -> str:
        """Plan a game for now; return its name."""
        with self.resources.database.writing() as session:
            return daily_service.begin(session, self.id)

    def play(self) -> Match:
        """Begin a game and play it in this process."""
        self.begin()
        ME.play(self.resources, self.games()[-1].id)
        return self.games()[-1]

    def player(self, name: str, endpoint: str) -> tuple[int, int]:
        """Make a user with a bot; return the ids of both."""
        with self.resources.database.writing() as session:
            user = User(username=name, username_key=name, created_at=self.clock())
            session.add(user)
            session.flush()
            bot = bots.make(session, self.resources.sealer, user.id, name)
            bots.save(session, user.id, endpoint, "urlencoded")
            return user.id, bot.id

    def bot_of(self, user_id: int) -> bots.GraderBot:
        """Return the bot of a user."""
        with self.resources.database.reading() as session:
            bot = bots.find(session, user_id)
        assert bot is not None
        return bot

    def seats(self) -> list[MatchParticipant]:
        """Return the participants of all games, by game and seat."""
        by_game = select(MatchParticipant).order_by(
            MatchParticipant.match_id, MatchParticipant.slot
        )
        with self.resources.database.reading() as session:
            return list(session.scalars(by_game))

    def sentence_for(self, user_id: int) -> str:
        """Return how the bot of a user behaved in its last game."""
        with self.resources.database.reading() as session:
            return sentence(history.behaviours(session, user_id)[0])
