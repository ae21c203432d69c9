"""The form in which organisers choose the picture of a competition, or remove it."""

from __future__ import annotations

from typing import Final

from flask import request

from cw.hub.accounts.pictures import uploads
from cw.hub.competitions import verbs as competitions
from cw.hub.competitions.verbs import CompetitionFacts
from cw.hub.pages.limiter import note_done
from cw.hub.pages.parts import notice
from cw.hub.pages.request import resources

CHANGED: Final = "The picture was saved."
REMOVED: Final = "The picture was removed."


def change_picture_of(facts: CompetitionFacts, owner: str, actor: str) -> None:
    """Keep the picture of the form, or none, and let the next page say so.

    `owner` is whose picture is read, `actor` who is noted in the audit. Raises UsageError, in a
    sentence, for a file that is no picture.
    """
    hub, is_removed = resources(), "remove" in request.form
    picture = None if is_removed else uploads.keep_upload(owner, "wide")
    with hub.database.writing() as session:
        competitions.set_picture(session, hub.clock, facts.id, picture, actor=actor)
    note_done()
    notice(REMOVED if is_removed else CHANGED)
