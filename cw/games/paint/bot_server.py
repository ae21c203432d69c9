"""A strategy of Paint as a program: lines in, lines out."""

from __future__ import annotations

from typing import Any

from cw.games.paint.protocol import decode
from cw.games.paint.rules import action_document
from cw.games.rules import Json, Player, Strategy
from cw.games.wire import BotContext, LineMessage, Reply, Request, compact


class PaintBotHandler:
    """Reports that it is ready, then answers every state with an action."""

    def __init__(self, context: BotContext) -> None:
        """Wait for the player id."""
        self.context = context
        self.strategy: Strategy[Any, Any] | None = None

    def answer(self, message: Request | LineMessage) -> Reply | None:
        """Answer a line."""
        document = decode(message.text) if isinstance(message, LineMessage) else None
        if not isinstance(document, dict):
            return None
        if "player_id" in document:
            return self.greet(document["player_id"])
        return None if self.strategy is None else self.act(self.strategy, document)

    def greet(self, player: Player) -> Reply:
        """Take a seat."""
        self.strategy = self.context.make(player)
        return Reply(b'{"ready":true}')

    def act(self, strategy: Strategy[Any, Any], state: Json) -> Reply:
        """Act on a state; a strategy that does nothing answers with no valid action."""
        action = strategy.act(state)
        members = {} if not isinstance(action, tuple) else action_document(action)  # type: ignore[arg-type]
        return Reply(compact({"turns_left": state["turns_left"], **members}))
