"""A strategy as a bot of the default protocol: on lines, or as a web service."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from cw import documents
from cw.errors import ProtocolError
from cw.games.codec import DefaultCodec
from cw.games.defaults.protocol import Question
from cw.games.rules import Fault, Player, Strategy
from cw.games.wire import BotContext, LineMessage, Reply, Request, as_json

MOST_SEATS: Final = 64
"""Seats to remember; the oldest is evicted."""


class DefaultBotHandler:
    """Answers every question; the first one of a match creates a strategy for its seat."""

    def __init__(self, context: BotContext, codec: DefaultCodec[Any, Any, Any]) -> None:
        """Start with no seats."""
        self.context = context
        self.codec = codec
        self.seats: dict[tuple[str, Player], Strategy[Any, Any]] = {}

    def answer(self, message: Request | LineMessage) -> Reply | None:
        """Answer a question; an invalid one gets None on a line, or status 400 as a request."""
        body = message.text if isinstance(message, LineMessage) else message.body or b""
        try:
            return self.act(documents.decode(body, Question))
        except (ProtocolError, msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            if isinstance(message, LineMessage):
                return None
            return as_json({"error": str(error)}, 400)

    def act(self, question: Question) -> Reply:
        """Return the strategy's action, or no action if it refuses to act."""
        action = self.seat(question).act(self.codec.view_from_json(question.view))
        members = {} if isinstance(action, Fault) else {"action": self.codec.action_to_json(action)}
        return as_json({"turn": question.turn, **members})

    def seat(self, question: Question) -> Strategy[Any, Any]:
        """Return the strategy of a player in a match."""
        key = (question.match, question.player)
        if key not in self.seats:
            while len(self.seats) >= MOST_SEATS:
                del self.seats[next(iter(self.seats))]
            self.seats[key] = self.context.make(question.player)
        return self.seats[key]
