"""The rated competition on a match page: why the ratings changed."""

from __future__ import annotations

from cw_hub.competitions.rated.explanations.reasons import changes_of
from cw_hub.matches.kinds import NO_PART, MatchPart
from cw_hub.matches.views import MatchView
from cw_hub.pages.parts import part_of_page
from cw_hub.store.database import Reading


def part(_reading: Reading, match: MatchView, _battle: int) -> MatchPart:
    """Return a sentence for each bot of a rated match, with the figures behind it."""
    changes = changes_of(match)
    if not changes:
        return NO_PART
    return MatchPart(
        below=part_of_page("hub/competitions/rated/match_changes.html", changes=changes)
    )
