"""The log of a process: a line for each event, for people or as JSON."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Final

from cw.hub.settings import HubSettings

TEXT: Final = "%(asctime)s %(levelname)s %(message)s"


class JsonLines(logging.Formatter):
    """Writes an event as one JSON object."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of an event."""
        said = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname,
            "event": record.getMessage(),
        }
        if record.exc_info:
            said["error"] = self.formatException(record.exc_info)
        return json.dumps(said)


def begin_log(settings: HubSettings) -> None:
    """Write the log of this process to standard error, as the settings say."""
    as_text = settings.log == "text" or (settings.log == "auto" and sys.stderr.isatty())
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter(TEXT) if as_text else JsonLines())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("cw").setLevel(logging.INFO)
