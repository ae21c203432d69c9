"""The Format class: everything that the hub knows about a type of competition.

A site is composed of its formats (`hub/cw_hub/site/formats.py`); hub/docs/add-a-format.md builds a
small one step by step.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from markupsafe import Markup

from cw.errors import UsageError
from cw_hub.accounts.actor import actor
from cw_hub.api import BotStanding, Operation
from cw_hub.bots import health
from cw_hub.bots.health import BotHosting
from cw_hub.bots.service import BotView, Competing
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.forms import SettingField, show_all
from cw_hub.competitions.service import CompetitionFacts, Dates
from cw_hub.matches import friendly_pages
from cw_hub.matches.match_types import NOTHING, MatchType, MatchTypes
from cw_hub.operation.queue import Job
from cw_hub.operation.scheduler import Chore
from cw_hub.pages.layout import Application, Family
from cw_hub.store.database import Session
from cw_hub.store.models import Bot, CompetitionState


def is_shown(competition: CompetitionFacts) -> bool:
    """Return whether the current user may see a competition; drafts are for admins only."""
    return competition.state != "draft" or actor().is_admin


MOST_NEWS: Final = 30
"""Maximum number of news items, per format and in total."""


@dataclass(frozen=True, slots=True)
class NewsItem:
    """A public news item."""

    id: str
    """A permanent and unique id in the form of a path, such as `match/m_1f2e3d4c`."""
    at: datetime
    title: str
    text: str
    address: str
    """The URL of the item's page on this site."""


@dataclass(frozen=True, slots=True)
class Leader:
    """A leader of a competition: the holder of one of its top ranks."""

    rank: int
    name: str
    owner: str | None
    """The username; None for deleted users and for teams."""
    picture: str | None
    """The SHA-256 of the owner's avatar."""
    figure: str
    """The reason for the rank as a short text, such as a rating."""


@dataclass(frozen=True, slots=True)
class BotPart:
    """A format's contribution to a bot's page."""

    sentence: Markup = NOTHING
    """A message to the owner about how the bot takes part; empty if it does not."""
    head: Markup = NOTHING
    """Content of the page's head, such as scripts."""
    top: Markup = NOTHING
    """Shown above the owner's section."""
    bottom: Markup = NOTHING
    """Shown below the owner's section."""


NO_BOT_PART: Final = BotPart()

Settings: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class NewCompetition:
    """The data of a form that creates a competition."""

    game: str
    title: str
    slug: str
    settings: Settings
    description: str = ""
    """Markdown."""


class Format(MatchType):
    """A type of competition: a subclass overrides what it does in its own way.

    `name`, in commands, URLs and rows, is also the type of its matches.
    """

    # Creating and running competitions

    takes_bots: bool = False
    """Whether users' bots take part, and so may be registered for its games."""
    about: str = ""
    """A sentence about the format, shown when creating a competition.

    Empty for a format whose competitions are not created on a page.
    """
    fields: Sequence[SettingField] = ()
    """Its settings as form fields."""
    has_events: bool = False
    """Whether its competitions have their own events, including start and end.

    The format then applies these events itself.
    """
    has_maps: bool = False
    """Whether it uses the maps that come with a game, which a new site stores."""

    def plan(self, session: Session, /) -> object:
        """Create the rows of due matches, in one transaction of a tick.

        Idempotent, also if called late or concurrently.
        """
        raise NotImplementedError

    def begin(self, session: Session, settings: Settings, /) -> None:
        """Create what this format needs on a new site, from settings. Idempotent."""

    def create(self, session: Session, wanted: NewCompetition, /) -> CompetitionFacts:
        """Create a draft competition with its settings; raise UsageError if they are invalid."""
        facts = competitions_service.new(
            session,
            self.name,
            wanted.game,
            slug=wanted.slug,
            title=wanted.title,
            description=wanted.description,
        )
        if wanted.settings:
            self.change(session, facts, wanted.settings)
        return facts

    def change(self, session: Session, facts: CompetitionFacts, values: Settings, /) -> None:
        """Check and save a competition's settings; raise UsageError if they are invalid."""
        raise UsageError(
            f"{facts.format}/{facts.slug} has no settings, not even {', '.join(values)}"
        )

    def steer(self, session: Session, facts: CompetitionFacts, state: CompetitionState, /) -> None:
        """Set a competition's state; raise UsageError if that is impossible."""
        competitions_service.set_state(session, facts.id, state)

    def schedule(self, session: Session, facts: CompetitionFacts, dates: Dates, /) -> None:
        """Set when a competition starts and ends automatically."""
        competitions_service.set_dates(session, facts, dates)

    def texts(self, session: Session, facts: CompetitionFacts, /) -> dict[str, str]:
        """Return the form field values of a competition's settings, to copy it."""
        return show_all(self.fields, facts.settings)

    def host_page(self, facts: CompetitionFacts, /) -> str | None:
        """Return the URL of a competition's host page; None for the common page."""
        return None

    def hosts_page(self, slug: str, /) -> str | None:
        """Return the URL for adding and removing hosts, by slug; None if there are no hosts."""
        return None

    def verify(self, session: Session, tolerance: float, /) -> Iterable[str]:
        """Yield each difference above a tolerance between stored results and the matches.

        Called after a backup was restored.
        """
        return ()

    # Users' bots

    def enter(self, session: Session, bot: int, /) -> None:
        """Enter a user's new bot, by the id of its row, in the competitions of its game."""

    def hosting_of(self, session: Session, bot: Bot, /) -> BotHosting | None:
        """Return how to run a bot's program, or None for a bot outside this format."""
        return None

    def bot_part(self, session: Session, bot: BotView, is_public: bool, /) -> BotPart:
        """Return a part of a bot's page, for the public or for its owner and admins."""
        return NO_BOT_PART

    def bot_standing(self, session: Session, bot: BotView, /) -> BotStanding | None:
        """Return a bot's standing for the API; None if it does not take part."""
        return None

    def bot_ratings(self, session: Session, user_id: int, /) -> Mapping[int, float]:
        """Return the ratings of a user's bots, by row id."""
        return {}

    # What the home page shows in addition to running matches

    idle: str = ""
    """Text shown between two matches; "": show the time of the next one."""

    def address(self, facts: CompetitionFacts, /) -> str | None:
        """Return the URL of a competition's page; None for the page of its game."""
        return None

    def leaders(self, session: Session, competition: int, /) -> Sequence[Leader]:
        """Return the leaders of a competition, by its id."""
        return ()

    def next_at(self, session: Session, facts: CompetitionFacts, /) -> datetime | None:
        """Return when the next match is due if none is planned yet, or None if unknown."""
        return None

    def ended_at(self, session: Session, competition: int, /) -> datetime | None:
        """Return when a competition ended, by its id; its winners stay visible for a while.

        None if it has not ended, or is not shown after its end.
        """
        return None

    def news(self, session: Session, /) -> Iterable[NewsItem]:
        """Return recent news for the site's feed, at most MOST_NEWS."""
        return ()

    # A user's profile and Settings page

    def profile_part(self, session: Session, user_id: int, username: str, /) -> Markup:
        """Return a part of a user's profile."""
        return NOTHING

    def profile_line(self, session: Session, user_id: int, /) -> tuple[str, str] | None:
        """Return the label and value of a statistic at the top of a profile, or None."""
        return None

    def profile_head(self) -> Markup:
        """Return content for the head of a profile, such as scripts."""
        return NOTHING

    def settings_part(self, session: Session, user_id: int, /) -> Markup:
        """Return a part of the Settings page."""
        return NOTHING

    # Pages, API and jobs

    pages: Sequence[Family] = ()
    api: Sequence[Operation] = ()
    """Its API routes."""
    jobs: Mapping[str, Job] = MappingProxyType({})
    """Handlers of its queue messages by name, in addition to those of matches."""
    chores: Mapping[str, Chore] = MappingProxyType({})
    """Daily clean-up tasks, by what they delete."""

    def install(self, app: Application, /) -> None:
        """Prepare an app for its pages."""


def latest_news(session: Session, formats: Sequence[Format]) -> list[NewsItem]:
    """Return the latest items of all formats, latest first, at most MOST_NEWS."""
    items = (item for format_ in formats for item in format_.news(session))
    return sorted(items, key=lambda item: item.at, reverse=True)[:MOST_NEWS]


def match_types(formats: Sequence[Format]) -> MatchTypes:
    """Return the types of the formats' matches, and of practice, challenges and comparisons."""
    return MatchTypes((*friendly_pages.MATCH_TYPES, *formats))


def format_named(formats: Sequence[Format], name: str) -> Format | None:
    """Return a format by name, or None."""
    return next((format_ for format_ in formats if format_.name == name), None)


def competing(formats: Sequence[Format]) -> Competing:
    """Return the hooks through which users' bots compete in the given formats."""
    names = [format_.name for format_ in formats if format_.takes_bots]

    def enter(session: Session, bot: int) -> None:
        for format_ in formats:
            format_.enter(session, bot)

    def ratings(session: Session, user_id: int) -> Mapping[int, float]:
        return ChainMap(*(dict(format_.bot_ratings(session, user_id)) for format_ in formats))

    return Competing(partial(competitions_service.games_played, formats=names), enter, ratings)


def hosting_by(formats: Sequence[Format]) -> health.HostingOf:
    """Return a function that looks up how a bot's program runs: by its format, or sandboxed."""

    def hosting_of(session: Session, bot: Bot) -> BotHosting:
        answers = (format_.hosting_of(session, bot) for format_ in formats)
        own = next((answer for answer in answers if answer is not None), None)
        return own or health.always_sandboxed(session, bot)

    return hosting_of


def standing_in(formats: Sequence[Format], session: Session, bot: BotView) -> BotStanding | None:
    """Return a bot's standing in the first format that has one, or None."""
    standings = (format_.bot_standing(session, bot) for format_ in formats)
    return next((standing for standing in standings if standing is not None), None)
