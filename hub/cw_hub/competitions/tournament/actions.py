"""What hosts can do to a tournament, on its pages and by `cw hub competition`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from wtforms import StringField

from cw_hub.accounts.forms import is_filled, needs
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.service import CompetitionFacts
from cw_hub.competitions.tournament import forms, people, rounds, service, teams
from cw_hub.competitions.tournament.forms import (
    HostForm,
    IdField,
    IdsField,
    Parameter,
    form_of,
    text_field,
)
from cw_hub.competitions.tournament.progress import advance
from cw_hub.competitions.tournament.team_bots import LONGEST_URL, WHERE_SECRET
from cw_hub.operation.settings import HubSettings
from cw_hub.store.database import Session


@dataclass(frozen=True, slots=True)
class Action:
    """Something that a host can do."""

    page: str
    """The endpoint of the page with its form."""
    do: Callable[..., Any]
    """Does it to a tournament, with the arguments from its form or command."""
    form: type[HostForm]
    done: str | Callable[[Any], str]
    """The message afterwards, or a function that makes it from the result."""
    command: str = ""
    """The command that has it as an option; "": none."""
    option: str = ""
    """The name of this option; "": that of the action."""
    help: str = ""
    """The text of `--help` about this option."""
    confirmation: Callable[[Session, CompetitionFacts, dict[str, Any]], str] | None = None
    """Returns what the host must type into the form to confirm it, given the arguments."""
    of_site: Callable[[HubSettings], dict[str, Any]] = lambda _settings: {}
    """Returns the arguments that pages add from the settings of the site."""

    def arguments(self, session: Session, competition: int, typed: Iterable[Any]) -> dict[str, Any]:
        """Return the arguments that were typed for a command; raise UsageError if one is wrong."""
        return {
            value.name: value.find(session, competition, text)
            for value, text in zip(self.form.parameters, typed, strict=True)
        }


def perform(
    session: Session,
    competition: int,
    action: Action,
    arguments: Mapping[str, Any],
) -> Any:
    """Do something to a tournament, and what is due in it afterwards; return the result."""
    result = action.do(session, competition, **arguments)
    advance(session, competition)
    return result


def title(_session: Session, competition: CompetitionFacts, _arguments: dict[str, Any]) -> str:
    """Return the title of a tournament, which confirms its end."""
    return competition.title


def chosen(session: Session, competition: CompetitionFacts, arguments: dict[str, Any]) -> str:
    """Return the name of a team, or the number of teams, which confirms their removal."""
    names = [team.name for team in teams.teams_by_id(session, competition.id, arguments["ids"])]
    return names[0] if len(names) == 1 else f"{len(names)} teams"


def carried_over(has_begun: bool) -> str:
    """Return the message about a final."""
    if has_begun:
        return "The final begins when the open rounds are over."
    return "The final has already begun."


def added(ids: list[int]) -> str:
    """Return the message about new teams."""
    return f"{len(ids)} teams were added." if len(ids) > 1 else "The team was added."


def bot_set(lack_secrets: bool) -> str:
    """Return the message about a new bot."""
    return f"The bot was set. {WHERE_SECRET}" if lack_secrets else "The bot was set."


def announced(number: int | None) -> str:
    """Return the message about an announcement."""
    if number is None:
        return "The announcement was published."
    people = "person" if number == 1 else "people"
    return f"The announcement was published, and mailed to {number} {people}."


def imported(number: int) -> str:
    """Return the message about new addresses."""
    return f"{number} addresses were added." if number != 1 else "1 address was added."


def team_ids(session: Session, competition: int, name: str) -> list[int]:
    """Return the id of the team with a name, as a list; raise UsageError if there is none."""
    return [teams.team_named(session, competition, name).id]


TEAM: Final = Parameter("ids", IdsField(), "TEAM", "team", find=team_ids)
SANDBOX: Final = Parameter("group_name", text_field(40), "SANDBOX", "group")
BOT: Final = Parameter("bot", text_field(LONGEST_URL), "BOT")
MACHINE: Final = Parameter("machine", text_field(teams.LONGEST_MACHINE), "ADDRESS")
MATCH: Final = Parameter("match_id", text_field(10), "MATCH", "match")
ROUND: Final = Parameter("round_id", IdField(default=0), "SANDBOX", "round", find=rounds.open_round)
EVENT: Final = Parameter("event", IdField(default=0), "ID", type="number")
TEXT: Final = Parameter("text", text_field(service.LONGEST_TEXT))
NEEDS_NAME: Final = needs(is_filled, "Please enter a name")
LINES: Final = Parameter("lines", StringField(validators=[NEEDS_NAME]), "FILE", type="file")
NEEDS_REASON: Final = needs(bool, rounds.NO_REASON)
REASON: Final = Parameter("reason", text_field(forms.LONGEST, NEEDS_REASON), "REASON")
NEEDS_NONCE: Final = needs(
    lambda nonce: not nonce or bool(re.fullmatch("[0-9a-f]{32}", nonce)),
    "This form is incomplete: please load the page again",
)
NONCE: Final = Parameter("nonce", text_field(32, NEEDS_NONCE))
NEEDS_USERNAME: Final = needs(bool, "Please enter a username")
USERNAME: Final = Parameter("username", text_field(100, NEEDS_USERNAME), field="name")

PAGE, TEAMS, EVENTS, ROUNDS = "host.page", "host.teams", "host.events", "host.rounds"
PEOPLE = "host.people"

ACTIONS: Final[Mapping[str, Action]] = {
    **{
        kind: Action(
            PAGE,
            partial(service.add_now, kind=kind),
            form_of(TEXT),
            f"{kind.capitalize()}: done.",
        )
        for kind in ("start", "pause", "resume")
    },
    "end": Action(
        PAGE,
        partial(service.add_now, kind="end"),
        form_of(TEXT, error_field="sure", sure=text_field()),
        "It ends after the last round. For an hour you can undo this.",
        confirmation=title,
    ),
    "add-sandbox": Action(PAGE, teams.add_group, forms.SandboxForm, "The sandbox was added."),
    "describe": Action(
        PAGE, competitions_service.describe, forms.AboutForm, "The texts were saved."
    ),
    "settings": Action(
        PAGE, service.change_settings, forms.SettingsForm, "The settings were saved."
    ),
    "carry-over": Action(
        PAGE,
        rounds.carry_over,
        form_of(
            error_field="confirm",
            confirm=StringField(
                validators=[needs(bool, "Please confirm that the strongest teams go to the final")]
            ),
        ),
        carried_over,
    ),
    "add-teams": Action(
        TEAMS,
        service.add_listed_teams,
        form_of(LINES, error_field="lines"),
        added,
        command="teams",
        option="add",
        help="File of new teams, one per line: NAME or NAME, SANDBOX.",
    ),
    "issue-tokens": Action(TEAMS, teams.issue, form_of(TEAM, NONCE, error_field="team"), ""),
    "revoke-tokens": Action(TEAMS, teams.revoke_tokens, form_of(TEAM), "The tokens were revoked."),
    "move": Action(
        TEAMS,
        teams.move,
        form_of(TEAM, SANDBOX),
        "The teams were moved.",
        command="teams",
        help="Move a team, before its first round.",
    ),
    "out-of-competition": Action(
        TEAMS,
        teams.set_out_of_competition,
        form_of(TEAM),
        "The teams now play out of competition.",
        command="teams",
        help="Let it play in all sandboxes, without a place.",
    ),
    "compete": Action(
        TEAMS,
        teams.compete,
        form_of(TEAM, SANDBOX),
        "The teams compete again.",
        command="teams",
        help="Let it compete in SANDBOX again.",
    ),
    "set-bot": Action(
        TEAMS,
        teams.set_bot,
        form_of(TEAM, BOT, error_field="bot"),
        bot_set,
        of_site=lambda settings: {"settings": settings},
    ),
    "machine": Action(
        TEAMS,
        teams.set_machine,
        form_of(TEAM, MACHINE, error_field="machine"),
        "The address of the machine was saved.",
        command="teams",
        help="Set the address of its machine.",
    ),
    "disqualify": Action(
        TEAMS,
        rounds.disqualify,
        form_of(TEAM, REASON),
        "The teams were disqualified.",
        command="teams",
        help="Disqualify it, and end its open matches.",
    ),
    "reinstate": Action(
        TEAMS,
        rounds.reinstate,
        form_of(TEAM),
        "The teams play from the next round on.",
        command="teams",
        help="Let it play again from the next round on.",
    ),
    "remove": Action(
        TEAMS,
        teams.remove,
        form_of(TEAM, error_field="sure", sure=text_field()),
        "The teams were removed. For an hour you can undo it.",
        command="teams",
        help="Remove it: deleted after an hour, or withdrawn if it has played.",
        confirmation=chosen,
    ),
    "undo-remove": Action(
        TEAMS,
        teams.undo_remove,
        form_of(TEAM),
        "The teams were restored.",
        command="teams",
        help="Undo its removal, within an hour.",
    ),
    "invite": Action(PEOPLE, people.invite, forms.InvitationForm, "The invitation was saved."),
    "import": Action(PEOPLE, people.import_guests, forms.ImportForm, imported),
    "add-host": Action(
        PEOPLE, people.add_host, form_of(USERNAME, error_field="name"), "The host was added."
    ),
    "remove-host": Action(
        PEOPLE,
        people.remove_host,
        form_of(
            USERNAME,
            error_field="name",
            sure=StringField(
                validators=[needs(bool, "Nothing has changed: tick the box to remove the host")]
            ),
        ),
        "The host was removed.",
    ),
    "announce": Action(
        PEOPLE,
        people.announce,
        forms.AnnouncementForm,
        announced,
        of_site=lambda settings: {"address": settings.address},
    ),
    "add-event": Action(EVENTS, service.add_event, forms.EventForm, "The event was planned."),
    "remove-event": Action(
        EVENTS,
        service.remove_event,
        form_of(EVENT),
        "The event was called off.",
        command="event",
        option="cancel",
        help="Cancel the event with this ID.",
    ),
    "undo-end": Action(
        PAGE,
        service.undo_end,
        form_of(),
        "The end was undone: the tournament continues.",
        command="event",
        help="Undo the end of the tournament, within an hour.",
    ),
    "void": Action(
        ROUNDS,
        rounds.void,
        form_of(MATCH, REASON),
        "The match was called off.",
        command="rounds",
        help="Cancel a match of an open round.",
    ),
    "play-again": Action(
        ROUNDS,
        rounds.play_again,
        form_of(MATCH),
        "The match will be played again.",
        command="rounds",
        help="Play a match of an open round again.",
    ),
    "void-round": Action(
        ROUNDS,
        rounds.void_round,
        form_of(ROUND, REASON),
        "The round was called off.",
        command="rounds",
        help="Cancel the open round of a sandbox.",
    ),
}
"""Actions by the last segment of their form's URL; commands do their options in this order."""
