"""How End of Codes games restart with the bots that passed `GET /bot`, and their statistics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from cw.games.codec import Conduct, numbered_name
from cw.games.end_of_codes.rules import EndOfCodes
from cw.games.end_of_codes.rules.resolution import expelled
from cw.games.end_of_codes.state import State
from cw.games.rules import Fault, Json, Player


def genesis_again(rules: EndOfCodes, start: State, seed: int, options: Mapping[str, Json]) -> State:
    """Return the genesis for the recorded players; those who failed `POST /game` are dead."""
    players = [{"userid": player.userid, "username": player.username} for player in start.players]
    faults = {
        player.userid: Fault(player.fault.kind, player.fault.error or "")
        for player in start.players
        if player.fault is not None
    }
    return expelled(rules.new(players, seed, **options), faults)


def deaths(state: State) -> dict[Player, dict[str, Json]]:
    """Return the round in which each player died, or None for survivors."""
    return {player.userid: {"died": player.died} for player in state.players}


def numbered(document: Json) -> Json:
    """Return the JSON of a state with numbers in place of usernames."""
    players = [
        {**player, "username": numbered_name(player["userid"])} for player in document["players"]
    ]
    return {**document, "players": players}


CONDUCT: Final = Conduct(restart=genesis_again, figures=deaths, numbered=numbered)
