"""A bot for End of Codes: attack a neighbour, else stay or wander. Rewrite `choose`."""

from __future__ import annotations

import random

from end_of_codes import DIRECTIONS, Bot, Creature, Game, Intent, attack, move, run


class SampleBot(Bot):
    """Attacks a random opponent next to it, else is idle or makes a random valid move."""

    botname = "sample"
    version = "1.0"

    def choose(self, game: Game) -> list[Intent]:
        """Give your intents, at most one for each of your living creatures."""
        intents = (self.act(game, creature) for creature in game.mine())
        return [intent for intent in intents if intent is not None]

    def act(self, game: Game, creature: Creature) -> Intent | None:
        """Choose for one creature; None is idle."""
        targets, ways = [], []
        for direction, (dx, dy) in DIRECTIONS.items():
            x, y = creature["x"] + dx, creature["y"] + dy
            other = game.at(x, y)
            if other is None and game.is_on_map(x, y):
                ways.append(direction)
            elif other is not None and other["userid"] != game.myid:
                targets.append(direction)
        if targets:
            return attack(creature, random.choice(targets))
        if ways and random.random() < 0.5:
            return move(creature, random.choice(ways))
        return None


if __name__ == "__main__":
    run(SampleBot())
