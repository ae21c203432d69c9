"""The recorded games of a real championship must end over HTTP as they ended then."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from cw.web import create_app
from cw.web.settings import SiteSettings
from tests.fixtures import FakeClock, Serve

RECORDS = Path(__file__).resolve().parents[3] / "shared" / "championship"

pytestmark = pytest.mark.skipif(
    not RECORDS.is_dir(), reason="the recorded games do not stand beside this checkout"
)


def recorded() -> Iterator[Any]:
    for file in sorted(RECORDS.glob("*.jsonl")):
        yield from map(json.loads, file.read_text().splitlines())


def test_every_recorded_game_ends_as_recorded(serve: Serve, clock: FakeClock) -> None:
    base = serve(create_app(SiteSettings(timeout=3), clock))
    games = list(recorded())
    assert len(games) == 112
    with requests.Session() as session:
        for game in games:
            session.get(f"{base}/restart")
            end = replay(base, session, clock, game)
            assert end["status_code"] == game["status_code"], game
            assert counted(end) == (game["score_1"], game["score_2"])


def counted(end: Any) -> tuple[int, int]:
    """Return the scores as a championship counts them: a game that was not finished is 49:0."""
    if end["status_code"] < 400:
        return end["score_1"], end["score_2"]
    return (0, 49) if end["status_code"] % 10 == 1 else (49, 0)


def replay(base: str, session: requests.Session, clock: FakeClock, game: Any) -> Any:
    """Send a recorded game move by move; give the last status."""
    for team in (game["player_1"], game["player_2"]):
        assert session.get(f"{base}/reg/{team}").json()["response"] == "OK"
    last = len(game["moves"]) - 1
    for number, (player, move) in enumerate(game["moves"]):
        late = number == last and game["last_move_was_late"]
        clock.advance(3.5 if late else 0.5)
        status = session.get(f"{base}/move/{game[f'player_{player}']}/{move}").json()
        assert status["status_code"] < 300 or number == last
    if status["status_code"] < 300:
        clock.advance(3.5)
        status = session.get(f"{base}/status").json()
    return status
