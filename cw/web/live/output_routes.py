"""The standard error of bots, for their owner."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flask import Blueprint, Response, abort, current_app, jsonify

from cw.replays.outputs import Output, read_outputs
from cw.server.guard import refuse_other_sites
from cw.visible import visible
from cw.web.live.live_matches import LiveMatches
from cw.web.replays.replay_store import ReplayStore
from cw.web.replays.replay_summary import ReplaySummary
from cw.web.settings import SiteSettings

routes = Blueprint("outputs", __name__)


@routes.get("/replays/<replay:name>/output")
def of_replay(name: str) -> Response:
    """Return the standard error of the bots of a replay, in seat order.

    `{"output": [text, ...], "turns": [[[turn, text], ...], ...]}`: all of it, and by turn.
    """
    refuse_strangers()
    store: ReplayStore = current_app.extensions["replay_store"]
    stored = store.find(name)
    summary = None if stored is None else store.summary(stored)
    if stored is None or not isinstance(summary, ReplaySummary):
        abort(404, f"there is no replay {name!r}")
    return answer(read_outputs(stored.path, len(summary.names)))


@routes.get("/matches/<name>/output")
def of_match(name: str) -> Response:
    """Return the same for a match of this server; empty before its end."""
    refuse_strangers()
    matches: LiveMatches = current_app.extensions["matches"]
    match = matches.find(name)
    if match is None:
        abort(404, "there is no such match; the server keeps the latest ones only")
    record = None if match.progress is None else match.progress.record
    if record is None:
        return answer([])
    return answer(
        [
            Output(record.stderr.get(player, ""), record.stderr_turns.get(player, ()))
            for player in record.bots
        ]
    )


def refuse_strangers() -> None:
    """Reject the request unless visitors own the bots here, or if another site's page sent it."""
    settings: SiteSettings = current_app.extensions["settings"]
    if not settings.owner:
        abort(404, "this server does not show the output of bots")
    refuse_other_sites()


def answer(outputs: Sequence[Output]) -> Response:
    """Return the output of bots as JSON, with control characters made visible."""
    response = jsonify(
        output=[visible(output.text) for output in outputs],
        turns=[[(turn, visible(text)) for turn, text in output.parts] for output in outputs],
    )
    response.headers["Cache-Control"] = "no-store"
    return response


@routes.app_context_processor
def _for_pages() -> dict[str, Any]:
    return {"owns_bots": current_app.extensions["settings"].owner}
