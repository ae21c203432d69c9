"""The vectors of End of Codes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from tests.kits.steps import API_KEY, Step, Vector, compact, expect, request, vector

Creature = tuple[int, int, int, int, int]
"""creatureid, userid, x, y, hp."""

URLENCODED = "application/x-www-form-urlencoded"
PLAYERS = [{"username": "alice", "userid": 1}, {"username": "bob", "userid": 2}]


def creatures(*all_: Creature) -> str:
    names = ("creatureid", "userid", "x", "y", "hp")
    return compact([dict(zip(names, each, strict=True)) for each in all_])


def form(path: str, fields: dict[str, Any], encoding: str = "urlencoded") -> Step:
    plain = request("POST", path)
    if encoding == "urlencoded":
        return plain | {"type": URLENCODED, "body": urlencode(fields)}
    parts = [
        f'--{encoding}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields.items()
    ]
    kind = f"multipart/form-data; boundary={encoding}"
    return plain | {"type": kind, "body": f"{''.join(parts)}--{encoding}--\r\n"}


def game_fields(gameid: int, **more: Any) -> dict[str, Any]:
    fields = {"method": "create", "api_key": API_KEY, "gameid": gameid}
    fields |= {"players": compact(PLAYERS), "W": 5, "H": 5, "M": 3, "MAX_HP": 5}
    return fields | more


def round_fields(gameid: int, number: int, world: str, **more: Any) -> dict[str, Any]:
    fields = {"method": "create", "api_key": API_KEY, "round": number, "map": world}
    return fields | {"gameid": gameid, "myid": 1, "W": 5, "H": 5} | more


def play(gameid: int, number: int, *all_: Creature, **reply: Any) -> Step:
    return expect(form("/round", round_fields(gameid, number, creatures(*all_))), **reply)


def attacks(creature: int, direction: str) -> dict[str, Any]:
    intent = {"creatureid": creature, "action": "attack", "direction": direction}
    return {"intent": [intent]}


ANYWHERE = [None, *(["move", way] for way in ("north", "east", "south", "west"))]
NOTHING: dict[str, list[Any]] = {"intent": []}


def end_of_codes() -> Iterator[Vector]:
    who = {"botname": "sample", "version": "1.0", "username": "alice"}
    yield vector("GET /bot", [expect(request("GET", f"/bot?api_key={API_KEY}"), json=who)])
    start = expect(form("/game", game_fields(1)), json=[])
    yield vector(
        "an opponent next to us is attacked",
        [
            start,
            play(1, 0, (1, 1, 0, 2, 2), (2, 2, 1, 2, 2), json=attacks(1, "east")),
            play(1, 1, (1, 1, 0, 2, 2), (2, 2, 0, 3, 2), json=attacks(1, "north")),
            play(1, 2, (1, 1, 1, 2, 2), (2, 2, 0, 2, 2), json=attacks(1, "west")),
            play(1, 3, (1, 1, 1, 2, 2), (2, 2, 1, 1, 2), json=attacks(1, "south")),
            play(
                1,
                4,
                (1, 1, 2, 2, 1),
                (2, 2, 2, 3, 1),
                (3, 2, 1, 2, 1),
                intents={"1": [["attack", "north"], ["attack", "west"]]},
            ),
            play(1, 5, (1, 1, 1, 2, 2), (2, 2, 1, 1, 0), json=NOTHING),
        ],
    )
    yield vector("moves and idling", moving())
    yield vector(
        "both encodings",
        [
            expect(form("/game", game_fields(3), "frontier"), json=[]),
            expect(form("/game", game_fields(3), "----WebKitFormBoundary7MA4"), json=[]),
            quoted(form("/game", game_fields(3), "in quotes")),
            expect(
                form("/round", round_fields(3, 0, near(), extra="1", map2="[]"), "0f1e2d3c"),
                json=attacks(7, "east"),
            ),
            expect(lower_case(form("/round", round_fields(3, 1, near()))), json=attacks(7, "east")),
            expect(
                form("/round", dict(reversed(round_fields(3, 2, near()).items()))),
                json=attacks(7, "east"),
            ),
        ],
    )
    yield vector(
        "two games at once",
        [
            expect(form("/game", game_fields(41, W=2, H=2)), json=[]),
            expect(form("/game", game_fields(42, W=3, H=3)), json=[]),
            play(42, 0, (1, 1, 1, 1, 1), (2, 2, 1, 2, 1), json=attacks(1, "north")),
            play(41, 0, (1, 1, 1, 1, 1), (2, 2, 0, 1, 1), json=attacks(1, "west")),
            play(42, 1, (1, 1, 1, 1, 1), (2, 2, 2, 1, 1), json=attacks(1, "east")),
            play(41, 1, (1, 1, 1, 1, 1), (2, 2, 1, 0, 0), json=NOTHING),
            play(42, 2, (1, 1, 1, 1, 1), (2, 2, 1, 0, 1), json=attacks(1, "south")),
        ],
    )
    yield vector(
        "a game that began before the program",
        [play(77, 8, (1, 1, 1, 1, 1), (2, 2, 1, 2, 1), json=attacks(1, "north"))],
    )
    yield vector("wrong keys", wrong_keys())
    yield vector("what cannot be answered", unanswerable())


def near() -> str:
    return creatures((7, 1, 0, 2, 2), (8, 2, 1, 2, 2))


def quoted(step: Step) -> Step:
    kind = 'multipart/form-data; charset=utf-8; Boundary="in quotes"'
    return expect(step | {"type": kind}, json=[])


def lower_case(step: Step) -> Step:
    """Write the codes of the encoding with small letters."""
    body = "".join(
        part if number == 0 else part[:2].lower() + part[2:]
        for number, part in enumerate(f"%{piece}" for piece in step["body"].split("%"))
    )
    return step | {"body": body.removeprefix("%")}


def moving() -> list[Step]:
    corner = [None, ["move", "north"], ["move", "east"]]
    return [
        expect(form("/game", game_fields(2)), json=[]),
        play(2, 0, (1, 1, 2, 2, 1), (2, 2, 4, 4, 1), intents={"1": ANYWHERE}),
        play(2, 1, (1, 1, 0, 0, 1), (2, 2, 4, 4, 1), intents={"1": corner}),
        play(
            2,
            2,
            (1, 1, 4, 4, 1),
            (2, 2, 0, 0, 1),
            intents={"1": [None, ["move", "south"], ["move", "west"]]},
        ),
        # Dead creatures are not targets and block nobody; own ones are not targets but block.
        play(
            2,
            3,
            (1, 1, 0, 0, 1),
            (2, 2, 0, 1, 0),
            (3, 1, 1, 0, 1),
            (4, 2, 4, 4, 1),
            intents={
                "1": [None, ["move", "north"]],
                "3": [None, ["move", "north"], ["move", "east"]],
            },
        ),
        play(
            2,
            4,
            (1, 1, 0, 0, 1),
            (2, 1, 0, 1, 1),
            (3, 1, 1, 0, 1),
            (4, 2, 1, 1, 1),
            (5, 1, 4, 4, 0),
            intents={"1": [None], "2": [["attack", "east"]], "3": [["attack", "north"]]},
        ),
        play(2, 5, (1, 1, 0, 0, 0), (2, 2, 0, 1, 1), (3, 3, 4, 4, 1), json=NOTHING),
    ]


def wrong_keys() -> list[Step]:
    keys = ("", "x", API_KEY[:-1], API_KEY + "0", API_KEY.upper(), "\u00e9")
    wrong = [
        expect(form(path, fields | {"api_key": key}), 401, has_key="error")
        for key in keys
        for path, fields in (("/game", game_fields(5)), ("/round", round_fields(5, 0, near())))
    ]
    bare = {name: value for name, value in game_fields(5).items() if name != "api_key"}
    return [
        *wrong,
        expect(form("/game", bare), 401, has_key="error"),
        expect(request("GET", "/bot"), 401, has_key="error"),
        expect(request("GET", "/bot?api_key=0"), 401, has_key="error"),
        expect(request("GET", f"/bot?api_key={API_KEY}&more=1"), has_key="botname"),
    ]


def unanswerable() -> list[Step]:
    def without(name: str) -> dict[str, Any]:
        return {key: value for key, value in round_fields(6, 0, near()).items() if key != name}

    wrong: list[dict[str, Any]] = [
        without(name) for name in ("round", "map", "myid", "W", "gameid")
    ]
    wrong += [round_fields(6, 0, world) for world in ("", "{", "{}", "7", "[7]", '[{"x":1}]')]
    wrong += [round_fields(6, 0, near(), **{name: "1.5"}) for name in ("round", "myid", "H")]
    wrong += [round_fields(6, 0, near(), method="purge"), without("method")]
    plain = form("/round", round_fields(6, 0, near())) | {"type": "text/plain"}
    untyped = {key: value for key, value in plain.items() if key != "type"}
    no_form = [expect(step, 400, has_key="error") for step in (plain, untyped)]
    return [
        *(expect(form("/round", fields), 400, has_key="error") for fields in wrong),
        *no_form,
        expect(form("/game", game_fields(6, players="?")), 400, has_key="error"),
        expect(form("/game", game_fields(6, M="x")), 400, has_key="error"),
        expect(form("/other", game_fields(6)), 404, has_key="error"),
        expect(request("GET", "/round"), 404, has_key="error"),
        expect(request("GET", "/"), 404, has_key="error"),
    ]
