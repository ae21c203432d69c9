"""The bounds that a package sets to others: they admit no version with a hole that we know."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, TypeAlias

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT: Final = Path(__file__).resolve().parents[1]
ADVISORY: Final = re.compile(r"(?:CVE|PYSEC)-\d{4}-\d+|GHSA(?:-[0-9a-z]{4}){3}")

Mended: TypeAlias = Mapping[str, Mapping[str, str]]
"""By package and advisory, the version from which on all are mended."""


def lowest(requirement: Requirement) -> Version:
    """Return the lowest version that a requirement admits."""
    return max(Version(one.version) for one in requirement.specifier if one.operator == ">=")


class Bounds:
    """What a project asks for: itself, for its extras, and to be built."""

    def __init__(self, project: Path, mended: Mended) -> None:
        self.text = project.read_text(encoding="utf-8")
        self.mended = mended
        self.requirements = list(self.asked_for())

    def asked_for(self) -> Iterator[Requirement]:
        """Return all requirements but the one of the arena, of which there is one version here."""
        document = tomllib.loads(self.text)
        project = document["project"]
        groups = [
            project["dependencies"],
            *project.get("optional-dependencies", {}).values(),
            document["build-system"]["requires"],
        ]
        asked = (Requirement(line) for group in groups for line in group)
        return (one for one in asked if one.name != "circuit-wars")

    def admitted_with_hole(self, package: str) -> list[str]:
        """Return the advisories about a package of which versions are admitted."""
        bounds = [
            lowest(one) for one in self.requirements if canonicalize_name(one.name) == package
        ]
        assert bounds
        mended = self.mended[package].items()
        return [advisory for advisory, version in mended if min(bounds) < Version(version)]

    def unnamed(self) -> list[str]:
        """Return the advisories that have set a bound and are not named beside it."""
        lines = {
            canonicalize_name(Requirement(match[1]).name): match[2]
            for match in re.finditer(r'^  "([^"]+)",(.*)$', self.text, re.MULTILINE)
            if ">=" in match[1]
        }
        bounds = {canonicalize_name(one.name): lowest(one) for one in self.requirements}
        return [
            advisory
            for package, holes in self.mended.items()
            for advisory, version in holes.items()
            if Version(version) == bounds[canonicalize_name(package)]
            and advisory not in lines[canonicalize_name(package)]
        ]

    def unknown(self) -> set[str]:
        """Return the advisories beside bounds that are not known to us."""
        known = {advisory for holes in self.mended.values() for advisory in holes}
        return set(ADVISORY.findall(self.text)) - known

    def pinned_outside(self) -> list[str]:
        """Return what is pinned outside of the bounds, or with a hole."""
        text = (ROOT / "requirements.txt").read_text(encoding="utf-8")
        pins: dict[str, set[str]] = {}
        for name, version in re.findall(r"^([\w.-]+)(?:\[[\w,-]+\])?==([^\s;]+)", text, re.M):
            pins.setdefault(canonicalize_name(name), set()).add(version)
        outside = [
            f"{requirement}: {version}"
            for requirement in self.requirements
            for version in pins[canonicalize_name(requirement.name)]
            if not requirement.specifier.contains(version)
        ]
        return outside + [
            f"{advisory}: {package} {pinned}"
            for package, holes in self.mended.items()
            for pinned in pins[package]
            for advisory, version in holes.items()
            if Version(pinned) < Version(version)
        ]
