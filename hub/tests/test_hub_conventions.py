"""What people expect of the site: a deployment that others read, and packages."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path

import pytest

from tests.test_conventions import built_twice, keeps_to_schema
from tests.typed import ROOT


@pytest.mark.thorough
def test_the_composition_keeps_to_its_schema() -> None:
    keeps_to_schema("compose-spec", "hub/deploy/compose.yaml")


def test_the_hooks_before_a_commit_try_the_layers_of_the_site() -> None:
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    paths = re.findall(r"hub/tests/\S+", hooks)
    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []


@pytest.mark.thorough
def test_packages_of_the_site_are_the_same_to_the_byte_when_built_twice(tmp_path: Path) -> None:
    built = built_twice("hub", tmp_path)
    (wheel,) = (content for name, content in built.items() if name.endswith(".whl"))
    names = zipfile.ZipFile(io.BytesIO(wheel)).namelist()
    assert {f"cw_hub/_assets/{name}" for name in ("static/hub/main.js", "templates/base.html")} <= {
        *names
    }
    assert not [name for name in names if name.startswith(("tests/", "bench/", "cw/"))]
