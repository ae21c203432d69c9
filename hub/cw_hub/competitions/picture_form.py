"""The form in which organisers set or remove a competition's picture."""

from __future__ import annotations

from typing import Final

from flask import request

from cw_hub.accounts.pictures import uploads
from cw_hub.competitions import verbs as competitions
from cw_hub.competitions.verbs import CompetitionFacts
from cw_hub.pages.limiter import note_done
from cw_hub.pages.parts import notice
from cw_hub.pages.request import resources

CHANGED: Final = "The picture was saved."
REMOVED: Final = "The picture was removed."


def change_picture_of(facts: CompetitionFacts, owner: str, actor: str) -> None:
    """Save or remove the picture as the form requests, and confirm it on the next page.

    `owner` is the uploader of the picture, `actor` the name in the audit. Raises UsageError with a
    message if the file is not a picture.
    """
    hub, is_removed = resources(), "remove" in request.form
    picture = None if is_removed else uploads.keep_upload(owner, "wide")
    with hub.database.writing() as session:
        competitions.set_picture(session, hub.clock, facts.id, picture, actor=actor)
    note_done()
    notice(REMOVED if is_removed else CHANGED)
