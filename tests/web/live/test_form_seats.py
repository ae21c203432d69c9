"""The seats of forms: as many are taken as a game needs, and a person meets as many bots."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from cw.games.registry import load_game, load_play_options
from cw.new_game import NewGame, rendered
from cw.web import live_matches
from tests.documented import installed, place
from tests.web.live.live_pages import Served, begin, document_of, ended, wait_for_turn

OURS = ["circuit-wars", "code-battle", "end-of-codes", "hexagon", "paint"]
NUMBERS = {"pair": (2, 2), "trio": (3, 3), "quad": (4, 4), "few": (2, 4), "several": (3, 4)}
"""New games, and how many they are for."""


@pytest.fixture(scope="module")
def new_games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with games that were made a moment ago."""
    folder = tmp_path_factory.mktemp("new")
    for name, (fewest, most) in NUMBERS.items():
        place(folder, dict(rendered(NewGame(name, fewest, most, simultaneous=name == "quad"))))
    return folder


@pytest.fixture(autouse=True)
def with_games(new_games: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install them, and those of docs/add-a-game.md."""
    monkeypatch.syspath_prepend(installed())
    monkeypatch.syspath_prepend(new_games)


def chosen(page: str) -> dict[str, str]:
    """Return what each choice of the form for bots sends if nothing is changed."""
    form = page.partition('aria-labelledby="watch-title"')[2].partition("</form>")[0]
    fields = {}
    for name, options in re.findall(r'<select name="([\w-]+)">(.*?)</select>', form, re.S):
        values = re.findall(r'<option(?: value="([^"]*)")?( selected)?>([^<]*)', options)
        none = "no player"
        sent = [value or words if value or words != none else "" for value, _, words in values]
        marked = [sent[at] for at, (_, is_marked, _) in enumerate(values) if is_marked]
        fields[name] = (marked or sent)[0]
    return fields


def seats_in(fields: dict[str, str]) -> list[str]:
    return [value for name, value in fields.items() if name.startswith("seat-")]


@pytest.mark.parametrize("game", [*NUMBERS, "nim", "tron", *OURS])
def test_the_form_of_every_game_begins_a_match_as_it_stands(served: Served, game: str) -> None:
    client = served()
    fields = chosen(client.get(f"/games/{game}/").text)
    taken = [seat for seat in seats_in(fields) if seat]
    assert seats_in(fields)[: len(taken)] == taken
    named = len(load_play_options(game).strategies) if game in OURS else 0
    assert len(taken) == max(2, load_game(game).rules.seats.start, named)
    document = document_of(client, begin(client, game, fields | {"pace": "all"}))
    assert document["live"]["trouble"] == ""
    assert len(document["players"]) == len(taken)


@pytest.mark.parametrize(("name", "numbers"), NUMBERS.items())
def test_nobody_is_offered_for_the_seats_that_a_game_can_do_without(
    served: Served, name: str, numbers: tuple[int, int]
) -> None:
    fewest, most = numbers
    page = served().get(f"/games/{name}/").text
    assert len(seats_in(chosen(page))) == most
    assert page.count('<option value="">no player</option>') == most - fewest


def test_all_seats_of_a_form_may_be_taken(served: Served) -> None:
    client = served()
    four = {f"seat-{number}": "builtin:greedy" for number in range(1, 5)}
    document = ended(client, begin(client, "few", four | {"pace": "all"}))
    assert [player["name"] for player in document["players"]][0::3] == ["greedy", "greedy4"]


@pytest.mark.parametrize(
    ("game", "seats", "words"),
    [
        ("quad", 2, "quad needs exactly 4 bots; you gave 2"),
        ("trio", 0, "trio needs exactly 3 bots; you gave 0"),
        ("several", 2, "several needs 3 to 4 bots; you gave 2"),
        ("paint", 1, "paint needs 2 to 10000 bots; you gave 1"),
        ("end-of-codes", 1, "end-of-codes needs 2 to 1000 bots; you gave 1"),
    ],
)
def test_a_form_with_too_few_is_refused_before_a_match_begins(
    served: Served, game: str, seats: int, words: str
) -> None:
    client = served()
    strategy = load_play_options(game).strategies[0]
    form = {f"seat-{number}": f"builtin:{strategy}" for number in range(1, seats + 1)}
    answer = client.post(f"/games/{game}/matches", data=form)
    assert answer.status_code == 400
    assert words in answer.text
    matches: Any = client.application.extensions["matches"]
    assert matches.of(game) == []


@pytest.mark.parametrize(("game", "hand"), [("trio", "3"), ("quad", "2"), ("pair", "1")])
def test_a_person_meets_as_many_bots_as_the_game_needs(
    served: Served, game: str, hand: str
) -> None:
    client = served()
    form = {"bot": "builtin:random", "hand": hand}
    document = document_of(client, address := begin(client, game, form))
    names = [player["name"] for player in document["players"]]
    assert len(names) == NUMBERS[game][0]
    assert names.index("you") == int(hand) - 1
    assert all(name.startswith(("you", "random")) for name in names)
    page = client.get(f"/games/{game}/").text
    assert page.count(f">player {len(names)}</option>") == 1
    assert f">player {len(names) + 1}</option>" not in page
    assert wait_for_turn(client, address)["moves"]
    again = client.get(address).text
    assert "Stronger opponent: greedy" in again


@pytest.mark.parametrize("hand", ["", "0", "4", "-1", "x", "1" * 5000, "²"])
def test_a_seat_that_a_person_cannot_take_is_refused(served: Served, hand: str) -> None:
    form = {"bot": "builtin:random", "hand": hand}
    answer = served().post("/games/trio/matches", data=form)
    assert answer.status_code == 400
    assert "hand must be one of 1, 2, 3" in answer.text
    assert len(answer.text) < 5000


def test_a_bot_of_ones_own_plays_once() -> None:
    assert live_matches.read_seats("quad", {"bot": "own:b1", "hand": "2"}) == (
        "own:b1",
        "human",
        "builtin:greedy",
        "builtin:random",
    )


def test_a_game_for_one_is_played_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = type(load_game("pair").rules)
    monkeypatch.setattr(rules, "seats", range(1, 2))
    assert live_matches.read_seats("pair", {"bot": "builtin:random", "hand": "1"}) == ("human",)
    assert live_matches.form_seats("pair").usual == ("greedy",)


@pytest.mark.parametrize("game", ["trio", "quad"])
def test_the_page_of_a_game_gives_a_line_that_can_be_typed(served: Served, game: str) -> None:
    page = served().get(f"/games/{game}/").text
    line = next(line for line in page.splitlines() if "cw play" in line)
    assert line.count("builtin:") == NUMBERS[game][0] - 1
