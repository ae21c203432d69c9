"""The Hexagon wire protocol (rule book, "On the wire"): requests in a fixed order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from cw.errors import ProtocolError
from cw.games.hexagon.codec import pair_document
from cw.games.hexagon.state import Move, State, is_cell
from cw.games.rules import Fault, Json, Player
from cw.games.wire import (
    Query,
    QueryLimits,
    Referee,
    Reply,
    Request,
    Transport,
    as_it_is,
    compact,
    read_json,
    status_fault,
)

HEADERS: Final = {"Accept": "application/json"}
JSON_HEADERS: Final = {**HEADERS, "Content-Type": "application/json"}
TIMEOUT: Final = 1.0
QUOTED: Final = 200
BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


class HexagonProtocol:
    """Sends one request at a time: POST to both; GET to the mover, PUT to both; DELETE to both."""

    transports: Sequence[Transport] = ("http",)
    signed_with: str | None = None
    options: Sequence[str] = ("timeout",)

    def players(self, names: Sequence[str]) -> Sequence[Player]:
        """Return the colours of the bots, starting at 1."""
        return range(1, len(names) + 1)

    async def conduct(self, referee: Referee) -> None:
        """Run a battle."""
        limits = QueryLimits(float(referee.protocol_options.get("timeout", TIMEOUT)))
        state: State = referee.rules.new(len(referee.names), referee.seed, **referee.options)
        referee.begin(state)
        match = WireMatch(referee, limits)
        try:
            await match.post()
            while referee.state.color is not None:
                await match.turn()
        finally:
            await match.delete()


class WireMatch:
    """A battle on the wire."""

    def __init__(self, referee: Referee, limits: QueryLimits) -> None:
        """Generate the battle's id, or two for a bot that plays against itself."""
        self.referee = referee
        self.limits = limits
        ids = [referee.token()[:16], referee.token()[:16]]
        same = referee.address(1) is not None and referee.address(1) == referee.address(2)
        self.ids = {1: ids[0], 2: ids[1] if same else ids[0]}
        self.opened: list[int] = []

    async def post(self) -> None:
        """Open the battle with both bots, the colour that moves first before the other."""
        for color in (1, 2):
            if self.referee.state.ended != "fault":
                self.opened.append(color)
                training = self.referee.transport(3 - color) == "human"
                body = opening(self.referee.state, self.ids[color], color, training=training)
                await self.say(color, "POST", "/games", body)

    async def turn(self) -> None:
        """Request a move, then send its changes to both bots, the mover first."""
        color = self.referee.state.color
        path = f"/games/{self.ids[color]}?color={color}"
        ask = Query(Request("GET", path, None, HEADERS), read_move, self.limits, action=True)
        state = self.referee.step(await self.referee.ask({color: ask}))
        body = compact(
            {
                "jumps": pair_document(state.jumps),
                "changes": [list(change) for change in state.changes],
            }
        )
        for recipient in (color, 3 - color):
            if self.referee.state.ended != "fault":
                await self.say(recipient, "PUT", f"/games/{self.ids[recipient]}", body)

    async def delete(self) -> None:
        """Close the battle; the responses have no effect."""
        for color in self.opened:
            call = Request("DELETE", f"/games/{self.ids[color]}", b"{}", JSON_HEADERS)
            await self.referee.ask({color: Query(call, as_it_is, self.limits, noted=False)})

    async def say(self, color: int, method: str, path: str, body: bytes) -> None:
        """Send a body to a bot, which loses unless it responds with status ok."""
        ask = Query(Request(method, path, body, JSON_HEADERS), read_ok, self.limits)
        answer = (await self.referee.ask({color: ask}))[color]
        if isinstance(answer, Fault):
            self.referee.step({color: answer})


def opening(state: State, number: str, color: int, *, training: bool = False) -> bytes:
    """Return the body of the POST; `training` means that the opponent is a human player."""
    return compact(
        {
            "id": number,
            "first_turn": color == 1,
            "training": training,
            "jumps": pair_document(state.jumps),
            "board": {"size": state.size, "cells": [list(row) for row in state.cells]},
        }
    )


def read_ok(reply: Reply) -> Json | Fault:
    """Read a response, which must have status ok."""
    if not 200 <= reply.status <= 299:
        return status_fault(reply)
    try:
        document = read_json(reply.body.removeprefix(BYTE_ORDER_MARK))
    except ProtocolError as error:
        return Fault("malformed", f"the answer is not JSON ({error}): {quote(reply)}")
    if not isinstance(document, dict) or document.get("status") != "ok":
        return Fault("malformed", f'expected an object with "status": "ok", got {quote(reply)}')
    return document


def read_move(reply: Reply) -> Move | Fault:
    """Read the move in the response to a GET."""
    document = read_ok(reply)
    if isinstance(document, Fault):
        return document
    ends: list[Any] = [document.get(key) for key in Move._fields]
    if not all(is_cell(end, list) for end in ends):
        return Fault(
            "malformed",
            f"move_from and move_to must be lists of two integers, got {quote(reply)}",
        )
    start, target = map(tuple, ends)
    return Move(start, target)


def quote(reply: Reply) -> str:
    """Return the beginning of a response, quoted for a message."""
    return repr(reply.body[:QUOTED].decode(errors="replace"))
