"""The forms of a host: their fields, and the checks that need no database."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Final, cast

from wtforms import BooleanField, Field, Form, StringField, ValidationError

from cw.errors import ProtocolError, UsageError
from cw.games.wire import read_json
from cw.hub.accounts.forms import is_filled, needs
from cw.hub.competitions.tournament.config import team_lines
from cw.hub.competitions.tournament.events import LONGEST_TEXT, NO_TIME, NO_TITLE, PAST, NewEvent
from cw.hub.competitions.tournament.groups import NewGroup
from cw.hub.competitions.tournament.host.rounds import NO_REASON
from cw.hub.competitions.tournament.host.teams import NO_TEAM
from cw.hub.competitions.tournament.teams.assigned_bots import LONGEST_URL
from cw.hub.competitions.tournament.teams.enrolment import NewTeam
from cw.hub.competitions.tournament.teams.machines import LONGEST_MACHINE
from cw.hub.pages.zones import UNKNOWN_ZONE, moment_in, zone_named

MOST_TICKED: Final = 1000
LONGEST: Final = 200
"""Characters of most texts."""

SET_NUMBERS: Final = ("parallel", "per_bot", "round_every", "finalists", "tokens_per_team")
"""The settings that a host changes by a number."""

EVENT_KINDS: Final = {
    "note": "Note: only an announcement",
    "boards": "Boards: new boards to play on",
    "start": "Start: the rounds begin",
    "pause": "Pause: waiting matches do not start",
    "resume": "Resume: waiting matches start again",
    "final": "Final: the strongest teams go to the final sandbox",
    "end": "End: the last round is played out",
}

BOARD_LINE: Final = re.compile(
    r"(?:(?P<name>[^:=]+):)?(?P<options>.*?)(?:\sx\s*(?P<factor>\d{1,4}))?"
)


def stripped(longest: int) -> Callable[[str | None], str]:
    """Return a filter that strips a text; one that is too long keeps a character too many."""
    return lambda value: (value or "").strip()[: longest + 1]


def text_field(longest: int = LONGEST, *checks: Any) -> Any:
    """Return a field of one line."""
    return StringField(validators=checks, filters=[stripped(longest)])


def number_or_text(text: str) -> int | str:
    """Return the number that was typed, or the text for the sentence that refuses it."""
    return int(text) if re.fullmatch("[0-9]{1,9}", text) else text


class HostForm(Form):
    """A form of a host; `now` is the time at which it was sent."""

    error_field = ""
    """The field to which an error of what the form does belongs; "": to none."""

    def __init__(self, *values: Any, now: datetime, **more: Any) -> None:
        """Fill the form."""
        super().__init__(*values, **more)
        self.now = now


class IdsField(Field):
    """The ids of the teams that are ticked."""

    def process_formdata(self, valuelist: Sequence[str]) -> None:
        """Keep those that are ids."""
        self.sent = len(valuelist)
        self.data = [int(i) for i in valuelist if i.isascii() and i.isdigit() and len(i) < 10]

    def pre_validate(self, form: Any) -> None:
        """Refuse none and too many."""
        if self.sent > MOST_TICKED:
            raise ValidationError(f"Please choose at most {MOST_TICKED} teams")
        if not self.data:
            raise ValidationError(NO_TEAM)


class IdField(Field):
    """The id of a row; 0, as no row has, for what is not a number."""

    data: int

    def process_formdata(self, valuelist: Sequence[str]) -> None:
        """Read the number."""
        number = number_or_text(valuelist[0]) if valuelist else 0
        self.data = number if isinstance(number, int) else 0


class PauseForm(HostForm):
    """Start, pause or resume at once, with a text for everybody."""

    text = text_field(LONGEST_TEXT)


class EndForm(PauseForm):
    """End at once, for good: its name is typed."""

    error_field = "sure"

    sure = text_field()


class SandboxForm(HostForm):
    """Add a group."""

    error_field = "name"

    name = text_field(100)
    kind = StringField(
        validators=[
            needs(lambda kind: kind in ("", "public", "internal", "final"), "Please choose a kind")
        ]
    )

    def group(self) -> NewGroup:
        """Return the group to be added."""
        return NewGroup(self.name.data, cast(Any, self.kind.data or None))


class SettingsForm(HostForm):
    """Change settings; those that were not sent stay."""

    error_field = "settings"

    parallel = text_field(20)
    per_bot = text_field(20)
    round_every = text_field(20)
    finalists = text_field(20)
    tokens_per_team = text_field(20)
    hosting = StringField()
    stores = BooleanField()
    settings = BooleanField()
    """Whether the whole form was sent: a box that is not ticked is not."""

    def values(self) -> dict[str, Any]:
        """Return the settings that were sent."""
        texts = {name: self[name].data for name in SET_NUMBERS}
        values: dict[str, Any] = {
            name: number_or_text(text) for name, text in texts.items() if text
        }
        if self.hosting.data is not None:
            values["hosting"] = self.hosting.data
        if self.settings.data:
            values["stores"] = self.stores.data
        return values


class CarryOverForm(HostForm):
    """Begin the final."""

    error_field = "confirm"

    confirm = StringField(
        validators=[needs(bool, "Please confirm that the strongest teams go to the final")]
    )


class AddTeamsForm(HostForm):
    """Add the teams of a list."""

    error_field = "lines"

    lines = StringField(validators=[needs(is_filled, "Please enter a name")])

    def teams(self) -> list[NewTeam]:
        """Return the teams of the list."""
        return list(team_lines(self.lines.data or ""))


class TeamsForm(HostForm):
    """Do something to the teams that are ticked."""

    team = IdsField()


class RemoveForm(TeamsForm):
    """Remove teams: the name of one, or how many there are, is typed."""

    error_field = "sure"

    sure = text_field()


class GroupForm(TeamsForm):
    """Let teams play in a group."""

    group = text_field(40)


class BotForm(TeamsForm):
    """Set the bot of teams."""

    error_field = "bot"

    bot = text_field(LONGEST_URL)


class MachineForm(TeamsForm):
    """Set the machine of teams."""

    error_field = "machine"

    machine = text_field(LONGEST_MACHINE)


class DisqualifyForm(TeamsForm):
    """Disqualify teams."""

    reason = text_field(LONGEST, needs(bool, NO_REASON))


class CardsForm(TeamsForm):
    """Issue login tokens, once for each form."""

    nonce = StringField(
        validators=[
            needs(
                lambda nonce: not nonce or bool(re.fullmatch("[0-9a-f]{32}", nonce)),
                "This form is incomplete: please load the page again",
            )
        ]
    )


class EventForm(HostForm):
    """Plan an event."""

    kind = StringField(
        default="note",
        validators=[needs(lambda kind: kind in EVENT_KINDS, "Please choose what happens")],
    )
    at = text_field(40)
    zone = text_field(64)
    title = text_field(LONGEST, needs(bool, NO_TITLE))
    text = text_field(LONGEST_TEXT)
    group = text_field(40)
    boards = StringField()
    mode = StringField()
    announced = BooleanField()

    def validate_zone(self, field: Field) -> None:
        """Refuse a zone that is not known."""
        if field.data and zone_named(field.data) is None:
            raise ValidationError(UNKNOWN_ZONE)

    def validate_at(self, field: Field) -> None:
        """Refuse a malformed time, and the past."""
        if self.moment() is None:
            raise ValidationError(NO_TIME)
        if cast(datetime, self.moment()) < self.now:
            raise ValidationError(PAST)

    def validate_boards(self, field: Field) -> None:
        """Refuse malformed boards."""
        try:
            boards = self.board_documents()
            self.error_field = "boards" if boards or self.kind.data == "boards" else "title"
        except UsageError as error:
            raise ValidationError(str(error)) from None

    def moment(self) -> datetime | None:
        """Return the time, which is meant in the zone of the form; None for a malformed one."""
        return moment_in(self.at.data, self.zone.data)

    def board_documents(self) -> list[dict[str, Any]]:
        """Return the boards of an event that brings some; raise UsageError for malformed ones."""
        if self.kind.data not in ("boards", "final"):
            return []
        return read_boards(self.boards.data or "")

    def event(self) -> NewEvent:
        """Return the event to be planned."""
        return NewEvent(
            cast(Any, self.kind.data),
            cast(datetime, self.moment()),
            self.title.data,
            self.text.data,
            self.group.data,
            self.board_documents(),
            "replace" if self.mode.data == "replace" else "add",
            announced=self.announced.data,
        )


class RemoveEventForm(HostForm):
    """Call off an event."""

    event = IdField(default=0)


class MatchForm(HostForm):
    """Let a match be played again."""

    match = text_field(10)


class VoidForm(MatchForm):
    """Call off a match."""

    reason = text_field(LONGEST, needs(bool, NO_REASON))


class VoidRoundForm(HostForm):
    """Call off a round."""

    round = IdField(default=0)
    reason = text_field(LONGEST, needs(bool, NO_REASON))


# Boards


def read_boards(text: str) -> list[dict[str, Any]]:
    """Return board types: a line each, `NAME: option=value, option=value x FACTOR`, or JSON.

    Name and factor may be left out. Raises UsageError for malformed ones.
    """
    if text.lstrip().startswith("["):
        try:
            return cast(list[dict[str, Any]], read_json(text))
        except ProtocolError:
            raise UsageError("This is not a JSON list of boards") from None
    return [read_board(line.strip()) for line in text.splitlines() if line.strip()]


def read_board(line: str) -> dict[str, Any]:
    """Return the board type of a line."""
    match = BOARD_LINE.fullmatch(line[:500])
    board: dict[str, Any] = {"options": {}}
    for part in (match["options"] if match else "").split(","):
        name, equals, value = part.partition("=")
        if part.strip() and not equals:
            raise UsageError(f"{part.strip()[:40]!r} is not an option: write size=5")
        if part.strip():
            board["options"][name.strip()] = read_value(value.strip())
    if match and match["name"]:
        board["name"] = match["name"].strip()
    if match and match["factor"]:
        board["factor"] = int(match["factor"])
    return board


def read_value(text: str) -> Any:
    """Return the value of an option: a value of JSON, else the text itself."""
    try:
        return read_json(text)
    except ProtocolError:
        return text
