"""Which teams are taken."""

from __future__ import annotations

from pathlib import Path

import pytest

from cw.championship.teams import read_teams
from cw.errors import UsageError


def test_two_teams_of_one_folder_are_refused(tmp_path: Path) -> None:
    for name in ("ann", "bob"):
        (tmp_path / f"{name}.py").touch()
    file = tmp_path / "teams.toml"
    bots = {name: str(tmp_path / f"{name}.py") for name in ("ann", "bob")}
    file.write_text("".join(f"[teams.{name}]\nbot = '{bot}'\n" for name, bot in bots.items()))
    with pytest.raises(UsageError, match=r"ann and bob both lie in .* a folder of its own"):
        read_teams(file)
