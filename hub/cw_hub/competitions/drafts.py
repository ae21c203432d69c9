"""Visibility of competitions: public, or for drafts a preview for organisers."""

from __future__ import annotations

from cw_hub.accounts.access.actor import actor
from cw_hub.competitions.verbs import CompetitionFacts


def is_shown(competition: CompetitionFacts) -> bool:
    """Return whether the requester may see a competition; drafts are for admins only."""
    return competition.state != "draft" or actor().is_admin
