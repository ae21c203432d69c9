"""The 249 countries of ISO 3166-1, with their common English names and their flags."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Final

import pycountry

from cw_hub.pages.parts import address_of

FLAGS: Final = "vendor/flag-icons-7.5.0"
"""The folder of the flags in static/, with a file per country named by its two letters."""

COMMON_NAMES: Final[Mapping[str, str]] = {
    "BN": "Brunei",
    "BQ": "Caribbean Netherlands",
    "CD": "Democratic Republic of the Congo",
    "CG": "Republic of the Congo",
    "CV": "Cape Verde",
    "FK": "Falkland Islands",
    "FM": "Micronesia",
    "MF": "Saint Martin",
    "MO": "Macau",
    "PN": "Pitcairn Islands",
    "PS": "Palestine",
    "RU": "Russia",
    "SX": "Sint Maarten",
    "VA": "Vatican City",
    "VG": "British Virgin Islands",
    "VI": "United States Virgin Islands",
}
"""Common names for countries of which pycountry has only the formal name."""


def names() -> dict[str, str]:
    """Return the names of all countries by two-letter code, in alphabetical order."""
    by_code = {
        country.alpha_2: COMMON_NAMES.get(country.alpha_2)
        or getattr(country, "common_name", country.name)
        for country in pycountry.countries
    }
    return dict(sorted(by_code.items(), key=lambda item: sort_key(item[1])))


def sort_key(name: str) -> str:
    """Return a name without accents and case, for sorting."""
    letters = unicodedata.normalize("NFD", name)
    return "".join(letter for letter in letters if not unicodedata.combining(letter)).casefold()


COUNTRIES: Final[Mapping[str, str]] = names()


def flag(country: str) -> str:
    """Return the address of a country's flag."""
    return address_of("static", filename=f"{FLAGS}/{country.lower()}.svg")


def folder_of_flags() -> str:
    """Return the address of the folder of flags, for scripts."""
    return address_of("static", filename=FLAGS)
