"""Many bots of End of Codes in one process, which play as the sample bots of the kits do."""

from __future__ import annotations

import random
import sys
import threading

from cw.games.end_of_codes.state import DIRECTIONS
from hub.tests.served_bots import Answer, Asked, proper, say, serving_bots


def sample(asked: Asked) -> Answer:
    """Attack an opponent next to a creature, else stay or wander, each by chance."""
    if asked.request != "round":
        return proper(asked)
    me, creatures = int(asked.fields["myid"]), asked.creatures
    owners = {(one["x"], one["y"]): one["userid"] for one in creatures if one["hp"] > 0}
    intents = []
    for one in creatures:
        if one["userid"] != me or one["hp"] == 0:
            continue
        others = [
            direction
            for direction, (right, up) in DIRECTIONS.items()
            if owners.get((one["x"] + right, one["y"] + up), me) != me
        ]
        if others or random.random() < 0.5:
            action = "attack" if others else "move"
            direction = random.choice(others or list(DIRECTIONS))
            intents.append(
                {"creatureid": one["creatureid"], "action": action, "direction": direction}
            )
    return say({"intent": intents})


if __name__ == "__main__":
    with serving_bots() as bots:
        bots.otherwise = sample
        sys.stdout.write(f"{bots.server.server_port}\n")
        sys.stdout.flush()
        threading.Event().wait()
