"""Results in the viewer: they explain themselves, and are hidden until the end."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from cw.replays import document as replays_document
from tests.browser.recorded import recorded
from tests.browser.viewer.viewing import (
    READY,
    Altered,
    Open,
    last_turn,
)

# Results explain themselves


def ended(game: str, outcome: dict[str, Any], **changes: Any) -> replays_document.Document:
    """Give a replay with another end."""
    document = recorded(game) | changes
    return document | {"result": document["result"] | {"outcome": outcome}}


def with_last_frame(
    document: replays_document.Document, **changes: Any
) -> replays_document.Document:
    """Change members of the last frame."""
    last = document["turns"][-1]
    patch = last["frame"] | {name: [value] for name, value in changes.items()}
    return document | {"turns": [*document["turns"][:-1], last | {"frame": patch}]}


def two_players(*, score: int, collected: list[int], bots: list[int]) -> replays_document.Document:
    """Give a match of Code Battle that ended with the turn limit, of two players."""
    players = [
        {"energy": 0, "collected": collected[seat] if seat < 2 else 0, "score": score * (seat < 2)}
        for seat in range(3)
    ]
    living = [
        {"row": row, "col": 3 * seat, "owner": seat, "id": 1000 + 100 * seat + row}
        for seat, count in enumerate(bots)
        for row in range(count)
    ]
    order = sorted((0, 1), key=lambda seat: (-collected[seat], -bots[seat]))
    is_draw = collected[0] == collected[1] and bots[0] == bots[1]
    ranks = [1, 1, 3] if is_draw else [1 + order.index(0), 1 + order.index(1), 3]
    outcome = {
        "winner": None if is_draw else order[0],
        "condition": "turn_limit",
        "ranks": ranks,
        "final_scores": [score, score, 0],
        "final_energy": [*collected, 0],
        "final_bots": [*bots, 0],
    }
    return with_last_frame(ended("code-battle", outcome), players=players, bots=living)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("document", "words"),
    [
        (
            {"score": 2, "collected": [57, 33], "bots": [4, 9]},
            "bot0 won. The last turn, {last}, was played. The best were tied in score (2); "
            "the tie-break, collected energy, decided: 57 to 33.",
        ),
        (
            {"score": 1, "collected": [33, 33], "bots": [4, 9]},
            "bot1 won. The last turn, {last}, was played. The best were tied in score (1) and "
            "collected energy (33); the tie-break, living bots, decided: 9 to 4.",
        ),
        (
            {"score": 1, "collected": [33, 33], "bots": [4, 4]},
            "Draw: bot0 and bot1. The last turn, {last}, was played. bot0 and bot1 are tied in "
            "score (1), collected energy (33) and living bots (4): a draw.",
        ),
    ],
)
def test_a_tie_break_is_told_with_its_figures(
    altered: Altered, document: dict[str, Any], words: str
) -> None:
    page = altered(two_players(**document))
    words = words.format(last=last_turn("code-battle"))
    expect(page.locator("#reason")).to_have_text(words)
    page.keyboard.press("End")
    winner, _, why = words.partition(". ")
    expect(page.locator("#lead")).to_have_text(winner)
    expect(page.locator("#happened .event.end")).to_have_text(why)


TIMED_OUT = {"turn": 3, "player": 2, "kind": "timeout", "detail": "no move in 3 s."}
STONE = {"turn": 3, "player": 1, "kind": "illegal", "detail": "[0, 0] is a stone"}
LATE = {"turn": 6, "player": 3, "kind": "timeout", "detail": ""}
FIRST, SECOND, BOTH = {"1": 1, "2": 2}, {"1": 2, "2": 1}, {"1": 1, "2": 1, "3": 3}


@pytest.mark.parametrize(
    ("game", "outcome", "faults", "words"),
    [
        (
            "circuit-wars",
            {"reason": "timeout", "winner": 1, "ranks": FIRST, "scores": {"1": 3, "2": 4}},
            [TIMED_OUT],
            "bot0 won. In turn {last} bot1 forfeited: it did not answer in time: no move in 3 s. "
            "The board stood at 3 to 4 squares, which do not count after a forfeit.",
        ),
        (
            "hexagon",
            {"reason": "illegal", "winner": 2, "ranks": SECOND, "scores": {"1": 9, "2": 4}},
            [STONE],
            "bot1 won. In turn {last} bot0 forfeited: it made an illegal move: [0, 0] is a "
            "stone. The chips stood at 9 to 4, which do not count after a forfeit.",
        ),
        (
            "paint",
            {"reason": "turns_over"},
            [],
            "Draw: bot0 and bot1. The last turn was played, turn {last}: bot0 and bot1 own 40 "
            "squares each, and there is no tie-break.",
        ),
        ("paint", {"reason": "resigned"}, [], "bot0 won. In turn {last} bot1 resigned."),
        (
            "end-of-codes",
            {"reason": "round_cap", "winner": None, "ranks": BOTH, "scores": {}},
            [LATE],
            "Draw: bot0 and bot1. The last round was played, and bot0 and bot1 still had creatures "
            "and share the first rank, however many they had. In turn 6 bot2 was thrown out: it "
            "did not answer in time.",
        ),
        (
            "hexagon",
            None,
            [],
            "No winner. The match was abandoned in turn {last}, without a result.",
        ),
    ],
)
def test_an_end_is_told(
    altered: Altered,
    game: str,
    outcome: dict[str, Any] | None,
    faults: list[dict[str, Any]],
    words: str,
) -> None:
    if game == "paint" and outcome is not None:
        first, second = (str(seat["player"]) for seat in recorded("paint")["players"])
        is_draw = outcome["reason"] == "turns_over"
        outcome = outcome | {
            "ranks": {first: 1, second: 1 if is_draw else 2},
            "scores": {first: 40, second: 40},
        }
    document = recorded(game) | {"faults": faults}
    page = altered(document | {"result": document["result"] | {"outcome": outcome}})
    words = words.format(last=last_turn(game))
    expect(page.locator("#reason")).to_have_text(words)


def test_the_caption_tells_of_a_fault_and_whose_fault_decided(altered: Altered) -> None:
    outcome = {"reason": "illegal", "winner": 2, "ranks": SECOND, "scores": {"1": 9, "2": 4}}
    last = last_turn("hexagon") - 1
    faults = [{**LATE, "player": 2}, {**STONE, "turn": last}]
    page = altered(ended("hexagon", outcome, faults=faults))
    caption = page.locator("#lead")
    expect(caption).not_to_have_class("fault")
    page.evaluate("location.hash = 'turn=7'")
    expect(caption).to_have_text("bot1 did not answer in time")
    expect(caption).to_have_class("fault")
    page.keyboard.press("End")
    expect(caption).to_have_text("bot1 won: bot0 made an illegal move")
    expect(caption).not_to_have_class("fault")


def test_a_mistake_of_end_of_codes_is_shown_with_the_round_that_was_asked(altered: Altered) -> None:
    jump = {"player": 1, "kind": "illegal", "detail": "JUMP is no action"}
    faults = [{**jump, "turn": 0}, {**LATE, "turn": 1, "player": 2}]
    page = altered(recorded("end-of-codes") | {"faults": faults})
    caption, events = page.locator("#lead"), page.locator("#events button")
    for turn, words in enumerate(["bot0 made an illegal move", "bot1 did not answer in time"]):
        page.evaluate(f"location.hash = 'turn={turn}'")
        expect(caption).to_have_text(words)
        event = page.locator(f"#events li:has-text('{words}')")
        expect(event).to_have_count(1)
        expect(event).to_contain_text(str(turn))
    page.evaluate("location.hash = 'turn=2'")
    expect(caption).not_to_have_class("fault")
    events.filter(has_text="bot1 did not answer").click()
    expect(page.locator("#turn")).to_have_text("1")


# The result stays hidden until the end


def pixels_right_of(page: Page, name: str, share: float) -> int:
    """Count the pixels that are drawn on a canvas right of a part of its width."""
    return int(
        page.evaluate(
            """([name, share]) => {
              const canvas = document.getElementById(name);
              const { width, height } = canvas;
              const from = Math.round(width * share);
              const copy = Object.assign(document.createElement("canvas"), { width, height });
              const ctx = copy.getContext("2d", { willReadFrequently: true });
              ctx.drawImage(canvas, 0, 0);
              const { data } = ctx.getImageData(from, 0, width - from, height);
              return data.filter((value, at) => at % 4 === 3 && value > 0).length;
            }""",
            [name, share],
        )
    )


@pytest.mark.thorough
def test_the_result_is_hidden_until_the_end_was_watched(opened: Open, site: str) -> None:
    page = opened("circuit-wars")
    hide = page.get_by_role("switch", name="Hide the result")
    expect(page.locator("#result")).to_contain_text("won")
    hide.check()
    last = last_turn("circuit-wars")

    def check_hidden(turn: int) -> None:
        expect(page.locator("#title")).to_have_text("bot0 against bot1")
        assert "won" not in page.title()
        expect(page.locator("#result")).to_be_hidden()
        text = page.locator("main").inner_text()
        assert "won" not in text
        for at in page.locator("#events .at").all_inner_texts():
            assert int(at) <= turn
        for number in page.locator(".turn-row:visible").evaluate_all(
            "(rows) => rows.map((row) => Number(row.dataset.turn))"
        ):
            assert number <= turn
        assert pixels_right_of(page, "marks", turn / last + 0.06) == 0
        for moment in page.locator("#moments button:visible .unseen").all_inner_texts():
            assert int(re.sub(r"\D", "", moment)) <= turn

    check_hidden(0)
    page.evaluate("(turn) => { location.hash = `turn=${turn}`; }", last // 2)
    expect(page.locator("#turn")).to_have_text(str(last // 2))
    check_hidden(last // 2)
    page.goto(f"{site}/replays/circuit-wars#turn=3")
    page.reload()
    page.wait_for_selector(READY)
    expect(hide).to_be_checked()
    check_hidden(3)
    page.keyboard.press("End")
    expect(page.locator("#lead")).to_have_text(re.compile("won"))
    expect(page.locator("#result")).to_be_visible()
    page.keyboard.press("Home")
    expect(page.locator("#lead")).not_to_have_text(re.compile("won"))
    expect(page.locator("#result")).to_contain_text("won")
    hide.uncheck()
    page.reload()
    page.wait_for_selector(READY)
    expect(hide).not_to_be_checked()
