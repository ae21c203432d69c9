"""Preview images of matches for links on other sites, and queries for the match to show."""

from __future__ import annotations

import subprocess
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from threading import Lock, Thread
from typing import Final, TypeAlias

from sqlalchemy import Select, and_, select

from cw.web.replay_pictures import PAINTER
from cw_hub.matches.match_types import MatchTypes
from cw_hub.store.database import Session
from cw_hub.store.models import Battle, Match, MatchParticipant
from cw_hub.store.objects import StoreAway

CAPACITY: Final = 300
"""Maximum number of cached images, of some ten kilobytes each."""

LARGEST: Final = 512 * 1024
"""Maximum size of an image, in bytes."""

LONGEST: Final = 30.0
"""Time limit for rendering an image, in seconds."""

PATIENCE: Final = 4.0
"""Seconds that a request waits for its image; a later one finds it in the cache."""

Painting: TypeAlias = Callable[[bytes], bytes]
"""Returns the image of a replay as a PNG file, or b"" if it cannot be rendered in time."""


def painted(replay: bytes) -> bytes:
    """Return the image of a replay with its players and winner; b"" if it cannot be rendered."""
    try:
        done = subprocess.run(
            [*PAINTER, "card"], input=replay, capture_output=True, timeout=LONGEST, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return b""
    return done.stdout if done.returncode == 0 and len(done.stdout) <= LARGEST else b""


class Cards:
    """Renders one image at a time, and caches the latest ones, including failures."""

    def __init__(self, paint: Painting = painted, patience: float = PATIENCE) -> None:
        """Start with an empty cache; a request waits `patience` seconds for its image."""
        self._paint = paint
        self._patience = patience
        self._pictures: OrderedDict[str, bytes] = OrderedDict()
        self._painting = Lock()

    def find(self, key: str, read: Callable[[], bytes | None]) -> bytes | None:
        """Return the image of a replay by its key; `read` returns the compressed replay.

        b"" if it cannot be rendered; None if it is not ready, or another image is being rendered.
        """
        if key not in self._pictures and self._painting.acquire(blocking=False):
            thread = Thread(target=self._paint_one, args=(key, read), name="card", daemon=True)
            thread.start()
            thread.join(self._patience)
        return self._pictures.get(key)

    def _paint_one(self, key: str, read: Callable[[], bytes | None]) -> None:
        try:
            # The next request finds out whether the store is available again.
            with suppress(StoreAway):
                self._keep(key, self._paint(read() or b""))
        finally:
            self._painting.release()

    def _keep(self, key: str, picture: bytes) -> None:
        self._pictures[key] = picture
        if len(self._pictures) > CAPACITY:
            self._pictures.popitem(last=False)


AMONG: Final = 50
"""Number of latest matches searched for one with a replay."""


def of_bot(session: Session, kinds: MatchTypes, bot: int) -> str | None:
    """Return the public id of a bot's last public match that has a replay, or None."""
    latest = (
        select(MatchParticipant.match_id)
        .where(MatchParticipant.bot_id == bot)
        .order_by(MatchParticipant.match_id.desc())
    )
    return with_replay(session, kinds, latest)


def of_competition(session: Session, kinds: MatchTypes, competition: int) -> str | None:
    """Return the public id of a competition's last match that has a replay, or None."""
    finished = (Match.competition_id == competition, Match.finished_at.is_not(None))
    latest = select(Match.id.label("match_id")).where(*finished).order_by(Match.finished_at.desc())
    return with_replay(session, kinds, latest)


def with_replay(session: Session, kinds: MatchTypes, latest: Select[int]) -> str | None:
    """Return the public id of the first public match in `latest` that has a replay, or None."""
    among = latest.limit(AMONG).subquery()
    replay = and_(Battle.match_id == Match.id, Battle.number == 1, Battle.pruned_at.is_(None))
    return session.scalar(
        select(Match.match_id)
        .join(among, among.c.match_id == Match.id)
        .join(Battle, replay)
        .where(Match.state == "done", Match.kind.not_in(kinds.private))
        .where(Battle.replay_key.is_not(None))
        .order_by(Match.finished_at.desc(), Match.id.desc())
        .limit(1)
    )
