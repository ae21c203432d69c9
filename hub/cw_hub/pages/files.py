"""Static files of the site: their addresses change with the content, so browsers can cache them."""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from flask import Flask, Response, current_app, send_file

from cw.web.modules import IMPORT, one_module

VERSION: Final = re.compile(r"([0-9a-f]{16})/(.+)")
"""The prefix of file addresses: a digest of all files."""

CACHE_CONTROL: Final = "public, max-age=31536000, immutable"


def install(app: Flask) -> None:
    """Serve the static files of an app under versioned addresses."""
    static = Path(app.static_folder or "")
    app.extensions["files"] = version_at_start(static)
    app.view_functions["static"] = read
    app.url_defaults(name_version)


@lru_cache(maxsize=4)
def version_at_start(static: Path) -> str:
    """Return the digest of a folder as first read by this process."""
    return version_of(static)


def version_of(static: Path) -> str:
    """Return a digest of all files in a folder, with their names."""
    digest = sha256()
    for path in sorted(static.rglob("*")):
        if path.is_file():
            digest.update(f"{path.relative_to(static).as_posix()} ".encode())
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
        return current_app.send_static_file(filename)
    version, name = match.groups()
    answer = whole(name)
    if version == current_app.extensions["files"] and answer.status_code == 200:
        answer.headers["Cache-Control"] = CACHE_CONTROL
    return answer


def whole(name: str) -> Response:
    """Return a file; a module is bundled with all its imports."""
    answer = current_app.send_static_file(name)
    if not name.endswith(".js") or answer.status_code != 200:
        return answer
    text = script(Path(current_app.static_folder or ""), name)
    if text is None:
        return answer
    answer.close()
    return send_file(BytesIO(text), "text/javascript", etag=sha256(text).hexdigest()[:32])


@lru_cache(maxsize=256)
def script(static: Path, name: str) -> bytes | None:
    """Return a module bundled with all its imports, or None if it has none; cached."""
    if IMPORT.search((static / name).read_text(encoding="utf-8")) is None:
        return None
    return one_module(static, name).encode()
