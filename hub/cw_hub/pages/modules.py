"""Bundles the script of a page and all modules it imports: one request instead of many.

Each module becomes a block with its own names, and takes its imports from the objects of other
modules. Supports only our import style and refuses others, except in third-party bundles, which
remain separate modules.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from posixpath import dirname, relpath
from typing import Final

from werkzeug.security import safe_join

from cw.errors import Failure
from cw.web.replays.export import beside, read

BUNDLES: Final = "vendor/"
"""The folder of third-party code."""

IMPORT: Final = re.compile(
    r'^import (?:(?P<default>\w+) from |\{(?P<names>[^}]*)\}\s*from )?"(?P<place>\.[^"]+)";\n', re.M
)
DECLARED: Final = re.compile(r"^export (?=(?:async )?(?:function\*?|class|const) (\w+))", re.M)
LISTED: Final = re.compile(r"^export \{([^}]*)\};\n?", re.M)
COMMENT: Final = re.compile(r"^/\*.*?\*/\n?", re.M | re.S)
LEFT_OVER: Final = re.compile(r"^(?:import|export)\b.*", re.M)


def one_module(folders: Sequence[Path], entry: str) -> str:
    """Bundle a module with all its imports; `entry` is its path below one of the folders.

    Raises Failure if modules import each other or what is in none of the folders, or for imports
    and exports of another style.
    """
    sources: dict[str, str] = {}
    place_after_imports(folders, entry, sources, ())
    numbers = {name: number for number, name in enumerate(sources)}
    return "".join(
        apart(name, entry, numbers[name])
        if is_bundle(name, source)
        else block(source, name, numbers)
        for name, source in sources.items()
    )


def is_bundle(name: str, source: str) -> bool:
    """Return whether a module is a third-party bundle, whose exports are not written as ours."""
    return name.startswith(BUNDLES) and not dict(exported(source))


def apart(name: str, entry: str, number: int) -> str:
    """Return the line that imports all exports of a separate module."""
    place = relpath(name, dirname(entry))
    return f'import * as m{number} from "{place if place[0] == "." else f"./{place}"}";\n'


def place_after_imports(
    folders: Sequence[Path], name: str, sources: dict[str, str], above: tuple[str, ...]
) -> None:
    """Add the source of a module, after those of all its imports."""
    if name in sources:
        return
    if name in above:
        raise Failure(f"these modules import each other: {', '.join((*above, name))}")
    file = found(folders, name)
    if file is None:
        raise Failure(f"there is no module {name}")
    source = source_of(file)
    for match in IMPORT.finditer(source):
        place_after_imports(folders, beside(name, match["place"]), sources, (*above, name))
    sources[name] = source


def found(folders: Sequence[Path], name: str) -> Path | None:
    """Return the file of that path below the first of the folders that has it, or None."""
    paths = (safe_join(str(folder), name) for folder in folders)
    return next((Path(path) for path in paths if path and Path(path).is_file()), None)


def source_of(file: Path) -> str:
    """Return a module without comments that contain imports or exports; licences stay."""
    return COMMENT.sub(lambda match: "" if LEFT_OVER.search(match[0]) else match[0], read(file))


def block(source: str, name: str, numbers: dict[str, int]) -> str:
    """Return a module as a block that leaves its exports in a constant with its number."""
    exports = dict(exported(source))
    body = IMPORT.sub(lambda match: assignment(match, name, numbers), source)
    body = LISTED.sub("", DECLARED.sub("", body))
    unread = LEFT_OVER.search(body)
    if unread is not None:
        raise Failure(f"{name}: unsupported form of import or export: {unread[0][:80]}")
    number = numbers[name]
    gives = ", ".join(f"{outside}: {inside}" for outside, inside in exports.items())
    return f"const m{number} = {{}};\n{{\n{body}\nObject.assign(m{number}, {{ {gives} }});\n}}\n"


def exported(source: str) -> Iterator[tuple[str, str]]:
    """Yield each export of a module: its exported name, and its own."""
    for match in DECLARED.finditer(source):
        yield match[1], match[1]
    for match in LISTED.finditer(source):
        for part in filter(None, map(str.strip, match[1].split(","))):
            inside, _, outside = part.partition(" as ")
            yield outside or inside, inside


def assignment(match: re.Match[str], name: str, numbers: dict[str, int]) -> str:
    """Return the assignment that replaces an import."""
    source = f"m{numbers[beside(name, match['place'])]}"
    if match["default"]:
        return f"const {{ default: {match['default']} }} = {source};\n"
    names = " ".join((match["names"] or "").split()).replace(" as ", ": ")
    return f"const {{ {names} }} = {source};\n" if names else ""
