"""A host's forms for invitations, announcements, and other hosts."""

from __future__ import annotations

from typing import Any, get_args

from wtforms import BooleanField, Field, StringField, ValidationError

from cw_hub.accounts.forms import needs
from cw_hub.competitions.tournament.events import LONGEST_TEXT, NO_TITLE
from cw_hub.competitions.tournament.host.forms import (
    LONGEST,
    HostForm,
    number_or_text,
    text_field,
)
from cw_hub.competitions.tournament.people.announcements import Announcement, Audience


class InvitationForm(HostForm):
    """Create or change the invitation."""

    error_field = "most_teams"

    most_teams = text_field(10)
    most_members = text_field(10)
    is_open = StringField()
    is_new = BooleanField()

    def values(self) -> dict[str, Any]:
        """Return its limits; 0 if not a number."""
        numbers = {
            name: number if isinstance(number := number_or_text(self[name].data), int) else 0
            for name in ("most_teams", "most_members")
        }
        return {**numbers, "is_open": self.is_open.data != "list", "is_new": self.is_new.data}


class ImportForm(HostForm):
    """Add the listed addresses."""

    error_field = "addresses"

    lines = StringField()
    file = StringField()
    """The text of an uploaded file."""

    def validate_lines(self, field: Field) -> None:
        """Reject a form without addresses."""
        if not self.texts():
            raise ValidationError("Please enter an e-mail address, or choose a file")

    def texts(self) -> list[str]:
        """Return the submitted lists, typed and uploaded."""
        return [text for text in (self.lines.data, self.file.data) if text and text.strip()]


def text_of(data: bytes) -> str:
    """Decode a list written by a spreadsheet, as UTF-8 or cp1252."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("cp1252", "replace")
    return text.replace("\0", "")


class NameForm(HostForm):
    """Name an account."""

    error_field = "name"

    name = text_field(100, needs(bool, "Please enter a username"))


class RemoveHostForm(NameForm):
    """Remove a host; the box must be ticked."""

    sure = StringField(
        validators=[needs(bool, "Nothing has changed: tick the box to remove the host")]
    )


class AnnouncementForm(HostForm):
    """Announce something to everybody."""

    error_field = "text"

    title = text_field(LONGEST, needs(bool, NO_TITLE))
    text = text_field(LONGEST_TEXT)
    audience = StringField()

    def announcement(self) -> Announcement:
        """Return the announcement; an invalid audience means no mail."""
        audience = next((one for one in get_args(Audience) if one == self.audience.data), None)
        return Announcement(self.title.data or "", self.text.data or "", audience)
