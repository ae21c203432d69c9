"""Who sees a competition: everybody, and a draft its organisers alone, as a preview."""

from __future__ import annotations

from cw.hub.accounts.access.actor import actor
from cw.hub.competitions.verbs import CompetitionFacts


def is_shown(competition: CompetitionFacts) -> bool:
    """Return whether the one who asks sees a competition: a draft is for admins alone."""
    return competition.state != "draft" or actor().is_admin
