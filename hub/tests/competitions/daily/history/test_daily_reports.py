"""Each way to break in a game, over real HTTP, and the sentence that the owner of the bot reads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from typing import Any

import pytest

from cw.games.end_of_codes.protocol import FAILURES, TEXTS
from cw.games.end_of_codes.state import DIRECTIONS
from cw_hub.competitions.daily.history import FINE, WORDS, problem
from cw_hub.operation.resources import Resources
from hub.tests.daily_hub import Hub
from hub.tests.served_bots import Answer, Asked, Behave, Bots, say, serving_bots
from hub.tests.sites import Site

CLOSED = Answer(None)
KILLED = " and your creatures were killed by the grader"


@dataclass(frozen=True)
class Broken:
    """A bot that breaks once, and what its owner is told."""

    error: str
    answer: Answer
    words: str

    def behave(self, asked: Asked) -> Answer | None:
        return self.answer if asked.request == self.error.partition("_")[0] else None


def whole(**document: Any) -> Answer:
    return say(document)


LEFT_OUT = "left out a key: expected creatureid, direction and action, got "
SCRIPT = "<script>alert(1)</script>"

IN_GAME = (
    Broken("game_broken_reply", CLOSED, "closed the connection before its answer was complete"),
    Broken(
        "game_http_code_not_ok",
        Answer(b"[]", 404),
        "responded with HTTP code 404 when 200 OK was expected",
    ),
    Broken("game_oversize", Answer(b" " * 65_537), "sent an answer above 64 KiB"),
    Broken(
        "game_invalid_json",
        Answer(b"{"),
        "returned a non-JSON response when valid JSON was expected",
    ),
    Broken("game_error_key", whole(error=SCRIPT), f'indicated an error: "{SCRIPT}"'),
    Broken("game_additional_data", whole(x=1), 'sent invalid keys: {"x": 1}'),
)
IN_ROUND = (
    Broken("round_broken_reply", CLOSED, "closed the connection before its answer was complete"),
    Broken(
        "round_http_code_not_ok",
        Answer(b"", 500),
        "responded with HTTP code 500 when 200 OK was expected",
    ),
    Broken("round_oversize", Answer(b" " * 262_145), "sent an answer above 256 KiB"),
    Broken(
        "round_invalid_json",
        Answer(b"null"),
        "returned a non-JSON response when valid JSON was expected",
    ),
    Broken("round_error_key", whole(error="full"), 'indicated an error: "full"'),
    Broken(
        "round_intent_not_set",
        say([]),
        'left out a key: expected {"intent": [...]}, got []',
    ),
    Broken("round_additional_data", whole(intent=[], more=1), "sent invalid keys: more"),
    Broken(
        "round_wrong_type",
        whole(intent=5),
        "sent a value of inappropriate type: expected a list, got 5",
    ),
    Broken(
        "round_response_not_object",
        whole(intent=[7]),
        "left out a key: expected an object, got 7",
    ),
    Broken("round_creatureid_not_set", whole(intent=[{}]), f"{LEFT_OUT}{{}}"),
    Broken(
        "round_direction_not_set",
        whole(intent=[{"creatureid": 7}]),
        f'{LEFT_OUT}{{"creatureid": 7}}',
    ),
    Broken(
        "round_action_not_set",
        whole(intent=[{"creatureid": 7, "direction": "north"}]),
        f'{LEFT_OUT}{{"creatureid": 7, "direction": "north"}}',
    ),
)


def intents(asked: Asked, *creatures: int, **wrong: Any) -> Answer:
    """Give an intent for each creature, with what is `wrong` in it."""
    right = {"action": "move", "direction": "north"}
    return say({"intent": [{"creatureid": one, **right, **wrong} for one in creatures]})


def own(asked: Asked) -> int:
    return asked.mine()[0]["creatureid"]


def of_another(asked: Asked) -> int:
    myid = int(asked.fields["myid"])
    return next(one["creatureid"] for one in asked.creatures if one["userid"] != myid)


IN_INTENT: Sequence[tuple[str, Behave, str]] = (
    (
        "round_intent_additional_data",
        lambda asked: intents(asked, own(asked), haste=1),
        "sent invalid keys: haste",
    ),
    (
        "round_wrong_type",
        lambda asked: intents(asked, own(asked), creatureid=1.5),
        "sent a value of inappropriate type: expected an integer, got 1.5",
    ),
    (
        "round_invalid_creatureid",
        lambda asked: intents(asked, 700),
        "gave an intent for an unknown creature: 700",
    ),
    (
        "round_intent_not_own_creature",
        lambda asked: intents(asked, of_another(asked)),
        r"gave an intent for a creature of another player: \d+",
    ),
    (
        "round_action_invalid",
        lambda asked: intents(asked, own(asked), action="fly"),
        "sent an incorrect action: fly",
    ),
    (
        "round_direction_invalid",
        lambda asked: intents(asked, own(asked), direction="up"),
        "sent an incorrect direction: up",
    ),
    (
        "round_intent_duplicate",
        lambda asked: intents(asked, own(asked), own(asked)),
        r"gave an intent for the same creature twice: \d+",
    ),
)


@pytest.fixture
def bots() -> Iterator[Bots]:
    with serving_bots() as bots:
        yield bots


def in_round(behave: Behave) -> Behave:
    return lambda asked: behave(asked) if asked.request == "round" else None


def test_each_error_of_a_game_is_told_to_the_owner_of_the_bot(site: Site, bots: Bots) -> None:
    hub = Hub(site.resources, {"M": 2, "MAX_HP": 2, "max_rounds": 2})
    expected: dict[int, tuple[str, str]] = {}

    def enter(behave: Behave, error: str, words: str) -> None:
        name = f"bot{len(expected)}"
        bots.behave[name] = behave
        player, _ = hub.player(name, bots.at(name))
        when = " in round 0" if error.startswith("round") else ""
        expected[player] = error, f"Your bot {words}{when}{KILLED}"

    for one in (*IN_GAME, *IN_ROUND):
        enter(one.behave, one.error, re.escape(one.words))
    for error, behave, words in IN_INTENT:
        enter(in_round(behave), error, words)
    fine = [hub.player(name, bots.at(name))[0] for name in ("ann", "bob")]
    # One of them is a visitor of the page, whose bot says what a page must not run.
    ada = site.player("Ada")
    bots.behave["Ada"] = in_round(lambda _: whole(error=SCRIPT))
    ada.fill("/bots/end-of-codes", endpoint=bots.at("Ada"), form="urlencoded")
    game = hub.play()
    assert (game.state, game.reason) == ("done", "round_cap")
    reports = {seat.faults[0]["userid"]: seat.faults[0] for seat in hub.seats() if seat.faults}
    assert {player: reports[player]["error"] for player in expected} == {
        player: error for player, (error, _) in expected.items()
    }
    for player, (_, sentence) in expected.items():
        assert re.fullmatch(sentence, hub.sentence_for(player))
    assert [hub.sentence_for(player) for player in fine] == [FINE, FINE]
    page = ada.open("/bots/end-of-codes").text
    assert SCRIPT not in page
    assert f'Your bot indicated an error: "{SCRIPT}" in round 0{KILLED}' in unescape(page)


def test_who_goes_away_in_a_game_is_told_so(resources: Resources, bots: Bots) -> None:
    hub = Hub(resources, {"M": 2, "MAX_HP": 2, "max_rounds": 2})
    with serving_bots() as leaving:

        def leave(asked: Asked) -> Answer | None:
            if asked.request == "game":
                leaving.leave()
                return CLOSED
            return None

        leaving.behave["bob"] = leave
        player, _ = hub.player("bob", leaving.at("bob"))
        hub.player("ann", bots.at("ann"))
        hub.play()
    assert hub.sentence_for(player) == f"Your bot rejected connections{KILLED}"


@pytest.mark.thorough
def test_who_hangs_in_a_game_is_told_so(resources: Resources, bots: Bots) -> None:
    """It is waited for by the limits of tests, a minute."""
    hub = Hub(resources, {"M": 2, "MAX_HP": 2, "max_rounds": 2})
    with serving_bots() as late:
        slow, _ = hub.player("cid", late.at("cid"))
        hub.player("ann", bots.at("ann"))
        with late.held_at("round", 1):
            hub.play()
    sentence = f"Your bot did not answer within 5 seconds in round 1{KILLED}"
    assert hub.sentence_for(slow) == sentence


def test_a_dead_player_who_breaks_is_told_without_the_suffix(
    resources: Resources, bots: Bots
) -> None:
    """Where three have one creature each on nine cells, one hunts another down, who then breaks."""
    hub = Hub(resources, {"M": 1, "MAX_HP": 1, "W": 3, "H": 3, "max_rounds": 60})
    victim, _ = hub.player("victim", bots.at("victim"))
    for name in ("hunter", "watcher"):
        hub.player(name, bots.at(name))
    bots.behave["hunter"] = hunts(victim)
    bots.behave["victim"] = in_round(
        lambda asked: (
            None if asked.mine() else intents(asked, asked.mine(alive=False)[0]["creatureid"])
        )
    )
    hub.play()
    seat = hub.seats()[0]
    assert seat.faults[0]["error"] == "round_intent_dead_creature"
    assert seat.stats["died"] == seat.faults[0]["round"]
    assert (seat.rank, [other.rank for other in hub.seats()[1:]]) == (3, [1, 1])
    assert re.fullmatch(
        r"Your bot gave an intent for a dead creature: \d+ in round \d+", hub.sentence_for(victim)
    )


def uses_the_dead(asked: Asked) -> Answer | None:
    """Give an intent for a creature as soon as it is dead."""
    dead = asked.mine(alive=False)
    return intents(asked, dead[0]["creatureid"]) if dead else None


def hunts(victim: int) -> Behave:
    """Return a bot with one creature that goes after those of a player, around all others."""

    def hunt(asked: Asked) -> Answer | None:
        if asked.request != "round" or not asked.mine():
            return None
        cells = {(one["x"], one["y"]): one["userid"] for one in asked.creatures if one["hp"]}
        me = asked.mine()[0]
        way = way_to(cells, (me["x"], me["y"]), victim)
        return way and intents(asked, me["creatureid"], action=way[0], direction=way[1])

    return hunt


def way_to(
    cells: Mapping[tuple[int, int], int], start: tuple[int, int], victim: int
) -> tuple[str, str] | None:
    """Return what leads to a player on nine cells: an action and a direction."""
    seen, firsts = {start}, [(start, "")]
    for (x, y), first in firsts:
        for direction, (right, up) in DIRECTIONS.items():
            cell = (x + right, y + up)
            if cells.get(cell) == victim:
                return ("move", first) if first else ("attack", direction)
            if cell not in seen | cells.keys() and max(cell) < 3 and min(cell) >= 0:
                seen.add(cell)
                firsts.append((cell, first or direction))
    return None


def test_who_fails_between_admission_and_game_is_not_in_it(
    resources: Resources, bots: Bots
) -> None:
    hub = Hub(resources)
    asked: list[Asked] = []

    def forgets(one: Asked) -> Answer | None:
        asked.append(one)
        return say({}) if len(asked) > 1 else None

    bots.behave["bob"] = forgets
    for name in ("ann", "bob"):
        player, _ = hub.player(name, bots.at(name))
    game = hub.play()
    assert [(seat.name, seat.rank) for seat in hub.seats()] == [("ann", 1), ("bob", None)]
    assert hub.sentence_for(player) == TEXTS[5]
    assert game.state == "done"


@pytest.mark.parametrize("name", sorted({*FAILURES.values(), *WORDS}))
def test_there_are_words_for_each_error(name: str) -> None:
    report = {"error": f"round_{name}", "round": 7, "expected": "x", "actual": "y", "text": ""}
    assert problem(report, 8).endswith(f" in round 7{KILLED}")
    assert "{" not in problem(report, None)
