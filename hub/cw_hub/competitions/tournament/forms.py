"""The forms of the host pages: their fields, and the checks that need no database."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, cast, get_args

from wtforms import BooleanField, Field, Form, StringField, ValidationError

from cw.errors import ProtocolError, UsageError
from cw.games.wire import read_json
from cw_hub.accounts.forms import needs
from cw_hub.competitions.tournament.people import Announcement, Audience
from cw_hub.competitions.tournament.service import (
    LONGEST_TEXT,
    NO_TIME,
    NO_TITLE,
    PAST,
    NewEvent,
)
from cw_hub.competitions.tournament.teams import NO_TEAM, NewGroup
from cw_hub.pages.forms import UNKNOWN_ZONE, moment_in, zone_named
from cw_hub.store.database import Session

MOST_TICKED: Final = 1000
LONGEST: Final = 200
"""Maximum length of most texts, in characters."""

SET_NUMBERS: Final = ("parallel", "per_bot", "round_every", "finalists", "tokens_per_team")
"""Numeric settings that a host can change."""

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
    """Return a filter that strips a text and truncates it to one character over the limit."""
    return lambda value: (value or "").strip()[: longest + 1]


def text_field(longest: int = LONGEST, *checks: Any) -> Any:
    """Return a single-line field."""
    return StringField(validators=checks, filters=[stripped(longest)])


def number_or_text(text: str) -> int | str:
    """Return the typed number, or the text itself for the error message."""
    return int(text) if re.fullmatch("[0-9]{1,9}", text) else text


@dataclass(frozen=True, slots=True)
class Parameter:
    """A value of an action: a field of its form, and an argument of its command."""

    name: str
    """The parameter of the function that performs the action."""
    input: Any
    """The field of the form."""
    metavar: str = ""
    """What `cw hub competition` calls it."""
    field: str = ""
    """The name of the field; "": that of the parameter."""
    type: Literal["text", "number", "file"] = "text"
    """What a command expects; the value is the text of the file."""
    find: Callable[[Session, int, Any], Any] = lambda _session, _competition, value: value
    """Returns the value that a command's argument means, in a tournament with this id."""

    @property
    def key(self) -> str:
        """The name of the field."""
        return self.field or self.name


class HostForm(Form):
    """A host's form; `now` is the time of its submission."""

    error_field = ""
    """The field that shows the action's errors; "": none."""

    parameters: Sequence[Parameter] = ()
    """The values of its action, if they are just those of its fields."""

    def __init__(self, *values: Any, now: datetime, **more: Any) -> None:
        """Bind the form to the submitted data and the current time."""
        super().__init__(*values, **more)
        self.now = now

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of the function that performs the action."""
        return {value.name: self[value.key].data for value in self.parameters}


def form_of(*parameters: Parameter, error_field: str = "", **fields: Any) -> type[HostForm]:
    """Return a form with the fields of an action's values, and with further fields."""
    about = {"parameters": parameters, "error_field": error_field}
    inputs = {value.key: value.input for value in parameters}
    return type("ActionForm", (HostForm,), {**about, **inputs, **fields})


class IdsField(Field):
    """The ids of the ticked teams."""

    def process_formdata(self, valuelist: Sequence[str]) -> None:
        """Keep the valid ids."""
        self.sent = len(valuelist)
        self.data = [int(i) for i in valuelist if i.isascii() and i.isdigit() and len(i) < 10]

    def pre_validate(self, form: Any) -> None:
        """Reject an empty or too long selection."""
        if self.sent > MOST_TICKED:
            raise ValidationError(f"Please choose at most {MOST_TICKED} teams")
        if not self.data:
            raise ValidationError(NO_TEAM)


class IdField(Field):
    """A row id; 0, which no row has, if the input is not a number."""

    data: int

    def process_formdata(self, valuelist: Sequence[str]) -> None:
        """Parse the number."""
        number = number_or_text(valuelist[0]) if valuelist else 0
        self.data = number if isinstance(number, int) else 0


class SandboxForm(HostForm):
    """Add a group."""

    error_field = "name"

    name = text_field(100)
    kind = StringField(
        validators=[
            needs(lambda kind: kind in ("", "public", "internal", "final"), "Please choose a kind")
        ]
    )

    def arguments(self) -> dict[str, Any]:
        """Return the group to add."""
        return {"group": NewGroup(self.name.data, cast(Any, self.kind.data or None))}


class SettingsForm(HostForm):
    """Change settings; omitted ones stay unchanged."""

    error_field = "settings"

    parallel = text_field(20)
    per_bot = text_field(20)
    round_every = text_field(20)
    finalists = text_field(20)
    tokens_per_team = text_field(20)
    hosting = StringField()
    stores = BooleanField()
    settings = BooleanField()
    """Marks a complete form, because browsers do not send unticked boxes."""

    def arguments(self) -> dict[str, Any]:
        """Return the submitted settings."""
        texts = {name: self[name].data for name in SET_NUMBERS}
        values: dict[str, Any] = {
            name: number_or_text(text) for name, text in texts.items() if text
        }
        if self.hosting.data is not None:
            values["hosting"] = self.hosting.data
        if self.settings.data:
            values["stores"] = self.stores.data
        return {"values": values}


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
        """Reject an unknown zone."""
        if field.data and zone_named(field.data) is None:
            raise ValidationError(UNKNOWN_ZONE)

    def validate_at(self, field: Field) -> None:
        """Reject a malformed or past time."""
        if self.moment() is None:
            raise ValidationError(NO_TIME)
        if cast(datetime, self.moment()) < self.now:
            raise ValidationError(PAST)

    def validate_boards(self, field: Field) -> None:
        """Reject malformed boards."""
        try:
            boards = self.board_documents()
            self.error_field = "boards" if boards or self.kind.data == "boards" else "title"
        except UsageError as error:
            raise ValidationError(str(error)) from None

    def moment(self) -> datetime | None:
        """Return the time, interpreted in the form's time zone, or None if it is malformed."""
        return moment_in(self.at.data, self.zone.data)

    def board_documents(self) -> list[dict[str, Any]]:
        """Return the boards of an event that has some; raise UsageError if they are malformed."""
        if self.kind.data not in ("boards", "final"):
            return []
        return read_boards(self.boards.data or "")

    def arguments(self) -> dict[str, Any]:
        """Return the event to plan."""
        event = NewEvent(
            kind=cast(Any, self.kind.data),
            at=cast(datetime, self.moment()),
            title=self.title.data,
            text=self.text.data,
            group=self.group.data,
            boards=self.board_documents(),
            mode="replace" if self.mode.data == "replace" else "add",
            announced=self.announced.data,
        )
        return {"event": event}


# Boards


def read_boards(text: str) -> list[dict[str, Any]]:
    """Parse board types, one per line: `NAME: option=value, option=value x FACTOR`, or JSON.

    Name and factor are optional. Raises UsageError if a line is malformed.
    """
    if text.lstrip().startswith("["):
        try:
            return cast(list[dict[str, Any]], read_json(text))
        except ProtocolError:
            raise UsageError("This is not a JSON list of boards") from None
    return [read_board(line.strip()) for line in text.splitlines() if line.strip()]


def read_board(line: str) -> dict[str, Any]:
    """Parse a line with a board type."""
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
    """Return an option's value: JSON if valid, otherwise the text itself."""
    try:
        return read_json(text)
    except ProtocolError:
        return text


class InvitationForm(HostForm):
    """Create or change the invitation."""

    error_field = "most_teams"

    most_teams = text_field(10)
    most_members = text_field(10)
    is_open = StringField()
    is_new = BooleanField()

    def arguments(self) -> dict[str, Any]:
        """Return the typed values; a limit that is not a number becomes 0."""
        numbers = {
            name: number if isinstance(number := number_or_text(self[name].data), int) else 0
            for name in ("most_teams", "most_members")
        }
        return {**numbers, "is_open": self.is_open.data != "list", "is_new": self.is_new.data}


class ImportForm(HostForm):
    """Add the listed email addresses."""

    error_field = "addresses"

    lines = StringField()
    file = StringField()
    """The content of an uploaded file."""

    def validate_lines(self, field: Field) -> None:
        """Reject a form without email addresses."""
        if not self.texts():
            raise ValidationError("Please enter an email address, or choose a file")

    def arguments(self) -> dict[str, Any]:
        """Return the submitted lists, typed and uploaded."""
        return {"texts": self.texts()}

    def texts(self) -> list[str]:
        """Return the lists that are not blank."""
        return [text for text in (self.lines.data, self.file.data) if text and text.strip()]


def text_of(data: bytes) -> str:
    """Decode a list exported from a spreadsheet, as UTF-8 or cp1252."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("cp1252", "replace")
    return text.replace("\0", "")


class AnnouncementForm(HostForm):
    """Publish an announcement."""

    error_field = "text"

    title = text_field(LONGEST, needs(bool, NO_TITLE))
    text = text_field(LONGEST_TEXT)
    audience = StringField()

    def arguments(self) -> dict[str, Any]:
        """Return the announcement; an invalid audience means no email."""
        audience = next((one for one in get_args(Audience) if one == self.audience.data), None)
        return {"new": Announcement(self.title.data or "", self.text.data or "", audience)}


class AboutForm(HostForm):
    """Change the title and description of the tournament."""

    error_field = "description"

    title = text_field(LONGEST, needs(bool, NO_TITLE))
    description = StringField()

    def arguments(self) -> dict[str, Any]:
        """Return the title and the description."""
        return {"title": self.title.data, "description": self.description.data or ""}
