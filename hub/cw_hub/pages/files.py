"""Serves static files and templates of site and arena; bundles a page's script modules."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from posixpath import dirname, relpath
from typing import Any, Final

from flask import Flask, Response, abort, current_app, send_file
from jinja2 import ChoiceLoader, FileSystemLoader, PrefixLoader
from werkzeug.security import safe_join

from cw.assets import asset as arena_asset
from cw.errors import Failure
from cw.web.replay_export import beside
from cw.web.replay_export import read as replay_export_read
from cw_hub.assets import asset

BUNDLES: Final = "vendor/"
"""The folder of third-party code, below a folder of static files."""

IMPORT: Final = re.compile(
    r'^import (?:(?P<default>\w+) from |\{(?P<names>[^}]*)\}\s*from )?"(?P<place>\.[^"]+)";\n', re.M
)
DECLARED: Final = re.compile(r"^export (?=(?:async )?(?:function\*?|class|const) (\w+))", re.M)
LISTED: Final = re.compile(r"^export \{([^}]*)\};\n?", re.M)
COMMENT: Final = re.compile(r"^/\*.*?\*/\n?", re.M | re.S)
LEFT_OVER: Final = re.compile(r"^(?:import|export)\b.*", re.M)


def one_module(folders: Sequence[Path], entry: str) -> str:
    """Bundle a module with all its imports; `entry` is its path below one of the folders.

    Raises Failure for circular imports, for imports found in none of the folders, and for
    unsupported forms of imports and exports.
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
    """Return whether a module is a third-party bundle, whose exports are not written like ours."""
    return name.startswith(BUNDLES) and not dict(exported(source))


def apart(name: str, entry: str, number: int) -> str:
    """Return the line that imports all exports of a module that is not bundled."""
    place = relpath(name, dirname(entry))
    return f'import * as m{number} from "{place if place[0] == "." else f"./{place}"}";\n'


def place_after_imports(
    folders: Sequence[Path], name: str, sources: dict[str, str], above: tuple[str, ...]
) -> None:
    """Add a module's source, after those of all its imports."""
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
    """Return the file with that path in the first folder that has it, or None."""
    paths = (safe_join(str(folder), name) for folder in folders)
    return next((Path(path) for path in paths if path and Path(path).is_file()), None)


def source_of(file: Path) -> str:
    """Return a module without the comments that contain imports or exports; licences stay."""
    return COMMENT.sub(
        lambda match: "" if LEFT_OVER.search(match[0]) else match[0], replay_export_read(file)
    )


def block(source: str, name: str, numbers: dict[str, int]) -> str:
    """Return a module as a block that assigns its exports to a numbered constant."""
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
    """Yield the exported name and the internal name of each export of a module."""
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


VERSION: Final = re.compile(r"([0-9a-f]{16})/(.+)")
"""The prefix of static file URLs: a digest of all files."""

CACHE_CONTROL: Final = "public, max-age=31536000, immutable"

STATIC: Final = (asset("static"), arena_asset("static"))
"""The folders of static files: those of the site and of the arena's pages."""


def install(app: Flask) -> None:
    """Serve the static files of the site and of the arena under versioned URLs.

    A site template replaces the arena template with the same name, which it can extend as
    `arena/NAME`.
    """
    own, arena = map(FileSystemLoader, (asset("templates"), arena_asset("templates")))
    further = app.jinja_env.loader or arena
    app.jinja_env.loader = ChoiceLoader([own, further, PrefixLoader({"arena": arena})])
    app.extensions["files"] = version_at_start()
    app.view_functions["static"] = read
    app.url_defaults(name_version)


@lru_cache(maxsize=1)
def version_at_start() -> str:
    """Return the digest of all static files as first read by this process."""
    return version_of(*STATIC)


def version_of(*folders: Path) -> str:
    """Return a digest of all files in some folders, including their names."""
    digest = sha256()
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                digest.update(f"{path.relative_to(folder).as_posix()} ".encode())
                digest.update(sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def name_version(endpoint: str, values: dict[str, Any]) -> None:
    """Add the version to the URL of a static file."""
    if endpoint == "static":
        values["filename"] = f"{current_app.extensions['files']}/{values['filename']}"


def read(filename: str) -> Response:
    """Return the response with a static file; a module is bundled with all its imports.

    During a rolling update, a request may name another version of the program; it gets the current
    file, without caching.
    """
    match = VERSION.fullmatch(filename)
    if match is None:
        return send_file(file_of(filename))
    version, name = match.groups()
    answer = whole(name)
    if version == current_app.extensions["files"]:
        answer.headers["Cache-Control"] = CACHE_CONTROL
    return answer


def file_of(name: str) -> Path:
    """Return the path of a static file; abort with 404 if there is none."""
    return found(STATIC, name) or abort(404)


def whole(name: str) -> Response:
    """Return a response with a file; a module is bundled with all its imports."""
    text = script(name) if name.endswith(".js") else None
    if text is None:
        return send_file(file_of(name))
    return send_file(BytesIO(text), "text/javascript", etag=sha256(text).hexdigest()[:32])


@lru_cache(maxsize=256)
def script(name: str) -> bytes | None:
    """Return a module bundled with all its imports, or None if it has no imports; cached."""
    if IMPORT.search(file_of(name).read_text(encoding="utf-8")) is None:
        return None
    return one_module(STATIC, name).encode()
