"""The actions behind the forms of the host pages, each run in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from cw.errors import UsageError
from cw.league.ladder import EventKind
from cw_hub.bots.addresses import check_address
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.service import CompetitionFacts
from cw_hub.competitions.tournament import (
    announcements,
    host_forms,
    host_rounds,
    host_teams,
    people,
)
from cw_hub.competitions.tournament.events import NewEvent, add_event, remove_event
from cw_hub.competitions.tournament.groups import add_group
from cw_hub.competitions.tournament.host_forms import AboutForm, HostForm
from cw_hub.competitions.tournament.host_rounds import disqualify, reinstate
from cw_hub.competitions.tournament.host_teams import change_settings
from cw_hub.competitions.tournament.team_bots import BUILTIN, WHERE_SECRET
from cw_hub.competitions.tournament.teams import add_teams
from cw_hub.pages.request import resources
from cw_hub.store.database import Writing
from cw_hub.store.models import CompetitionState


@dataclass(frozen=True, slots=True)
class Request:
    """A form submitted by a host, with the transaction that processes it."""

    session: Writing
    competition: CompetitionFacts
    form: Any

    def do(self, verb: Callable[..., Any], *values: Any, **more: Any) -> Any:
        """Call a function on the tournament; return its result."""
        competition = self.competition.id
        return verb(self.session, competition, *values, **more)

    def do_to_teams(self, verb: Callable[..., Any], *values: Any) -> Any:
        """Call a function on the ticked teams; return its result."""
        return self.do(verb, self.form.team.data, *values)

    def do_to_each_team(self, verb: Callable[..., Any], *values: Any) -> None:
        """Call a function on each ticked team."""
        for team in host_teams.teams_by_id(self.session, self.competition.id, self.form.team.data):
            self.do(verb, team.id, *values)


@dataclass(frozen=True, slots=True)
class Action:
    """A form of the host pages, with its action."""

    page: str
    """The endpoint of the form's page."""
    form: type[HostForm]
    act: Callable[[Request], Any]
    """Performs the action; returns a message, unless `done` contains one."""
    done: str = ""


BUTTONS: Final[Mapping[EventKind, tuple[CompetitionState, ...]]] = {
    "start": ("draft",),
    "pause": ("running",),
    "resume": ("paused",),
    "end": ("running", "paused"),
}
"""Events with a button, each with the tournament states in which it is shown."""


def at_once(kind: EventKind) -> Callable[[Request], None]:
    """Return an action that adds an event with immediate effect."""

    def act(request: Request) -> None:
        row = competitions_service.lock(request.session, request.competition.id)
        if row.state not in BUTTONS[kind]:
            raise UsageError("The tournament has changed since you loaded the page.")
        title, text = kind.capitalize(), request.form.text.data
        event = NewEvent(kind, request.session.now(), title, text, announced=True)
        # `is_late`, because the event's time is already in the past when it is checked.
        request.do(add_event, event, is_late=True)

    return act


def confirm(typed: str, expected: str) -> None:
    """Raise UsageError unless the host typed the expected text, which prevents accidents."""
    if typed.casefold() != expected.casefold():
        raise UsageError(f"Nothing has changed: to confirm, type {expected}, not {typed!r}.")


def end(request: Request) -> None:
    """End the tournament; its name must be typed."""
    confirm(request.form.sure.data, request.competition.title)
    at_once("end")(request)


def remove(request: Request) -> None:
    """Remove teams; the name of the team, or `5 teams`, must be typed."""
    ids = request.form.team.data
    chosen = host_teams.teams_by_id(request.session, request.competition.id, ids)
    confirm(request.form.sure.data, chosen[0].name if len(chosen) == 1 else f"{len(chosen)} teams")
    request.do_to_teams(host_teams.remove)


def carry_over(request: Request) -> str:
    """Start the final."""
    if not request.do(host_rounds.carry_over):
        return "The final has already begun."
    return "The final begins when the open rounds are over."


def add_listed_teams(request: Request) -> str:
    """Add the listed teams."""
    ids = request.do(add_teams, request.form.teams())
    return f"{len(ids)} teams were added." if len(ids) > 1 else "The team was added."


def set_bot(request: Request) -> str:
    """Set the bot of teams."""
    bot = request.form.bot.data
    lack_secrets = request.do_to_teams(host_teams.set_bot, bot)
    if not bot.startswith(BUILTIN):
        check_address(bot.strip(), resources().settings)
    return f"The bot was set. {WHERE_SECRET}" if lack_secrets else "The bot was set."


def announce(request: Request) -> str:
    """Publish an announcement now: among the events, above all pages, and by email."""
    address = resources().settings.address
    number = request.do(announcements.announce, request.form.announcement(), address=address)
    if number is None:
        return "The announcement was published."
    return (
        f"The announcement was published, and mailed to {number} "
        f"{'person' if number == 1 else 'people'}."
    )


def import_guests(request: Request) -> str:
    """Add the email addresses of a typed list, of a file, or of both."""
    number = sum(request.do(people.import_guests, text) for text in request.form.texts())
    return f"{number} addresses were added." if number != 1 else "1 address was added."


PAGE, TEAMS, EVENTS, ROUNDS = "host.page", "host.teams", "host.events", "host.rounds"
PEOPLE = "host.people"

ACTIONS: Final[Mapping[str, Action]] = {
    **{
        kind: Action(PAGE, host_forms.PauseForm, at_once(kind), f"{kind.capitalize()}: done.")
        for kind in BUTTONS
    },
    "end": Action(
        PAGE,
        host_forms.EndForm,
        end,
        "It ends after the last round. For an hour you can undo this.",
    ),
    "undo-end": Action(
        PAGE,
        host_forms.HostForm,
        lambda request: request.do(host_teams.undo_end),
        "The end was undone: the tournament continues.",
    ),
    "add-sandbox": Action(
        PAGE,
        host_forms.SandboxForm,
        lambda request: request.do(add_group, request.form.group()),
        "The sandbox was added.",
    ),
    "describe": Action(
        PAGE,
        AboutForm,
        lambda request: request.do(competitions_service.describe, **request.form.words()),
        "The texts were saved.",
    ),
    "settings": Action(
        PAGE,
        host_forms.SettingsForm,
        lambda request: request.do(change_settings, request.form.values()),
        "The settings were saved.",
    ),
    "carry-over": Action(PAGE, host_forms.CarryOverForm, carry_over),
    "add-teams": Action(TEAMS, host_forms.AddTeamsForm, add_listed_teams),
    "revoke-tokens": Action(
        TEAMS,
        host_forms.TeamsForm,
        lambda request: request.do_to_teams(host_teams.revoke_tokens),
        "The tokens were revoked.",
    ),
    "move": Action(
        TEAMS,
        host_forms.GroupForm,
        lambda request: request.do_to_teams(host_teams.move, request.form.group.data),
        "The teams were moved.",
    ),
    "out-of-competition": Action(
        TEAMS,
        host_forms.TeamsForm,
        lambda request: request.do_to_teams(host_teams.set_out_of_competition),
        "The teams now play out of competition.",
    ),
    "compete": Action(
        TEAMS,
        host_forms.GroupForm,
        lambda request: request.do_to_teams(host_teams.compete, request.form.group.data),
        "The teams compete again.",
    ),
    "set-bot": Action(TEAMS, host_forms.BotForm, set_bot),
    "machine": Action(
        TEAMS,
        host_forms.MachineForm,
        lambda request: request.do_to_teams(host_teams.set_machine, request.form.machine.data),
        "The address of the machine was saved.",
    ),
    "disqualify": Action(
        TEAMS,
        host_forms.DisqualifyForm,
        lambda request: request.do_to_each_team(disqualify, request.form.reason.data),
        "The teams were disqualified.",
    ),
    "reinstate": Action(
        TEAMS,
        host_forms.TeamsForm,
        lambda request: request.do_to_each_team(reinstate),
        "The teams play from the next round on.",
    ),
    "remove": Action(
        TEAMS,
        host_forms.RemoveForm,
        remove,
        "The teams were removed. For an hour you can undo it.",
    ),
    "undo-remove": Action(
        TEAMS,
        host_forms.TeamsForm,
        lambda request: request.do_to_teams(host_teams.undo_remove),
        "The teams were restored.",
    ),
    "invite": Action(
        PEOPLE,
        host_forms.InvitationForm,
        lambda request: request.do(people.invite, **request.form.values()),
        "The invitation was saved.",
    ),
    "import": Action(PEOPLE, host_forms.ImportForm, import_guests),
    "add-host": Action(
        PEOPLE,
        host_forms.NameForm,
        lambda request: request.do(people.add_host, request.form.name.data),
        "The host was added.",
    ),
    "remove-host": Action(
        PEOPLE,
        host_forms.RemoveHostForm,
        lambda request: request.do(people.remove_host, request.form.name.data),
        "The host was removed.",
    ),
    "announce": Action(PEOPLE, host_forms.AnnouncementForm, announce),
    "add-event": Action(
        EVENTS,
        host_forms.EventForm,
        lambda request: request.do(add_event, request.form.event()),
        "The event was planned.",
    ),
    "remove-event": Action(
        EVENTS,
        host_forms.RemoveEventForm,
        lambda request: request.do(remove_event, request.form.event.data),
        "The event was called off.",
    ),
    "void": Action(
        ROUNDS,
        host_forms.VoidForm,
        lambda request: request.do(
            host_rounds.void, request.form.match.data, request.form.reason.data
        ),
        "The match was called off.",
    ),
    "play-again": Action(
        ROUNDS,
        host_forms.MatchForm,
        lambda request: request.do(host_rounds.play_again, request.form.match.data),
        "The match will be played again.",
    ),
    "void-round": Action(
        ROUNDS,
        host_forms.VoidRoundForm,
        lambda request: request.do(
            host_rounds.void_round, request.form.round.data, request.form.reason.data
        ),
        "The round was called off.",
    ),
}
"""Actions by the last segment of the form's URL."""
