"""Serves a Paint strategy as a program that reads and writes lines."""

from __future__ import annotations

from typing import Any

from cw.games.paint.protocol import decode
from cw.games.paint.rules import action_document
from cw.games.rules import Json, Player, Strategy
from cw.games.wire import BotContext, LineMessage, Reply, Request, compact


class PaintBotHandler:
    """Reports that it is ready, then replies to every state with an action."""

    def __init__(self, context: BotContext) -> None:
        """Initialize the handler; the player id creates the strategy."""
        self.context = context
        self.strategy: Strategy[Any, Any] | None = None

    def answer(self, message: Request | LineMessage) -> Reply | None:
        """Reply to a line."""
        document = decode(message.text) if isinstance(message, LineMessage) else None
        if not isinstance(document, dict):
            return None
        if "player_id" in document:
            return self.greet(document["player_id"])
        return None if self.strategy is None else self.act(self.strategy, document)

    def greet(self, player: Player) -> Reply:
        """Create the strategy of a player, and report that it is ready."""
        self.strategy = self.context.make(player)
        return Reply(b'{"ready":true}')

    def act(self, strategy: Strategy[Any, Any], state: Json) -> Reply:
        """Reply to a state; a strategy that does nothing sends no valid action."""
        action = strategy.act(state)
        members = {} if not isinstance(action, tuple) else action_document(action)  # type: ignore[arg-type]
        return Reply(compact({"turns_left": state["turns_left"], **members}))
