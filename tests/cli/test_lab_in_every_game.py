"""The lab in every game, also in one that was added, with the bots that `cw new-bot` makes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from cw.cli import main
from cw.games.registry import GAMES, load_endings, load_strategies
from cw.new_game import NewGame, rendered
from tests.documented import place
from tests.effort import first_is_fast
from tests.lab.bots import PATIENCE
from tests.lab.journals import matches

ADDED = NewGame("lab-game")
SHORT = {
    "circuit-wars": "size=3",
    "code-battle": "max_turns=12",
    "end-of-codes": "max_rounds=8",
    "hexagon": "size=3",
    "paint": "turns=8",
}
"""An option of each game with which matches are over soon."""

OTHERS = [game for game in GAMES if game != "paint"]

pytestmark = [
    pytest.mark.parametrize("game", first_is_fast(["paint", *OTHERS, ADDED.name])),
    pytest.mark.usefixtures("patient_painters"),
]


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the game that was added, to be put on the search path."""
    return place(tmp_path_factory.mktemp("packages"), dict(rendered(ADDED)))


@pytest.fixture(autouse=True)
def bot(game: str, packages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Work where a bot to start from is the only one of a folder; it draws the same each time."""
    monkeypatch.setenv("PYTHONPATH", str(packages))
    monkeypatch.syspath_prepend(packages)
    monkeypatch.chdir(tmp_path)
    Path("numbers.toml").write_text(PATIENCE, encoding="utf-8")
    cw("new-bot", game, "python", "bots/mine")
    file = Path("bots", "mine", "bot.py")
    source = file.read_text(encoding="utf-8")
    assert "import random\n" in source
    file.write_text(
        f"{source.replace('import random', 'import random; random.seed(1)', 1)}", encoding="utf-8"
    )
    return str(file)


def cw(*arguments: str, codes: tuple[int, ...] = (0,)) -> str:
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code in codes, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def options(game: str) -> tuple[str, ...]:
    return ("--option", SHORT[game]) if game in SHORT else ()


def test_a_bot_is_asked_again(game: str, bot: str) -> None:
    opponent = f"builtin:{[*load_strategies(game)][-1]}"
    play = ("play", game, opponent, bot, "--seed", "1", "--no-watch", "--out", "match.json.gz")
    cw(*play, *options(game))
    ask = ("replay", "ask", "match.json.gz", bot)
    assert ": 0 answers differ." in cw(*ask, "--every")
    answers = [json.loads(line) for line in cw(*ask, "--every", "--json").splitlines()]
    assert {(answer["changed"], answer["verdict"]) for answer in answers} == {(False, "legal")}
    turn = str(answers[len(answers) // 2]["turn"])
    warm = cw(*ask, "--turn", turn, "--wait")
    asked = f"{load_endings(game).turn.capitalize()} {turn}. It was asked:\n"
    assert warm.startswith(asked)
    assert "The answers are the same." in warm
    # What came before counts for its draws, so that it may answer otherwise; it was asked the same.
    cold = cw(*ask, "--turn", turn, "--cold", "--player", "bot.py")
    assert cold.startswith(asked)
    assert ", legal)" in cold


def test_bots_of_a_folder_play_a_league(game: str, bot: str) -> None:
    shutil.copytree("bots/mine", "bots/other")
    league = ("league", "bots", "--game", game, *options(game))
    table = json.loads(cw(*league, "--matches", "4", "--json"))
    versions = {version["name"]: version for version in table["versions"]}
    assert versions.keys() == {"mine-1", "other-1"}
    assert [version["matches"] for version in versions.values()] == [4, 4]
    assert [version["faults"] for version in versions.values()] == [0, 0]
    replay = "bots/.league/replays/0-0.json.gz"
    assert ": 0 answers differ." in cw(
        "replay", "ask", replay, bot, "--every", "--player", "mine-1"
    )


def test_numbers_of_a_bot_are_tuned(game: str, bot: str) -> None:
    few = ("--steps", "1", "--pairs", "1", "--games", "8", "--seed", "1", *options(game))
    tuned = json.loads(
        cw("tune", game, f"mine={bot}", "numbers.toml", *few, "--json", codes=(1, 3))
    )
    assert tuned["steps"] == 1
    assert tuned["settings"].keys() == {"patience"}
    assert not any(match["faults"] for match in matches(Path("tuning", "steps.jsonl")))
