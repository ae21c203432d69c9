"""The competition formats of a site. To add one, add its folder and a line here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

from flask import current_app

from cw_hub.competitions.cup import format as cup_format
from cw_hub.competitions.daily import format as daily_format
from cw_hub.competitions.format import Format, match_types
from cw_hub.competitions.rated import format as rated_format
from cw_hub.competitions.tournament import format as tournament_format

FORMATS: Final[tuple[Format, ...]] = (
    rated_format.FORMAT,
    daily_format.FORMAT,
    tournament_format.FORMAT,
    cup_format.FORMAT,
)
"""The formats, in the order in which ticks plan them and profiles show them."""

MATCH_TYPES: Final = match_types(FORMATS)


def site_formats() -> Sequence[Format]:
    """Return the formats of the site that handles this request."""
    return cast(Sequence[Format], current_app.extensions["formats"])
