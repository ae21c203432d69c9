"""What this package admits of others: no version with a hole that we know."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT: Final = Path(__file__).resolve().parents[1]
PROJECT: Final = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
ADVISORY: Final = re.compile(r"(?:CVE|PYSEC)-\d{4}-\d+|GHSA(?:-[0-9a-z]{4}){3}")

MENDED: Final[Mapping[str, Mapping[str, str]]] = {
    "aiohttp": {
        "CVE-2024-23334": "3.9.2",
        "CVE-2024-52304": "3.10.11",
        "CVE-2025-53643": "3.12.14",
        "PYSEC-2026-4369": "3.14.4",
        "PYSEC-2026-4370": "3.14.4",
    },
    "aiosmtpd": {"CVE-2024-27305": "1.4.5", "CVE-2024-34083": "1.4.6"},
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
"""By package and advisory, the version from which on all are mended."""


def asked_for() -> Iterator[Requirement]:
    """Return what the package needs itself, for its extras, and to be built."""
    document = tomllib.loads(PROJECT)
    project = document["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    for group in [*groups, document["build-system"]["requires"]]:
        yield from map(Requirement, group)


REQUIREMENTS: Final = list(asked_for())


def lowest(requirement: Requirement) -> Version:
    """Return the lowest version that a requirement admits."""
    return max(Version(one.version) for one in requirement.specifier if one.operator == ">=")


@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=str)
def test_every_dependency_has_a_lower_bound(requirement: Requirement) -> None:
    assert ">=" in {one.operator for one in requirement.specifier}


@pytest.mark.parametrize("package", MENDED)
def test_no_version_with_a_known_hole_is_admitted(package: str) -> None:
    bounds = [lowest(one) for one in REQUIREMENTS if canonicalize_name(one.name) == package]
    assert bounds
    for advisory, mended in MENDED[package].items():
        assert min(bounds) >= Version(mended), advisory


def test_a_bound_that_a_hole_has_set_names_it() -> None:
    lines = {
        canonicalize_name(Requirement(match[1]).name): match[2]
        for match in re.finditer(r'^  "([^"]+)",(.*)$', PROJECT, re.MULTILINE)
        if ">=" in match[1]
    }
    bounds = {canonicalize_name(one.name): lowest(one) for one in REQUIREMENTS}
    for package, holes in MENDED.items():
        for advisory, mended in holes.items():
            if Version(mended) == bounds[canonicalize_name(package)]:
                assert advisory in lines[canonicalize_name(package)]


def test_every_advisory_beside_a_bound_is_in_the_table() -> None:
    advisories = {advisory for holes in MENDED.values() for advisory in holes}
    assert set(ADVISORY.findall(PROJECT)) <= advisories


def test_what_is_pinned_lies_within_the_bounds() -> None:
    text = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    pins: dict[str, set[str]] = {}
    for name, version in re.findall(r"^([\w.-]+)(?:\[[\w,-]+\])?==([^\s;]+)", text, re.MULTILINE):
        pins.setdefault(canonicalize_name(name), set()).add(version)
    for requirement in REQUIREMENTS:
        for version in pins[canonicalize_name(requirement.name)]:
            assert requirement.specifier.contains(version), requirement
    for package, holes in MENDED.items():
        for pinned in pins[package]:
            assert all(Version(pinned) >= Version(mended) for mended in holes.values()), package
