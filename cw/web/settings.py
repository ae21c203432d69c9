"""The settings of a site, in addition to its server's settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from flask import Response, make_response

from cw.arena.bots import BotSpec
from cw.errors import UsageError
from cw.matches.spec import Isolation
from cw.server.settings import LARGEST_REQUEST, ServerSettings

LARGEST_UPLOAD: Final = 8 * 1024 * 1024
"""Maximum size of an uploaded replay, packed or not, in bytes."""

LARGEST_WINDOW: Final = 2 * 1024 * 1024
"""Maximum size of a request to draw frames, in bytes."""


@dataclass(frozen=True, slots=True)
class SiteSettings(ServerSettings):
    """The settings of a server with pages."""

    matches: int = 8
    """The number of matches the server plays concurrently for its pages."""
    opponents: Mapping[str, Sequence[BotSpec]] = field(default_factory=dict)
    """The bots that visitors may choose in addition to the built-in strategies, by game."""
    isolation: Isolation = field(default_factory=Isolation)
    """How bots are isolated in matches started from pages, and which addresses they may have."""
    secrets: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The secret settings of such bots, by bot name."""
    replays: Path | None = None
    """The folder, or the single file, with the replays under /replays/; None for no replays."""
    save: bool = False
    """Whether finished games are saved in that folder."""
    owner: bool = False
    """Whether visitors own the bots, so that they may read their standard error."""
    uploads: bool = False
    """Whether visitors may upload replays to that folder."""

    def folder(self) -> Path | None:
        """Return the folder in which replays are saved, or None.

        Raises UsageError if replays are to be saved and no folder is set.
        """
        if not self.uploads and not self.save:
            return None
        if self.replays is None or not self.replays.is_dir():
            subject = "uploads need" if self.uploads else "saved games need"
            raise UsageError(f"{subject} a folder to save replays in")
        return self.replays

    def largest_body(self) -> int:
        """Return the maximum size of a request body; a form needs more than its file."""
        return LARGEST_UPLOAD + LARGEST_REQUEST if self.uploads else LARGEST_WINDOW


def revalidated(page: str | Response) -> Response:
    """Return a response that browsers must revalidate before each use."""
    answer = make_response(page)
    answer.headers["Cache-Control"] = "no-cache"
    return answer
