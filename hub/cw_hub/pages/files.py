"""Static files of the site: their addresses change with the content, so browsers can cache them."""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from flask import Flask, Response, abort, current_app, send_file
from jinja2 import ChoiceLoader, FileSystemLoader, PrefixLoader

from cw.assets import asset as arena_asset
from cw_hub.assets import asset
from cw_hub.pages.modules import IMPORT, found, one_module

VERSION: Final = re.compile(r"([0-9a-f]{16})/(.+)")
"""The prefix of file addresses: a digest of all files."""

CACHE_CONTROL: Final = "public, max-age=31536000, immutable"

STATIC: Final = (asset("static"), arena_asset("static"))
"""The folders of static files: of the site, and of the arena's pages."""


def install(app: Flask) -> None:
    """Serve the static files of the site and of the arena under versioned addresses.

    A template of the site takes the place of one of the arena with the same name, which it can
    extend as `arena/NAME`.
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
    """Return a digest of all files in folders, with their names."""
    digest = sha256()
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                digest.update(f"{path.relative_to(folder).as_posix()} ".encode())
                digest.update(sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def name_version(endpoint: str, values: dict[str, Any]) -> None:
    """Add the version to the address of a static file."""
    if endpoint == "static":
        values["filename"] = f"{current_app.extensions['files']}/{values['filename']}"


def read(filename: str) -> Response:
    """Return a file; a module is bundled with all its imports.

    While processes are replaced, a request may name another version of the program; it gets the
    present file, without caching.
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
    """Return a static file, with 404 if there is none."""
    return found(STATIC, name) or abort(404)


def whole(name: str) -> Response:
    """Return a file; a module is bundled with all its imports."""
    text = script(name) if name.endswith(".js") else None
    if text is None:
        return send_file(file_of(name))
    return send_file(BytesIO(text), "text/javascript", etag=sha256(text).hexdigest()[:32])


@lru_cache(maxsize=256)
def script(name: str) -> bytes | None:
    """Return a module bundled with all its imports, or None if it has none; cached."""
    if IMPORT.search(file_of(name).read_text(encoding="utf-8")) is None:
        return None
    return one_module(STATIC, name).encode()
