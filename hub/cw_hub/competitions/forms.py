"""Form fields of competitions: the settings of their format, and the preview image."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from flask import request

from cw.errors import ProtocolError, UsageError
from cw.games.wire import read_json
from cw_hub.accounts import picture_uploads
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.service import CompetitionFacts
from cw_hub.pages.layout import notice
from cw_hub.pages.request import resources
from cw_hub.pages.request_counts import note_done

OPTIONS_HINT: Final = 'A JSON object such as {"size": 5}. Default: the usual options of the game.'


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingField:
    """A setting of a format as a form field."""

    name: str
    """The name in a competition's settings and in `cw hub competition set`."""
    label: str
    hint: str = ""
    """What the setting does, and its default if the field is left empty."""
    kind: Literal["text", "choice", "flag", "json"] = "text"
    choices: Sequence[str] = ()
    """For a field of kind `choice`; the first is the default."""

    def read(self, text: str) -> Any:
        """Parse a field's text according to its kind; raise UsageError for invalid JSON."""
        if self.kind == "flag":
            return text == "true"
        if self.kind != "json":
            return text
        try:
            return read_json(text)
        except ProtocolError:
            raise UsageError(f'{self.label} must be a JSON object, such as {{"size": 5}}') from None

    def show(self, value: Any) -> str:
        """Return a value as the text of its form field; "" for None."""
        if value is None:
            return ""
        if self.kind == "json":
            return json.dumps(value) if value else ""
        if self.kind == "flag":
            return "true" if value in (True, "true") else ""
        if isinstance(value, list | tuple):
            return ",".join(map(str, value))
        return f"{value:g}" if isinstance(value, float) else str(value)


def read_all(fields: Sequence[SettingField], typed: Mapping[str, str]) -> dict[str, Any]:
    """Parse the settings of a form; empty fields are left unset, and flags are false.

    Raises UsageError, naming the field's label, for an invalid value.
    """
    return {
        field.name: field.read(typed.get(field.name, "").strip())
        for field in fields
        if field.kind == "flag" or typed.get(field.name, "").strip()
    }


def show_all(fields: Sequence[SettingField], settings: Mapping[str, Any]) -> dict[str, str]:
    """Return settings as the texts of their form fields."""
    return {field.name: field.show(settings.get(field.name)) for field in fields}


CHANGED: Final = "The picture was saved."
REMOVED: Final = "The picture was removed."


def change_picture_of(facts: CompetitionFacts, owner: str, actor: str) -> None:
    """Save or remove the image as the form requests, and confirm it on the next page.

    `owner` is the uploader of the image, `actor` the name in the audit log. Raises UsageError with
    a message if the file is not an image.
    """
    is_removed = "remove" in request.form
    picture = None if is_removed else picture_uploads.keep_upload(owner, "wide")
    with resources().database.writing(actor) as session:
        competitions_service.set_picture(session, facts.id, picture)
    note_done()
    notice(REMOVED if is_removed else CHANGED)
