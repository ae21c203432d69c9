"""Links to replays and maps: whoever has one may read its object for an hour.

They point to the site itself, which passes on the content of the store, unless browsers can reach
the store. Files generated from an archive are always served by the site.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator
from datetime import timedelta
from hashlib import sha384
from typing import Final, cast

from flask import Blueprint, Flask, Response, abort, current_app, request, url_for
from itsdangerous import BadSignature, SignatureExpired, TimestampSigner

from cw.errors import ProtocolError
from cw_hub.context import Clock
from cw_hub.pages.request import Remembered, resources
from cw_hub.store.objects import PACKED, PIECE, Streamed, is_from_archive, read_from_archive

routes = Blueprint("objects", __name__)

LASTS: Final = timedelta(hours=1)
KINDS: Final = ("replays", "maps")
"""The kinds of objects that can be linked, by key prefix; never backups or uploads."""

NAME: Final = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)*", re.ASCII)
"""Matches the rest of such a key: no part of it can escape the folder."""

MOST_OPENED: Final = 16 * 1024 * 1024
"""Maximum bytes of files generated from archives that a process caches."""

EXPIRED: Final = "This link has expired."
INVALID: Final = "This link is not valid."


def install(app: Flask) -> None:
    """Set up an app's cache of opened replays."""
    app.extensions["opened replays"] = Remembered[bytes | None](MOST_OPENED, len_of)


def len_of(file: bytes | None) -> int:
    """Return the size of a file in bytes; a missing file is not cached."""
    return MOST_OPENED + 1 if file is None else len(file)


class Signer(TimestampSigner):
    """Signs by the hub's clock; its signatures are not valid for anything else."""

    def __init__(self, secret: str, clock: Clock, kind: str) -> None:
        """Sign names of one kind of objects; signatures are not valid for another kind."""
        # The 48 bytes of SHA-384 fill 64 characters, so the last character has no unused bits.
        super().__init__(secret, salt=f"cw.hub.objects.{kind}", digest_method=sha384)
        self._clock = clock

    def get_timestamp(self) -> int:
        """Return the current time in seconds."""
        return int(self._clock().timestamp())


def signer(kind: str) -> Signer:
    """Return the signer of links to a kind of objects."""
    hub = resources()
    return Signer(hub.secret_key, hub.clock, kind)


def link_to(key: str) -> str:
    """Return a link, valid for an hour, to a replay or a map: in the store, or on this site.

    Create links only for users who may see the object. Raises ValueError for any other key.
    """
    kind, _, name = key.partition("/")
    if kind not in KINDS or not NAME.fullmatch(name):
        raise ValueError(f"{key} is neither a replay nor a map")
    signature = signer(kind).sign(name).decode()[len(name) + 1 :]
    here = url_for("objects.read", kind=kind, name=name, sig=signature)
    return here if is_from_archive(key) else resources().objects.link(key, LASTS) or here


@routes.get(f"/objects/<any{KINDS}:kind>/<path:name>")
def read(kind: str, name: str) -> Response:
    """Return the object behind a link, compressed if the client accepts that."""
    if not NAME.fullmatch(name):
        abort(404)
    try:
        signed = f"{name}.{request.args.get('sig', '')}"
        signer(kind).unsign(signed, max_age=int(LASTS.total_seconds()))
    except SignatureExpired:
        abort(403, EXPIRED)
    except BadSignature:
        abort(403, INVALID)
    key = f"{kind}/{name}"
    is_packed = key.endswith(PACKED)
    unpacks = is_packed and "gzip" not in request.headers.get("Accept-Encoding", "")
    tag = sha384(f"{key} {unpacks}".encode()).hexdigest()[:32]
    answer = Response(mimetype="application/json")
    # The object under a key never changes.
    answer.headers["Cache-Control"] = "private, max-age=3600, immutable"
    answer.headers["Vary"] = "Accept-Encoding"
    answer.set_etag(tag)
    if request.if_none_match.contains(tag):
        answer.status_code = 304
        return answer
    stored = (
        streamed_from_archive(key) if is_from_archive(key) else resources().objects.streamed(key)
    )
    if stored is None:
        abort(404, "This file no longer exists.")
    if unpacks:
        answer.response = unpacked_pieces(stored.pieces)
        return answer
    if is_packed:
        answer.headers["Content-Encoding"] = "gzip"
    answer.response, answer.content_length = stored.pieces, stored.size
    return answer


def streamed_from_archive(key: str) -> Streamed | None:
    """Return a file generated from an archive, None if that is gone; abort if it is invalid."""
    opened = cast(Remembered[bytes | None], current_app.extensions["opened replays"])
    try:
        file = opened.find(key, lambda: read_from_archive(resources().objects, key))
    except ProtocolError as error:
        abort(404, str(error))
    return None if file is None else Streamed(len(file), iter((file,)))


def unpacked_pieces(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Decompress gzip piece by piece, so that only one piece is in memory at a time."""
    unpacker = zlib.decompressobj(wbits=31)
    for piece in pieces:
        rest = piece
        while rest:
            yield unpacker.decompress(rest, PIECE)
            rest = unpacker.unconsumed_tail
    yield unpacker.flush()
