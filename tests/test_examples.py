"""The examples in docstrings: each is run as it is printed."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def with_examples(package: Path) -> list[str]:
    """Return the modules of a package that have examples."""
    return sorted(
        ".".join(file.relative_to(package.parent).with_suffix("").parts)
        for file in package.rglob("*.py")
        if ">>> " in file.read_text(encoding="utf-8")
    )


def try_examples(name: str) -> None:
    """Run the examples of a module."""
    failed, tried = doctest.testmod(import_module(name), optionflags=doctest.ELLIPSIS)
    assert tried
    assert not failed


@pytest.mark.parametrize("name", with_examples(ROOT / "cw"))
def test_examples_print_what_they_say(name: str) -> None:
    try_examples(name)
