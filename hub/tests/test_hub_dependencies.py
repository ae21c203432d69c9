"""What the site admits of other packages: no version with a hole that we know."""

from __future__ import annotations

from typing import Final

import pytest
from packaging.requirements import Requirement

from cw import __version__
from cw_hub import __version__ as version_of_the_site
from tests.bounds import ROOT, Bounds, Mended

MENDED: Final[Mended] = {
    "authlib": {
        "CVE-2025-61920": "1.6.5",
        "CVE-2026-27962": "1.6.9",
        "CVE-2026-41425": "1.7.2",
        "CVE-2026-44681": "1.7.2",
    },
    "celery": {"CVE-2021-23727": "5.2.2"},
    "cryptography": {
        "CVE-2024-12797": "44.0.1",
        "CVE-2026-26007": "46.0.5",
        "CVE-2026-34073": "46.0.6",
        "CVE-2026-69247": "50.0.0",
    },
}

BOUNDS: Final = Bounds(ROOT / "hub" / "pyproject.toml", MENDED)


@pytest.mark.parametrize("requirement", BOUNDS.requirements, ids=str)
def test_every_dependency_of_the_site_has_a_lower_bound(requirement: Requirement) -> None:
    assert ">=" in {one.operator for one in requirement.specifier}


@pytest.mark.parametrize("package", MENDED)
def test_no_version_of_the_site_with_a_known_hole_is_admitted(package: str) -> None:
    assert BOUNDS.admitted_with_hole(package) == []


def test_a_bound_of_the_site_that_a_hole_has_set_names_it() -> None:
    assert BOUNDS.unnamed() == []


def test_every_advisory_beside_a_bound_of_the_site_is_in_the_table() -> None:
    assert BOUNDS.unknown() == set()


def test_what_is_pinned_of_the_site_lies_within_the_bounds() -> None:
    assert BOUNDS.pinned_outside() == []


def test_the_site_needs_the_arena_of_its_own_version() -> None:
    assert version_of_the_site == __version__
    assert f'"circuit-wars=={__version__}"' in BOUNDS.text
