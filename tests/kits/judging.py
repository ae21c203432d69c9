"""The vectors of sample_bots/vectors/, and whether a reply is one of those that a vector allows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cw.games.paint.rules import judge

ROOT = Path(__file__).resolve().parents[2]
Document = dict[str, Any]


def vectors(game: str) -> list[Document]:
    file = ROOT / "sample_bots" / "vectors" / f"{game}.jsonl"
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def check(allowed: Document, body: bytes) -> None:
    """Raise AssertionError unless the body is one that the vector allows."""
    for kind, wanted in allowed.items():
        if kind != "status":
            CHECKS[kind](wanted, body)


def check_json(wanted: Any, body: bytes) -> None:
    assert json.loads(body) == wanted


def check_body(wanted: str, body: bytes) -> None:
    assert body.decode() == wanted


def check_has(wanted: Document, body: bytes) -> None:
    assert json.loads(body).items() >= wanted.items()


def check_has_key(wanted: str, body: bytes) -> None:
    assert wanted in json.loads(body)


def check_hexagon_moves(wanted: list[Any], body: bytes) -> None:
    answer = json.loads(body)
    assert sorted(answer) == ["move_from", "move_to", "status"]
    assert answer["status"] == "ok"
    assert all(type(number) is int for number in answer["move_from"] + answer["move_to"])
    assert [answer["move_from"], answer["move_to"]] in wanted


def check_intents(wanted: Document, body: bytes) -> None:
    answer = json.loads(body)
    assert sorted(answer) == ["intent"]
    assert all(sorted(each) == ["action", "creatureid", "direction"] for each in answer["intent"])
    assert all(type(each["creatureid"]) is int for each in answer["intent"])
    intents = {str(each["creatureid"]): each for each in answer["intent"]}
    assert len(intents) == len(answer["intent"])
    assert intents.keys() <= wanted.keys()
    for creature, ways in wanted.items():
        intent = intents.get(creature)
        assert (intent and [intent["action"], intent["direction"]]) in ways


def check_orders(wanted: list[list[int]], body: bytes) -> None:
    answer = json.loads(body)
    assert sorted(answer) == ["moves"]
    assert all(sorted(order) == ["col", "direction", "row"] for order in answer["moves"])
    assert all(order["direction"] in ("N", "E", "S", "W") for order in answer["moves"])
    tiles = [[order["row"], order["col"]] for order in answer["moves"]]
    assert all(type(number) is int for tile in tiles for number in tile)
    assert all(tile in wanted and tiles.count(tile) == 1 for tile in tiles)


def check_action(wanted: int, body: bytes) -> None:
    answer = json.loads(body)
    assert (answer.pop("turns_left"), sorted(answer)) == (wanted, ["direction", "type"])
    assert judge(answer) is not None


CHECKS = {
    "json": check_json,
    "body": check_body,
    "has": check_has,
    "has_key": check_has_key,
    "hexagon_moves": check_hexagon_moves,
    "intents": check_intents,
    "orders": check_orders,
    "action": check_action,
}
