"""The form in which a host says what a tournament is about."""

from __future__ import annotations

from wtforms import StringField

from cw.hub.accounts.forms import needs
from cw.hub.competitions.tournament.events import NO_TITLE
from cw.hub.competitions.tournament.host.forms import LONGEST, HostForm, text_field


class AboutForm(HostForm):
    """Give the tournament another title and description."""

    error_field = "description"

    title = text_field(LONGEST, needs(bool, NO_TITLE))
    description = StringField()

    def words(self) -> dict[str, str]:
        """Return both."""
        return {"title": self.title.data, "description": self.description.data or ""}
