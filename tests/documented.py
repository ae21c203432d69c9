"""What documents show: the games of docs/add-a-game.md as packages, programs and files."""

from __future__ import annotations

import atexit
import re
import textwrap
import tomllib
from functools import cache
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

DOCS = Path(__file__).resolve().parents[1] / "docs"
FILE = re.compile(r"^`([\w./]+)`:\n\n```\w+\n(.*?)^```", re.M | re.S)


@cache
def installed() -> Path:
    """Return a folder with the packages of the page, to be put on the search path."""
    # Not a TemporaryDirectory: each process that Python 3.13 forks drops the exit handlers, and the
    # folder would be removed with the last reference to it.
    folder = mkdtemp(prefix="cw-documented-")
    atexit.register(rmtree, folder)
    return install(Path(folder))


def install(folder: Path) -> Path:
    """Write both packages, with what an installer adds; return the folder."""
    install_nim(folder)
    return place(folder, tron())


def install_nim(folder: Path) -> Path:
    """Write the package of the page alone; return the folder."""
    return place(folder, on_page())


def tron() -> dict[str, str]:
    """Return the files of the example that the page names."""
    return {
        file.relative_to(DOCS / "tron").as_posix(): file.read_text("utf-8")
        for file in (DOCS / "tron" / "pyproject.toml", *(DOCS / "tron" / "tron").glob("*.py"))
    }


def on_page() -> dict[str, str]:
    """Return the files that the page writes down."""
    return dict(FILE.findall((DOCS / "add-a-game.md").read_text("utf-8")))


def place(folder: Path, files: dict[str, str]) -> Path:
    """Write the files of a package, and what an installer writes beside it; return the folder."""
    project = tomllib.loads(files.pop("pyproject.toml"))["project"]
    metadata = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    points = "\n".join(
        f"[{group}]\n" + "\n".join(f"{name} = {where}" for name, where in entries.items())
        for group, entries in project["entry-points"].items()
    )
    information = f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    files |= {f"{information}/METADATA": metadata, f"{information}/entry_points.txt": points}
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return folder


def programs(page: str = "default-protocol.md") -> dict[str, str]:
    """Return the programs of a page of docs/ by the names of their files."""
    text = (DOCS / page).read_text("utf-8")
    return dict(re.findall(r"^```python\n# (\w+\.py)\n(.*?)^```", text, re.M | re.S))


def blocks(page: Path) -> list[str]:
    """Return the blocks of code of a page, fenced or indented."""
    text = page.read_text(encoding="utf-8")
    fenced = re.findall(r"^```\w+\n(.*?)^```$", text, re.M | re.S)
    return fenced + [textwrap.dedent(one) for one in re.findall(r"(?:^    .*\n)+", text, re.M)]


def block(page: Path, start: str) -> str:
    """Return the only block of a page that starts so."""
    (text,) = (one for one in blocks(page) if one.startswith(start))
    return text
