"""The form for a tournament's title and description."""

from __future__ import annotations

from wtforms import StringField

from cw_hub.accounts.forms import needs
from cw_hub.competitions.tournament.events import NO_TITLE
from cw_hub.competitions.tournament.host.forms import LONGEST, HostForm, text_field


class AboutForm(HostForm):
    """Change the title and description of the tournament."""

    error_field = "description"

    title = text_field(LONGEST, needs(bool, NO_TITLE))
    description = StringField()

    def words(self) -> dict[str, str]:
        """Return the title and the description."""
        return {"title": self.title.data, "description": self.description.data or ""}
