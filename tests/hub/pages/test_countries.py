"""The countries are those of ISO 3166-1, each with its flag."""

from __future__ import annotations

import unicodedata
from xml.etree import ElementTree

import pycountry
import pytest

from cw.assets import asset
from cw.hub.pages.countries import COUNTRIES
from cw.hub.pages.layout import FLAGS

COMMON = {
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
"""Where English speaks otherwise than the standard, and pycountry knows no common name."""


def plain(name: str) -> str:
    """Return a name without accents and case, by which it is found in a list."""
    parts = unicodedata.normalize("NFD", name)
    return "".join(sign for sign in parts if not unicodedata.combining(sign)).casefold()


def test_they_are_those_of_the_standard() -> None:
    standard = {
        country.alpha_2: COMMON.get(country.alpha_2)
        or getattr(country, "common_name", country.name)
        for country in pycountry.countries
    }
    assert dict(COUNTRIES) == standard
    assert len(COUNTRIES) == 249


def test_they_stand_in_the_order_of_their_names() -> None:
    names = [plain(name) for name in COUNTRIES.values()]
    assert names == sorted(names)


@pytest.mark.parametrize("code", COUNTRIES)
def test_each_has_a_flag_without_script_or_link(code: str) -> None:
    picture = ElementTree.parse(asset("static") / FLAGS / f"{code.lower()}.svg").getroot()
    assert picture.tag == "{http://www.w3.org/2000/svg}svg"
    for part in picture.iter():
        assert not part.tag.endswith(("script", "foreignObject"))
        for name, value in part.attrib.items():
            assert not name.startswith("on")
            assert not name.endswith("href") or value.startswith("#")
