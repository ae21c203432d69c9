"""The Format class: everything that the hub knows about a type of competition.

A site is composed of its formats (`hub/cw_hub/site/formats.py`). Fields that a format does not need
keep their defaults; hub/docs/add-a-format.md builds a small format step by step.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
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
from cw_hub.matches.challenge_pages import CHALLENGE
from cw_hub.matches.challenges import PRACTICE
from cw_hub.matches.comparisons import COMPARISON
from cw_hub.matches.match_types import NOTHING, Kind, Kinds
from cw_hub.operation.maintenance import Chore
from cw_hub.operation.queue import Job
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


News: TypeAlias = Callable[[Session], Iterable[NewsItem]]
"""Returns the latest items of a format, at most MOST_NEWS."""


def latest(session: Session, sources: Sequence[News]) -> list[NewsItem]:
    """Return the latest items of all sources, latest first, at most MOST_NEWS."""
    items = (item for source in sources for item in source(session))
    return sorted(items, key=lambda item: item.at, reverse=True)[:MOST_NEWS]


Planning: TypeAlias = Callable[[Session], object]
"""Creates the rows of due matches, in one transaction of a tick.

Idempotent, also if called late or concurrently.
"""

Settings: TypeAlias = Mapping[str, Any]

Changing: TypeAlias = Callable[[Session, CompetitionFacts, Settings, str], object]
"""Checks and saves a competition's settings for an actor; raises UsageError if invalid."""

Steering: TypeAlias = Callable[[Session, CompetitionFacts, CompetitionState, str], object]
"""Sets a competition's state for an actor; raises UsageError if that is impossible."""

Scheduling: TypeAlias = Callable[[Session, CompetitionFacts, Dates, str], object]
"""Sets when a competition starts and ends automatically, for an actor."""

Creating: TypeAlias = Callable[[Session, "Format", "NewCompetition", str], CompetitionFacts]
"""Creates a competition from a form; raises UsageError if it is invalid."""

Showing: TypeAlias = Callable[[Session, "Format", CompetitionFacts], dict[str, str]]
"""Returns the field values of a form that copies a competition."""

Verifying: TypeAlias = Callable[[Session, float], Iterable[str]]
"""Yields each difference above a tolerance between stored results and the matches."""

Entering: TypeAlias = Callable[[Session, int], object]
"""Enters a user's new bot, by the id of its row, in the competitions of its game."""

HostingOf: TypeAlias = Callable[[Session, Bot], BotHosting | None]
"""Returns how to run a bot's program, or None for a bot outside this format."""

Beginning: TypeAlias = Callable[[Session, Settings], object]
"""Creates what this format needs on a new site, from settings. Idempotent."""


@dataclass(frozen=True, slots=True)
class Place:
    """A leader of a competition: the holder of one of its top ranks."""

    rank: int
    name: str
    owner: str | None
    """The username; None for deleted users and for teams."""
    picture: str | None
    """The SHA-256 of the owner's avatar."""
    figure: str
    """The reason for the rank as a short text, such as a rating."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HomeCard:
    """What the home page shows of a competition, in addition to its running matches."""

    address: Callable[[CompetitionFacts], str] | None = None
    """Returns the URL of its page; None: use the page of its game."""
    leaders: Callable[[Session, int], Sequence[Place]] = lambda _session, _id: ()
    """Returns its leaders, by the competition's id."""
    next_at: Callable[[Session, CompetitionFacts], datetime | None] | None = None
    """Returns when its next match is due, if no match is planned yet."""
    ended_at: Callable[[Session, int], datetime | None] | None = None
    """Returns when it ended, by the competition's id; its winners stay visible for a while."""
    idle: str = ""
    """Text shown between two matches; "": show the time of the next one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileCard:
    """A format's contribution to a user's profile."""

    part: Callable[[Session, int, str], Markup]
    """Returns a part of the page, given the user's id and name."""
    line: Callable[[Session, int], tuple[str, str]] | None = None
    """Returns the label and value of a statistic at the top of the page and on the small card."""
    head: Callable[[], Markup] = Markup
    """Returns content for the page's head, such as scripts."""
    settings: Callable[[Session, int], Markup] | None = None
    """Returns a part of the Settings page, given the user's id."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class BotCard:
    """A format's contributions to pages and API responses about bots."""

    part: Callable[[Session, BotView, bool], BotPart]
    """Returns a part of a bot's page, for the public or for its owner and admins."""
    standing: Callable[[Session, BotView], BotStanding | None] = lambda _session, _bot: None
    """Returns a bot's standing for the API; None if it does not take part."""
    ratings: Callable[[Session, int], Mapping[int, float]] = lambda _session, _user: {}
    """Returns the ratings of a user's bots, by row id."""


def change(_session: Session, facts: CompetitionFacts, values: Settings, _actor: str) -> None:
    """Reject all settings: the format has none."""
    raise UsageError(f"{facts.format}/{facts.slug} has no settings, not even {', '.join(values)}")


@dataclass(frozen=True, slots=True)
class NewCompetition:
    """The data of a form that creates a competition."""

    game: str
    title: str
    slug: str
    settings: Settings
    description: str = ""
    """Markdown."""


def create(
    session: Session, format_: Format, wanted: NewCompetition, actor: str
) -> CompetitionFacts:
    """Create a draft competition with its settings; raise UsageError if they are invalid."""
    facts = competitions_service.new(
        session,
        format_.name,
        wanted.game,
        slug=wanted.slug,
        title=wanted.title,
        description=wanted.description,
        actor=actor,
    )
    if wanted.settings:
        format_.change(session, facts, wanted.settings, actor)
    return facts


def texts(_session: Session, format_: Format, facts: CompetitionFacts) -> dict[str, str]:
    """Return a competition's settings as form field values."""
    return show_all(format_.fields, facts.settings)


def steer(
    session: Session,
    facts: CompetitionFacts,
    state: CompetitionState,
    actor: str,
) -> None:
    """Set a competition's state."""
    competitions_service.set_state(session, facts.id, state, actor)


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A type of competition, with its hooks into matches, pages, the API and jobs."""

    kind: Kind
    """The traits of its matches (claim, seats, results, display); its name is the format's."""
    plan: Planning
    takes_bots: bool = False
    """Whether users' bots take part, and so may be registered for its games."""
    change: Changing = change
    steer: Steering = steer
    begin: Beginning | None = None
    about: str = ""
    """A sentence about the format, shown when creating a competition.

    Empty for a format whose competitions are not created on a page.
    """
    fields: Sequence[SettingField] = ()
    """Its settings as form fields."""
    create: Creating = create
    texts: Showing = texts
    schedule: Scheduling = competitions_service.set_dates
    has_events: bool = False
    """Whether its competitions have their own events, including start and end.

    The format then applies these events itself.
    """
    led_at: Callable[[CompetitionFacts], str] | None = None
    """Returns the URL of a competition's host page; None: use the common page."""
    hosts_at: Callable[[str], str] | None = None
    """Returns the URL for adding and removing hosts, by slug; None: no hosts."""
    enter: Entering | None = None
    verify: Verifying | None = None
    """Verifies stored results after a backup was restored."""
    has_maps: bool = False
    """Whether it uses the maps that come with a game, which a new site stores."""
    hosting_of: HostingOf | None = None
    """Returns how its bots' programs run."""
    home: HomeCard = HomeCard()
    bot: BotCard | None = None
    profile: ProfileCard | None = None
    news: News | None = None
    """Returns recent news for the site's feed."""
    pages: Sequence[Family] = ()
    api: Sequence[Operation] = ()
    """Its API routes."""
    install: Callable[[Application], object] | None = None
    """Prepares an app for its pages."""
    jobs: Mapping[str, Job] = field(default_factory=dict)
    """Handlers of its queue messages by name, in addition to those of matches."""
    chores: Mapping[str, Chore] = field(default_factory=dict)
    """Daily clean-up tasks, by what they delete."""

    @property
    def name(self) -> str:
        """Its name in commands, URLs and rows."""
        return self.kind.name


def kinds_of(formats: Sequence[Format]) -> Kinds:
    """Return the match kinds of the given formats, and of practice, challenges and comparisons."""
    return Kinds((PRACTICE, CHALLENGE, COMPARISON, *(format_.kind for format_ in formats)))


def format_named(formats: Sequence[Format], name: str) -> Format | None:
    """Return a format by name, or None."""
    return next((format_ for format_ in formats if format_.name == name), None)


def competing(formats: Sequence[Format]) -> Competing:
    """Return the hooks through which users' bots compete in the given formats."""
    names = [format_.name for format_ in formats if format_.takes_bots]
    entries = [format_.enter for format_ in formats if format_.enter is not None]
    cards = [format_.bot for format_ in formats if format_.bot is not None]

    def enter(session: Session, bot: int) -> None:
        for entry in entries:
            entry(session, bot)

    def ratings(session: Session, user_id: int) -> Mapping[int, float]:
        return ChainMap(*(dict(card.ratings(session, user_id)) for card in cards))

    return Competing(partial(competitions_service.games_played, formats=names), enter, ratings)


def hosting_by(formats: Sequence[Format]) -> health.HostingOf:
    """Return a function that looks up how a bot's program runs: by its format, or sandboxed."""
    rules = [format_.hosting_of for format_ in formats if format_.hosting_of is not None]

    def hosting_of(session: Session, bot: Bot) -> BotHosting:
        answers = (rule(session, bot) for rule in rules)
        own = next((answer for answer in answers if answer is not None), None)
        return own or health.always_sandboxed(session, bot)

    return hosting_of


def standing_in(formats: Sequence[Format], session: Session, bot: BotView) -> BotStanding | None:
    """Return a bot's standing in the first format that has one, or None."""
    cards = [format_.bot for format_ in formats if format_.bot is not None]
    standings = (card.standing(session, bot) for card in cards)
    return next((standing for standing in standings if standing is not None), None)
