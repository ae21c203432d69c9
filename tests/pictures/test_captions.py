"""What stands below a board."""

from __future__ import annotations

import pytest

from cw.drawing.palette import letter_of
from cw.drawing.shapes import Text
from cw.games.registry import load_picture
from tests.browser.recorded import MATCHES, recorded
from tests.pictures.looking import Look, document_of, sheet_at


@pytest.mark.parametrize("game", MATCHES)
def test_the_caption_tells_game_turn_players_and_scores(game: str) -> None:
    document = document_of(game)
    caption = sheet_at(document).parts[1]
    texts = [shape.text for shape in caption.shapes if isinstance(shape, Text)]
    turns = len(document["turns"])
    assert texts[:2] == [load_picture(game).title, f"turn {turns} of {turns}"]
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
