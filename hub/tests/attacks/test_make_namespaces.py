"""A program makes namespaces of its own, in which it would be root: the way to most exploits."""

from __future__ import annotations

from pathlib import Path

import pytest

from hub.tests.attacks.boxed import answers
from tests.tools import NEEDS_BUBBLEWRAP


@NEEDS_BUBBLEWRAP
@pytest.mark.parametrize("game", ["paint", "hexagon", "circuit-wars"])
def test_a_program_makes_no_namespace_and_enters_none(game: str, tmp_path: Path) -> None:
    refused = answers("namespaces", tmp_path, game)
    # The first process of the box may be of another user.
    assert refused.pop("setns /proc/1/ns/user") in {"EACCES", "EPERM"}
    assert {"unshare user", "clone user", "clone3 user", "setns /proc/self/ns/net"} <= {*refused}
    expected = {name: "ENOSYS" if name.startswith("clone3") else "EPERM" for name in refused}
    assert refused == expected
