"""A host's changes to tournament settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy.orm import Session

from cw.errors import UsageError
from cw_hub.accounts import audit
from cw_hub.clock import Clock
from cw_hub.competitions import verbs as competitions
from cw_hub.competitions.tournament.groups import groups_of, mark_changed
from cw_hub.competitions.tournament.settings import CHANGEABLE, FORMAT, settings_of, stored_settings
from cw_hub.competitions.verbs import OPERATOR


def change_settings(
    session: Session,
    clock: Clock,
    competition: int,
    values: Mapping[str, Any],
    *,
    actor: str = OPERATOR,
) -> None:
    """Change settings of a tournament; after its start, only those in CHANGEABLE.

    Raises UsageError if a setting is invalid.
    """
    row = competitions.lock(session, competition)
    before = stored_settings(row.game, row.settings)
    after = settings_of(row.game, {**row.settings, **values})
    fixed = [name for name in values if name not in CHANGEABLE]
    if row.state != "draft" and any(
        getattr(before, name) != getattr(after, name) for name in fixed
    ):
        raise UsageError(f"after the start only {', '.join(CHANGEABLE)} may change")
    row.settings = {**row.settings, **values}
    mark_changed(row, *groups_of(session, competition))
    subject = f"competition:{FORMAT}/{row.slug}"
    audit.note(session, clock, actor, "set", subject, detail=values, competition_id=row.id)
