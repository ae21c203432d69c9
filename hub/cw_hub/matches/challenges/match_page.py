"""What a match's page shows of its challenge: a link to the series."""

from __future__ import annotations

from typing import Final

from flask import url_for
from markupsafe import Markup

from cw_hub.matches.challenges import views
from cw_hub.matches.kinds import NO_PART, MatchPart
from cw_hub.matches.views import MatchView
from cw_hub.store.database import Reading

TRAIL: Final = Markup('<p class="trail"><a href="{}">The series</a></p>')


def part(reading: Reading, match: MatchView, _battle: int) -> MatchPart:
    """Return the link to a match's series, or nothing for a single match."""
    series = views.series_of(reading, match.match_id)
    if series is None:
        return NO_PART
    return MatchPart(top=TRAIL.format(url_for("challenges.page", challenge=series)))
