"""The vectors of sample_bots/vectors/, and whether a reply is one of those that a vector allows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cw.games.paint.rules.messages import judge

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
    said = json.loads(body)
    assert sorted(said) == ["move_from", "move_to", "status"]
    assert said["status"] == "ok"
    assert all(type(number) is int for number in said["move_from"] + said["move_to"])
    assert [said["move_from"], said["move_to"]] in wanted


def check_intents(wanted: Document, body: bytes) -> None:
    said = json.loads(body)
    assert sorted(said) == ["intent"]
    assert all(sorted(each) == ["action", "creatureid", "direction"] for each in said["intent"])
    assert all(type(each["creatureid"]) is int for each in said["intent"])
    chosen = {str(each["creatureid"]): each for each in said["intent"]}
    assert len(chosen) == len(said["intent"])
    assert chosen.keys() <= wanted.keys()
    for creature, ways in wanted.items():
        intent = chosen.get(creature)
        assert (intent and [intent["action"], intent["direction"]]) in ways


def check_orders(wanted: list[list[int]], body: bytes) -> None:
    said = json.loads(body)
    assert sorted(said) == ["moves"]
    assert all(sorted(order) == ["col", "direction", "row"] for order in said["moves"])
    assert all(order["direction"] in ("N", "E", "S", "W") for order in said["moves"])
    tiles = [[order["row"], order["col"]] for order in said["moves"]]
    assert all(type(number) is int for tile in tiles for number in tile)
    assert all(tile in wanted and tiles.count(tile) == 1 for tile in tiles)


def check_action(wanted: int, body: bytes) -> None:
    said = json.loads(body)
    assert (said.pop("turns_left"), sorted(said)) == (wanted, ["direction", "type"])
    assert judge(said) is not None


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
