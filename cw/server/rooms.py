"""The games of one server: the one at its root, and those in rooms."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from threading import Lock
from typing import Final, TypeAlias

from flask import (
    Blueprint,
    Response,
    current_app,
    make_response,
    redirect,
    render_template,
    request,
    url_for,
)
from werkzeug.wrappers import Response as AnyResponse

from cw.arena.bots import BotSpec
from cw.arena.referee import MatchRecord
from cw.errors import CapacityError
from cw.games.circuit_wars.protocol import STATUS, milliseconds, status_code, status_document
from cw.games.circuit_wars.rules import Action, CircuitWars, State
from cw.games.registry import load_game
from cw.games.rules import Fault, Json
from cw.replays.document import Document, Recorder, replay_of
from cw.server.session import Clock, MatchSession, Observation, Session, Snapshot
from cw.server.settings import ServerSettings

CLIENT: Final = "client"
"""Placeholder for a team's program, which is unknown."""


def replay_of_game(
    settings: ServerSettings, start: State, snapshot: Snapshot[State, Action]
) -> Document:
    """Return the replay of a finished game, in a form that `cw replay verify` accepts."""
    record = MatchRecord(
        load_game(CircuitWars.name),
        {player: BotSpec(team, "exec", CLIENT) for player, team in enumerate(snapshot.teams, 1)},
        settings.seed,
        {"size": settings.size, "openings": settings.openings},
        start=start,
        state=start,
    )
    recorder = Recorder()
    recorder(record)
    for turn in snapshot.turns:
        for player, action in turn.actions.items():
            if isinstance(action, Fault):
                record.note(player, action)
        record.state = record.game.rules.step(record.state, turn.actions)
        record.turns.append(turn)
        recorder(record)
    return replay_of(record, recorder, datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))


MOST_ROOMS: Final = 256
IDLE: Final = 3600.0
"""Seconds without a registration or a move after which another room may replace this one."""

MOST_FINISHED: Final = 50
"""Maximum number of recently finished games that are stored."""

KeepReplay: TypeAlias = Callable[[Document], str]
"""Stores a replay and returns its name; "" if that failed."""

CircuitSession: TypeAlias = Session[State, Action]
CircuitObservation: TypeAlias = Observation[State, Action]


class StatusPage:
    """The status JSON as text, serialized once per snapshot; only the clock changes."""

    def __init__(self) -> None:
        """Start without a cached text."""
        self._printed: tuple[str, str, str] = ("", "", "")

    def render(self, observation: CircuitObservation) -> str:
        """Return the status JSON as text."""
        tag, head, tail = self._printed
        if tag != observation.snapshot.tag:
            head, tail = self._print(observation.snapshot)
        return f"{head}{milliseconds(observation.time_left)}{tail}"

    def _print(self, snapshot: Snapshot[State, Action]) -> tuple[str, str]:
        document = status_document(len(snapshot.teams), snapshot.state, None)
        # Only the clock differs between two polls, so the rest is serialized once per snapshot.
        head, tail = json.dumps(document).split('"time_left": -1', 1)
        head += '"time_left": '
        self._printed = (snapshot.tag, head, tail)
        return head, tail


@dataclass(frozen=True, slots=True)
class Room:
    """One game of the server."""

    session: CircuitSession
    page: StatusPage = field(default_factory=StatusPage)


@dataclass(frozen=True, slots=True)
class FinishedGame:
    """A finished game between two teams."""

    room: str | None
    """Where it was played; None is the root."""
    snapshot: Snapshot[State, Action]


class RoomRegistry:
    """The game at the root of the server, and up to 256 rooms, created on demand."""

    def __init__(
        self,
        settings: ServerSettings,
        clock: Clock,
        session: CircuitSession | None = None,
        keep_replay: KeepReplay | None = None,
    ) -> None:
        """Create the rooms; raise UsageError if a setting is out of range.

        `session` is the game at the root, if another component runs that. `keep_replay` receives
        the replays of finished games; None if they are not stored.
        """
        self._start = CircuitWars().new(
            2, settings.seed, size=settings.size, openings=settings.openings
        )
        self._settings = settings
        self._clock = clock
        self._keep_replay = keep_replay
        self._finished: deque[FinishedGame] = deque(maxlen=MOST_FINISHED)
        self._limit = settings.time_limit()
        self._team_ids = settings.team_ids
        self._has_desk = settings.desk
        self._main = Room(session or self._new_session(None))
        self._vacant = Room(self._new_session(None))
        self._rooms: dict[str, Room] = {}
        self._lock = Lock()

    def _new_session(self, room: str | None) -> CircuitSession:
        return MatchSession(
            CircuitWars(),
            self._start,
            self._limit,
            self._clock,
            self._team_ids,
            keep=partial(self._take_in, room),
        )

    @property
    def are_kept(self) -> bool:
        """Whether the replays of finished games are stored."""
        return self._keep_replay is not None

    def _take_in(self, room: str | None, snapshot: Snapshot[State, Action]) -> str:
        """Record a finished game, and store its replay; return the replay's name."""
        name = ""
        if self._keep_replay is not None:
            name = self._keep_replay(replay_of_game(self._settings, self._start, snapshot))
        self._finished.appendleft(FinishedGame(room, replace(snapshot, turns=(), replay=name)))
        return name

    def look(self) -> dict[str | None, Snapshot[State, Action]]:
        """Return the snapshots of all rooms; the key None is the game at the root, if any."""
        root = [(None, self._main)] if self._has_desk else []
        rooms = [*root, *list(self._rooms.items())]
        return {name: room.session.look().snapshot for name, room in rooms}

    def finished(self) -> list[FinishedGame]:
        """Return the recently finished games, the latest first, without their turns."""
        return list(self._finished)

    def find(self, room: str | None) -> Room:
        """Return the game of a room, or of the root if None; empty if no team registered there."""
        return self._main if room is None else self._rooms.get(room, self._vacant)

    def enter(self, room: str | None) -> Room:
        """Return the game of a room, creating the room if it is new.

        If there are too many rooms, removes the one that has been idle longest; raises
        CapacityError if all of them have a game in progress.
        """
        with self._lock:
            if room is not None and room not in self._rooms:
                if len(self._rooms) >= MOST_ROOMS:
                    del self._rooms[self._oldest_free()]
                self._rooms[room] = Room(self._new_session(room))
            return self.find(room)

    def _oldest_free(self) -> str:
        seen = {name: room.session.look().snapshot for name, room in self._rooms.items()}
        free = [name for name, snapshot in seen.items() if self._is_free(snapshot)]
        if not free:
            raise CapacityError(
                f"all {MOST_ROOMS} rooms are in use: try again when a game has finished,"
                " or use a room that exists"
            )
        return min(free, key=lambda name: seen[name].since)

    def _is_free(self, snapshot: Snapshot[State, Action]) -> bool:
        idle = self._clock() - snapshot.since > IDLE
        # Rooms without players count as free; otherwise refused registrations could fill the server
        # (decisions 0001).
        return idle or not snapshot.teams or snapshot.state.ended is not None


routes = Blueprint("lobby", __name__, url_prefix="/rooms")

ROOM: Final = "[a-z0-9-]{1,32}"
"""The name of a room."""

CircuitSnapshot: TypeAlias = Snapshot[State, Action]


@routes.get("/")
def page() -> AnyResponse:
    """Return the lobby; with `?room=NAME`, redirect to that room, or explain valid names."""
    room = request.args.get("room", "").strip()
    if re.fullmatch(ROOM, room):
        return redirect(url_for("room.monitor", room=room), 303)
    text = render_template("rooms.html", wanted=room, saved=_rooms().are_kept)
    answer = make_response(text, 400 if room else 200)
    answer.headers["Cache-Control"] = "no-cache"
    return answer


@routes.get("/list.json")
def listed() -> Response:
    """Return the state of all rooms and the recently ended games; 304 if unchanged."""
    rooms = _rooms()
    seen = rooms.look()
    tag = sha256("".join(snapshot.tag for snapshot in seen.values()).encode()).hexdigest()[:16]
    if tag in request.if_none_match:
        answer = Response(status=304)
    else:
        document = {
            "rooms": [room_document(name, snapshot) for name, snapshot in seen.items()],
            "most": MOST_ROOMS,
            "finished": [finished_document(game) for game in rooms.finished()],
        }
        answer = Response(json.dumps(document), content_type="application/json")
    answer.set_etag(tag)
    answer.headers["Cache-Control"] = "no-cache"
    return answer


def room_document(name: str | None, snapshot: CircuitSnapshot) -> dict[str, Json]:
    """Return the state of a game as JSON; `room` is null for the game at the root."""
    code = status_code(len(snapshot.teams), snapshot.state)
    return {
        "room": name,
        "address": monitor_of(name),
        "status_code": code,
        "status": STATUS[code],
        "teams": list(snapshot.teams),
        "scores": list(snapshot.state.scores),
        "squares": snapshot.state.size**2,
        "moves": len(snapshot.turns),
        "replay": replay_address(snapshot.replay),
    }


def finished_document(game: FinishedGame) -> dict[str, Json]:
    """Return the result of a finished game as JSON."""
    room = room_document(game.room, game.snapshot)
    return {
        key: room[key] for key in ("room", "status_code", "status", "teams", "scores", "replay")
    }


def monitor_of(name: str | None) -> str:
    """Return the URL of a room's monitor."""
    if name is None:
        return url_for("circuit_wars.monitor")
    return url_for("room.monitor", room=name)


def replay_address(replay: str) -> str | None:
    """Return the URL of a stored replay, or None if it was not stored."""
    return url_for("replays.watch", name=replay) if replay else None


def _rooms() -> RoomRegistry:
    rooms: RoomRegistry = current_app.extensions["rooms"]
    return rooms
