"""What this package admits of others: no version with a hole that we know."""

from __future__ import annotations

from typing import Final

import pytest
from packaging.requirements import Requirement

from tests.bounds import ROOT, Bounds, Mended

MENDED: Final[Mended] = {
    "aiohttp": {
        "CVE-2024-23334": "3.9.2",
        "CVE-2024-52304": "3.10.11",
        "CVE-2025-53643": "3.12.14",
        "PYSEC-2026-4369": "3.14.4",
        "PYSEC-2026-4370": "3.14.4",
    },
    "aiosmtpd": {"CVE-2024-27305": "1.4.5", "CVE-2024-34083": "1.4.6"},
    "filelock": {"CVE-2025-68146": "3.20.1", "CVE-2026-22701": "3.20.3"},
    "flask": {"GHSA-68rp-wp8r-4726": "3.1.3"},
    "flask-cors": {
        "CVE-2024-6221": "4.0.2",
        "CVE-2024-6839": "6.0.0",
        "CVE-2024-6844": "6.0.0",
        "CVE-2024-6866": "6.0.0",
    },
    "jinja2": {"CVE-2024-56326": "3.1.5", "CVE-2025-27516": "3.1.6"},
    "markdown-it-py": {"CVE-2023-26302": "2.2.0", "CVE-2023-26303": "2.2.0"},
    "pillow": {
        "CVE-2023-50447": "10.2.0",
        "CVE-2024-28219": "10.3.0",
        "CVE-2026-59197": "12.3.0",
    },
    "pytest": {"CVE-2025-71176": "9.0.3"},
    "requests": {
        "CVE-2024-35195": "2.32.0",
        "CVE-2024-47081": "2.32.4",
        "CVE-2026-25645": "2.33.0",
    },
    "urllib3": {
        "CVE-2025-50181": "2.5.0",
        "CVE-2026-21441": "2.6.3",
        "CVE-2026-44431": "2.7.0",
        "CVE-2026-44432": "2.7.0",
    },
    "waitress": {"CVE-2024-49768": "3.0.1", "CVE-2024-49769": "3.0.1"},
    "werkzeug": {
        "CVE-2024-34069": "3.0.3",
        "CVE-2024-49767": "3.0.6",
        "CVE-2026-27199": "3.1.6",
    },
}

BOUNDS: Final = Bounds(ROOT / "pyproject.toml", MENDED)


@pytest.mark.parametrize("requirement", BOUNDS.requirements, ids=str)
def test_every_dependency_has_a_lower_bound(requirement: Requirement) -> None:
    assert ">=" in {one.operator for one in requirement.specifier}


@pytest.mark.parametrize("package", MENDED)
def test_no_version_with_a_known_hole_is_admitted(package: str) -> None:
    assert BOUNDS.admitted_with_hole(package) == []


def test_a_bound_that_a_hole_has_set_names_it() -> None:
    assert BOUNDS.unnamed() == []


def test_every_advisory_beside_a_bound_is_in_the_table() -> None:
    assert BOUNDS.unknown() == set()


def test_what_is_pinned_lies_within_the_bounds() -> None:
    assert BOUNDS.pinned_outside() == []
