"""Replays that visitors upload: checked, named by us, and saved in a folder of the server."""

from __future__ import annotations

from datetime import date
from threading import Lock
from typing import Final

import msgspec

from cw.errors import CapacityError, ProtocolError
from cw.games.registry import game_entries
from cw.replays.document import Document, digest, encode, parsed, unpacked
from cw.replays.document import checked as as_replay
from cw.replays.own_formats import is_of_a_game
from cw.web.replays.replay_folder import ReplayFolder, Saved
from cw.web.replays.replay_summary import summary_of

LARGEST_UNPACKED: Final = 16 * 1024 * 1024
"""Most bytes of an accepted replay, unpacked; most replays have a tenth of that."""

MOST_PARTS: Final = 1_500_000
"""Most characters that begin a value: a million empty lists are small but slow to parse."""


class Uploads:
    """Accepts replays one at a time, since reading a large one takes memory and time."""

    def __init__(self, folder: ReplayFolder) -> None:
        """Put uploads into a folder."""
        self._folder = folder
        self._lock = Lock()

    def save(self, data: bytes) -> Saved:
        """Put the replay in a file, packed or not, into the folder.

        Raises ProtocolError if it is not a replay, CapacityError if there is no room or another
        upload is in progress, and Failure if the folder cannot be written.
        """
        # Refused rather than queued: the threads of the server are needed by running matches.
        if not self._lock.acquire(blocking=False):
            raise CapacityError("another replay is being uploaded: try again in a few seconds")
        try:
            return self._folder.put(checked(data))
        finally:
            self._lock.release()


def checked(data: bytes) -> Document:
    """Read a replay that can be listed and drawn, and whose hash is right.

    Raises ProtocolError otherwise. The match is not replayed, as that may take long.
    """
    plain = unpacked(data, LARGEST_UNPACKED)
    # Counting bytes is cheap, and comes before the parser allocates anything.
    if sum(map(plain.count, (b"[", b"{", b","))) > MOST_PARTS:
        raise ProtocolError("the replay has too many values to be uploaded here")
    payload = parsed(plain)
    if is_of_a_game(payload):
        raise ProtocolError(
            "the file is in its game's own format: `cw replay export FILE --json` converts it to "
            "one that can be uploaded"
        )
    document = as_replay(payload)
    if document["game"] not in game_entries():
        raise ProtocolError(f"this server has no game {document['game'][:64]!r}")
    try:
        summary_of(encode(document, packed=False))
        fits = digest(document) == document["hash"]
        date.fromisoformat(document["date"][:10])
    # Some values can be read, but are nested too deep, or numbers too long, to be written.
    except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError) as error:
        raise ProtocolError(f"the replay cannot be listed: {error}") from None
    if not fits:
        raise ProtocolError("the hash of the replay does not match what was played")
    return document
