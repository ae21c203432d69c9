"""Bundle CodeMirror into static/vendor: `python docs/make_editor.py`, with Node and npm.

The versions are in docs/editor/package-lock.json; bundle.js has what pages use of them.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
EDITOR: Final = ROOT / "docs" / "editor"
VENDOR: Final = ROOT / "static" / "vendor"
NAMED_AFTER: Final = "@codemirror/view"
"""The package whose version names the folder."""

BUNDLER: Final = "esbuild"


def main() -> None:
    """Write the bundle and the licences of what is in it."""
    with TemporaryDirectory() as folder:
        place = Path(folder)
        for name in ("package.json", "package-lock.json", "bundle.js"):
            shutil.copy(EDITOR / name, place)
        run("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", where=place)
        packages = bundled(place)
        target = VENDOR / f"codemirror-{packages[NAMED_AFTER]['version']}"
        target.mkdir(parents=True, exist_ok=True)
        run(
            *("npx", BUNDLER, "bundle.js", "--bundle", "--minify", "--format=esm"),
            *("--target=es2022", "--legal-comments=none"),
            f"--outfile={target / 'codemirror.js'}",
            where=place,
        )
        (target / "LICENSE").write_text(licences(place, packages), encoding="utf-8")


def run(*command: str, where: Path) -> None:
    """Run a command in a folder; raise CalledProcessError if it fails."""
    subprocess.run(command, cwd=where, check=True)


def bundled(place: Path) -> dict[str, dict[str, Any]]:
    """Return what the lock file says of each package in the bundle, by name."""
    lock = json.loads((place / "package-lock.json").read_text(encoding="utf-8"))
    named = {path.removeprefix("node_modules/"): entry for path, entry in lock["packages"].items()}
    return {name: entry for name, entry in named.items() if name and BUNDLER not in name}


def licences(place: Path, packages: dict[str, dict[str, Any]]) -> str:
    """Return each licence once, under the packages and versions that it is for."""
    texts: dict[str, list[str]] = {}
    for name, entry in packages.items():
        text = (place / "node_modules" / name / "LICENSE").read_text(encoding="utf-8")
        texts.setdefault(text.strip(), []).append(f"{name} {entry['version']}")
    return "\n\n".join(f"{', '.join(names)}\n\n{text}" for text, names in texts.items()) + "\n"


if __name__ == "__main__":
    main()
