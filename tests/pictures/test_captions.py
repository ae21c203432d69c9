"""What stands below a board."""

from __future__ import annotations

import pytest

from cw.drawing import Rectangle, Text, colour_of, letter_of
from cw.games.registry import load_picture
from cw.replays import document as replays_document
from tests.browser.recorded import MATCHES, recorded
from tests.pictures.looking import Look, document_of, sheet_at


def texts_of(document: replays_document.Document, turn: int) -> list[str]:
    """Return the texts below the board."""
    caption = sheet_at(document, turn).parts[1]
    return [shape.text for shape in caption.shapes if isinstance(shape, Text)]


@pytest.mark.parametrize("game", MATCHES)
def test_the_caption_tells_game_turn_players_and_scores(game: str) -> None:
    document = document_of(game)
    turns = len(document["turns"])
    assert texts_of(document, 0)[:2] == [load_picture(game).title, f"turn 0 of {turns}"]
    texts = texts_of(document, turns)
    assert texts[1] == f"turn {turns} of {turns}"
    names = [seat["name"] for seat in document["players"]]
    letters = [letter_of(seat) for seat in range(len(names))]
    assert (texts[2::3], texts[3::3]) == (letters, names)
    outcome = recorded(game)["result"]["outcome"]
    scores = outcome.get("final_scores") or list(outcome["scores"].values())
    if game == "end-of-codes":
        frame = Look(document).frame
        living = [one["userid"] for one in frame["creatures"] if one["hp"] > 0]
        scores = [living.count(seat["player"]) for seat in document["players"]]
    assert [int(text.split()[0]) for text in texts[4::3]] == scores


def test_the_last_picture_has_a_band_in_the_winners_colour() -> None:
    document = document_of("paint")
    last = len(document["turns"])
    document["result"] = {
        "outcome": {"reason": "turns_over", "winner": "bot1", "scores": {"bot0": 3, "bot1": 7}}
    }
    assert texts_of(document, last)[0] == "bot1 won by score, 7 to 3"
    assert texts_of(document, last - 1)[0] == "Paint"
    sheet = sheet_at(document, last)
    [band] = [shape for shape in sheet.parts[1].shapes if isinstance(shape, Rectangle)]
    assert (band.fill, band.width) == (colour_of(1, dark=False), sheet.width)


def test_a_match_that_is_not_over_has_no_band() -> None:
    document = document_of("paint") | {"result": {"outcome": None}}
    assert texts_of(document, len(document["turns"]))[0] == "Paint"


def test_a_draw_is_nobodys_colour() -> None:
    document = document_of("paint") | {"result": {"outcome": {"reason": "turns_over"}}}
    sheet = sheet_at(document)
    [band] = [shape for shape in sheet.parts[1].shapes if isinstance(shape, Rectangle)]
    assert band.fill == colour_of(-1, dark=False)
    assert texts_of(document, -1)[0] == "draw: turns over"
