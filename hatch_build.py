"""What a package is told when it is built: the commit it comes from, for `cw --version`."""

from __future__ import annotations

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PLACES = {"sdist": "commit", "wheel": "cw/_assets/commit"}


class Commit(BuildHookInterface[Any]):
    """Write the commit into an sdist and a wheel; a wheel of an sdist takes that of the sdist."""

    folder: TemporaryDirectory[str] | None = None
    """Where the file is until the package is built."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name a file with the commit, where it is known; an editable package asks Git itself."""
        if version == "editable":
            return
        file = Path(self.root, PLACES["sdist"])
        if not file.exists():
            self.folder = TemporaryDirectory(prefix="cw-commit-")
            file = Path(self.folder.name, "commit")
            file.write_text(self.commit(), encoding="ascii")
        build_data["force_include"][str(file)] = PLACES[self.target_name]

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the file."""
        if self.folder is not None:
            self.folder.cleanup()

    def commit(self) -> str:
        """Return the short name of the commit of the checkout, empty where there is no Git."""
        command = ["git", "-C", self.root, "rev-parse", "--short", "HEAD"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=5)
        except (OSError, subprocess.SubprocessError):
            return ""
        return done.stdout
