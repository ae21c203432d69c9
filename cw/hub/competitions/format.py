"""A format: all that the hub knows of one way to hold competitions.

A site is put together from its formats (`cw/hub/site/formats.py`). What a format does not need
keeps its default; docs/add-a-format.md makes a small one step by step.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, TypeAlias

from markupsafe import Markup
from sqlalchemy.orm import Session

from cw.errors import UsageError
from cw.hub.api.documents import BotStanding
from cw.hub.api.operations import Operation
from cw.hub.bots.checks import health
from cw.hub.bots.checks.health import BotHosting
from cw.hub.bots.competing import Competing
from cw.hub.bots.views import BotView
from cw.hub.clock import Clock
from cw.hub.competitions import verbs as competitions
from cw.hub.competitions.dates import Dates
from cw.hub.competitions.news import News
from cw.hub.competitions.setting_fields import SettingField, show_all
from cw.hub.competitions.verbs import CompetitionFacts
from cw.hub.matches.challenges.kind import CHALLENGE
from cw.hub.matches.comparisons.kind import COMPARISON
from cw.hub.matches.kinds import NOTHING, Kind, Kinds
from cw.hub.matches.practice import PRACTICE
from cw.hub.operation.queue import Job
from cw.hub.operation.upkeep_job import Chore
from cw.hub.pages.parts import Application, Family
from cw.hub.store.tables import Bot, CompetitionState

Planning: TypeAlias = Callable[[Session, Clock], object]
"""Makes the rows of the matches that are due, in one transaction of a tick; twice, late and by two
at once it makes them once."""

Settings: TypeAlias = Mapping[str, Any]

Changing: TypeAlias = Callable[[Session, Clock, CompetitionFacts, Settings, str], object]
"""Checks and keeps settings of a competition, by somebody; raises UsageError for what cannot be."""

Steering: TypeAlias = Callable[[Session, Clock, CompetitionFacts, CompetitionState, str], object]
"""Lets a competition be planned, run, pause or be over, by somebody; raises UsageError where it
cannot be."""

Scheduling: TypeAlias = Callable[[Session, Clock, CompetitionFacts, Dates, str], object]
"""Sets when a competition begins and ends by itself, by somebody; raises UsageError for what cannot
be."""

Creating: TypeAlias = Callable[[Session, Clock, "Format", "NewCompetition", str], CompetitionFacts]
"""Creates a competition as a form asks for it; raises UsageError for what cannot be."""

Showing: TypeAlias = Callable[[Session, "Format", CompetitionFacts], dict[str, str]]
"""Returns what stands in the fields of the form of another competition like one."""

Verifying: TypeAlias = Callable[[Session, float], Iterable[str]]
"""Names each difference between what was kept of results and what the matches say, if it is larger
than a tolerance."""

Entering: TypeAlias = Callable[[Session, int], object]
"""Lets a new bot of a person, by the id of its row, take part in the competitions of its game."""

HostingOf: TypeAlias = Callable[[Session, Bot], BotHosting | None]
"""Returns how the program of a bot is run, None for a bot that is not of this format."""

Beginning: TypeAlias = Callable[[Session, Clock, Settings], object]
"""Makes what a new site has of this format, with some settings. Twice: it stays as it is."""


@dataclass(frozen=True, slots=True)
class Place:
    """Who has one of the first places of a competition."""

    rank: int
    name: str
    owner: str | None
    """The username; None where that was deleted, and for teams."""
    picture: str | None
    """The SHA-256 of the owner's picture."""
    figure: str
    """What the place was given for, in few words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HomeCard:
    """What the home page shows of a competition, beside what is being played."""

    address: Callable[[CompetitionFacts], str] | None = None
    """Returns the address of its page; None for that of its game."""
    leaders: Callable[[Session, int], Sequence[Place]] = lambda _session, _id: ()
    """Returns its first places, by the id of the competition."""
    next_at: Callable[[Session, Clock, CompetitionFacts], datetime | None] | None = None
    """Returns when its next match is due, where no game is planned yet."""
    ended_at: Callable[[Session, int], datetime | None] | None = None
    """Returns when it ended, by the id of the competition, so that its winners stay to be seen."""
    idle: str = ""
    """What is said between two matches; "" for the time of the next one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileCard:
    """What the profile of a person shows of a format."""

    part: Callable[[Session, int, str], Markup]
    """Returns a part of the page, by the id and the name of the user."""
    line: Callable[[Session, int], tuple[str, str]] | None = None
    """Returns a figure for the top of the page and for the small card: its name and value."""
    head: Callable[[], Markup] = Markup
    """Returns what stands in the head of the page, such as scripts."""
    settings: Callable[[Session, int], Markup] | None = None
    """Returns a part of the Settings page, by the id of the user."""


@dataclass(frozen=True, slots=True)
class BotPart:
    """What the page of a bot shows of a format."""

    sentence: Markup = NOTHING
    """Says to its owner how it takes part; nothing for a bot that does not."""
    head: Markup = NOTHING
    """For the head of the page, such as scripts."""
    top: Markup = NOTHING
    """Before what its owner sees."""
    bottom: Markup = NOTHING
    """After that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BotCard:
    """What pages show of bots in a format."""

    part: Callable[[Session, BotView, bool], BotPart]
    """Returns a part of the page of a bot; for everybody, or for its owner and admins."""
    standing: Callable[[Session, BotView], BotStanding | None] = lambda _session, _bot: None
    """Returns how a bot stands, for the API; None where it takes no part."""
    ratings: Callable[[Session, int], Mapping[int, float]] = lambda _session, _user: {}
    """Returns the ratings of the bots of a user, by the ids of their rows."""


def change(
    _session: Session, _clock: Clock, facts: CompetitionFacts, values: Settings, _actor: str
) -> None:
    """Refuse all settings: there are none."""
    raise UsageError(f"{facts.format}/{facts.slug} has no settings, not even {', '.join(values)}")


@dataclass(frozen=True, slots=True)
class NewCompetition:
    """A competition that a form asks for."""

    game: str
    title: str
    slug: str
    settings: Settings
    description: str = ""
    """Markdown."""


def create(
    session: Session, clock: Clock, format_: Format, wanted: NewCompetition, actor: str
) -> CompetitionFacts:
    """Create a competition, a draft, with its settings; raise UsageError for what cannot be."""
    facts = competitions.new(
        session,
        clock,
        format_.name,
        wanted.game,
        slug=wanted.slug,
        title=wanted.title,
        description=wanted.description,
        actor=actor,
    )
    if wanted.settings:
        format_.change(session, clock, facts, wanted.settings, actor)
    return facts


def texts(_session: Session, format_: Format, facts: CompetitionFacts) -> dict[str, str]:
    """Return the settings of a competition as they stand in the fields of a form."""
    return show_all(format_.fields, facts.settings)


def steer(
    session: Session,
    clock: Clock,
    facts: CompetitionFacts,
    state: CompetitionState,
    actor: str,
) -> None:
    """Let a competition be planned, run, pause or be over."""
    competitions.set_state(session, clock, facts.id, state, actor)


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One way to hold competitions."""

    kind: Kind
    """Its matches: claimed, seated, finished and shown its way; its name is the format's."""
    plan: Planning
    takes_bots: bool = False
    """Whether bots of people take part, so that they may be registered for its games."""
    change: Changing = change
    steer: Steering = steer
    begin: Beginning | None = None
    about: str = ""
    """Says in a sentence what is played, where one is created; "" for a format that no page
    creates."""
    fields: Sequence[SettingField] = ()
    """Its settings, as forms ask for them."""
    create: Creating = create
    texts: Showing = texts
    schedule: Scheduling = competitions.set_dates
    has_events: bool = False
    """Whether its competitions have events of their own, with start and end among them, which it
    sees to itself."""
    led_at: Callable[[CompetitionFacts], str] | None = None
    """Returns the address of the page on which a competition is led; None for that of all."""
    hosts_at: Callable[[str], str] | None = None
    """Returns the address at which hosts are added and removed, by the slug; None without hosts."""
    enter: Entering | None = None
    verify: Verifying | None = None
    """Verifies what it has made of results, after a back-up was restored."""
    has_maps: bool = False
    """Whether it plays on maps that come with a game, which a site stores when it begins."""
    hosting_of: HostingOf | None = None
    """Says how the programs of its bots are run."""
    home: HomeCard = HomeCard()
    bot: BotCard | None = None
    profile: ProfileCard | None = None
    news: News | None = None
    """Gives what happened lately, for the feed of the site."""
    pages: Sequence[Family] = ()
    api: Sequence[Operation] = ()
    """Its routes of the API."""
    install: Callable[[Application], object] | None = None
    """Prepares the application for its pages."""
    jobs: Mapping[str, Job] = field(default_factory=dict)
    """By name what its messages ask for, beside matches."""
    chores: Mapping[str, Chore] = field(default_factory=dict)
    """By what they delete each day."""

    @property
    def name(self) -> str:
        """As in commands, addresses and rows."""
        return self.kind.name


def kinds_of(formats: Sequence[Format]) -> Kinds:
    """Return the kinds of matches of some formats, practice, challenges, and comparisons."""
    return Kinds((PRACTICE, CHALLENGE, COMPARISON, *(format_.kind for format_ in formats)))


def format_named(formats: Sequence[Format], name: str) -> Format | None:
    """Return a format by its name, None if there is none."""
    return next((format_ for format_ in formats if format_.name == name), None)


def competing(formats: Sequence[Format]) -> Competing:
    """Return how bots of people compete in some formats."""
    names = [format_.name for format_ in formats if format_.takes_bots]
    entries = [format_.enter for format_ in formats if format_.enter is not None]
    cards = [format_.bot for format_ in formats if format_.bot is not None]

    def enter(session: Session, bot: int) -> None:
        for entry in entries:
            entry(session, bot)

    def ratings(session: Session, user_id: int) -> Mapping[int, float]:
        return ChainMap(*(dict(card.ratings(session, user_id)) for card in cards))

    return Competing(partial(competitions.games_played, formats=names), enter, ratings)


def hosting_by(formats: Sequence[Format]) -> health.HostingOf:
    """Return what says how the programs of bots are run: their format, or as those of no team."""
    rules = [format_.hosting_of for format_ in formats if format_.hosting_of is not None]

    def hosting_of(session: Session, bot: Bot) -> BotHosting:
        answers = (rule(session, bot) for rule in rules)
        own = next((answer for answer in answers if answer is not None), None)
        return own or health.always_sandboxed(session, bot)

    return hosting_of


def standing_in(formats: Sequence[Format], session: Session, bot: BotView) -> BotStanding | None:
    """Return how a bot stands in the first format that has a standing of it; None in none."""
    cards = [format_.bot for format_ in formats if format_.bot is not None]
    standings = (card.standing(session, bot) for card in cards)
    return next((standing for standing in standings if standing is not None), None)
