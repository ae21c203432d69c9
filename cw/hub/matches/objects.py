"""Links to replays and maps: whoever has one may read what it leads to, for an hour.

They lead to the site itself, which passes on what the store has, unless browsers reach the store.
What is made of an archive file comes from the site in any case.
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
from cw.hub.clock import Clock
from cw.hub.pages.remembered import Remembered
from cw.hub.pages.request import resources
from cw.hub.store.archives import is_from_archive, read_from_archive
from cw.hub.store.objects import PACKED, PIECE, Streamed

routes = Blueprint("objects", __name__)

LASTS: Final = timedelta(hours=1)
KINDS: Final = ("replays", "maps")
"""The kinds of objects that links lead to, as their keys begin; never back-ups and uploads."""

NAME: Final = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)*", re.ASCII)
"""The rest of the key of such an object: no part of it leads to another folder."""

MOST_OPENED: Final = 16 * 1024 * 1024
"""Bytes of files made of archive files that a process remembers."""

EXPIRED: Final = "This link has expired."
INVALID: Final = "This link is not valid."


def install(app: Flask) -> None:
    """Let an app remember the replays that it has opened."""
    app.extensions["opened replays"] = Remembered[bytes | None](MOST_OPENED, len_of)


def len_of(file: bytes | None) -> int:
    """Return the bytes of a file; none, of one that is gone, are not remembered."""
    return MOST_OPENED + 1 if file is None else len(file)


class Signer(TimestampSigner):
    """Signs by the clock of the hub; no other text of the same signature counts as one."""

    def __init__(self, secret: str, clock: Clock, kind: str) -> None:
        """Sign names of one kind of objects: for another kind its signatures are not valid."""
        # Its 48 bytes fill 64 characters: the last one has no bits that nobody looks at.
        super().__init__(secret, salt=f"cw.hub.objects.{kind}", digest_method=sha384)
        self._clock = clock

    def get_timestamp(self) -> int:
        """Return the present second."""
        return int(self._clock().timestamp())


def signer(kind: str) -> Signer:
    """Return what signs the links of this hub to a kind of objects."""
    hub = resources()
    return Signer(hub.secret_key, hub.clock, kind)


def link_to(key: str) -> str:
    """Return where everybody may read a replay or a map for an hour: at the store, or here.

    To be made for those alone who may see it. Raises ValueError for any other object.
    """
    kind, _, name = key.partition("/")
    if kind not in KINDS or not NAME.fullmatch(name):
        raise ValueError(f"{key} is neither a replay nor a map")
    signature = signer(kind).sign(name).decode()[len(name) + 1 :]
    here = url_for("objects.read", kind=kind, name=name, sig=signature)
    return here if is_from_archive(key) else resources().objects.link(key, LASTS) or here


@routes.get(f"/objects/<any{KINDS}:kind>/<path:name>")
def read(kind: str, name: str) -> Response:
    """Return what a link leads to, packed where the client takes that."""
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
    # What is under a key never changes.
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
        abort(404, "This object is gone.")
    if unpacks:
        answer.response = unpacked_pieces(stored.pieces)
        return answer
    if is_packed:
        answer.headers["Content-Encoding"] = "gzip"
    answer.response, answer.content_length = stored.pieces, stored.size
    return answer


def streamed_from_archive(key: str) -> Streamed | None:
    """Return a file that is made of an archive file, None if that is gone; abort otherwise."""
    opened = cast(Remembered[bytes | None], current_app.extensions["opened replays"])
    try:
        file = opened.find(key, lambda: read_from_archive(resources().objects, key))
    except ProtocolError as error:
        abort(404, str(error))
    return None if file is None else Streamed(len(file), iter((file,)))


def unpacked_pieces(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Unpack gzip piece by piece: however large the whole is, no more than a piece is in memory."""
    unpacker = zlib.decompressobj(wbits=31)
    for piece in pieces:
        rest = piece
        while rest:
            yield unpacker.decompress(rest, PIECE)
            rest = unpacker.unconsumed_tail
    yield unpacker.flush()
