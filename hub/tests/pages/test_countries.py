"""The countries are those of ISO 3166-1, each with its flag."""

from __future__ import annotations

from xml.etree import ElementTree

from cw_hub.assets import asset
from cw_hub.pages.layout import COUNTRIES, FLAGS, sort_key


def test_they_have_common_names_in_alphabetical_order() -> None:
    assert len(COUNTRIES) == 249
    assert list(COUNTRIES)[:3] == ["AF", "AX", "AL"]
    assert list(COUNTRIES.values()) == sorted(COUNTRIES.values(), key=sort_key)
    common = {"GR": "Greece", "TW": "Taiwan", "VA": "Vatican City", "CD": "Democratic Republic"}
    assert {code: COUNTRIES[code][: len(name)] for code, name in common.items()} == common


def test_each_has_a_flag_without_script_or_link() -> None:
    for code in COUNTRIES:
        path = asset("static") / FLAGS / f"{code.lower()}.svg"
        picture = ElementTree.parse(path).getroot()
        assert picture.tag == "{http://www.w3.org/2000/svg}svg", code
        for part in picture.iter():
            assert not part.tag.endswith(("script", "foreignObject")), code
            for name, value in part.attrib.items():
                assert not name.startswith("on"), code
                assert not name.endswith("href") or value.startswith("#"), code
