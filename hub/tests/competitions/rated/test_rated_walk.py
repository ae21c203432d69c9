"""From an empty folder to the leaderboard: a hub of its own process, a player, a bot of a kit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from cw.games.registry import load_game
from cw.replays.document import decode
from cw.replays.verify import verify
from hub.tests import patience
from hub.tests.bots.test_player_bots import NOBODY
from hub.tests.campaign import HASTY, Role, roles, wait_until
from hub.tests.sites import Visitor, words_of
from tests.kits.running import Kit, build, serving
from tests.tools import require

GAME = "code-battle"
PAGE = f"/bot/Gopher?game={GAME}"


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory) -> Kit:
    require("go")
    return build(GAME, "go", tmp_path_factory.mktemp("kits") / "go")


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """The address of a hub that keeps what it has in `hub-data` where it was started."""
    serve, log = ["serve", "--port", "0"], tmp_path / "hub.log"
    role = Role(serve, HASTY, log, tmp_path, program=patience.PROGRAM[1:])
    with roles(role):
        wait_until(lambda: "Hub: " in role.log.read_text(), "the hub")
        match = re.search(r"Hub: (\S+)/", role.log.read_text())
        assert match
        yield match[1]
        role.stop()
    assert (tmp_path / "hub-data" / "hub.sqlite").is_file()
    assert "Traceback" not in role.log.read_text()


@pytest.mark.thorough
def test_a_bot_of_the_go_kit_passes_its_check_and_plays_a_rated_match(
    address: str, kit: Kit
) -> None:
    ann = Visitor(address)
    assert ann.register("Ann").status_code == 303
    fields = {"game": GAME, "name": "Gopher", "endpoint": NOBODY, "description": "from the kit"}
    answer = ann.fill("/bots/new", **fields)
    assert answer.status_code == 200, answer.text
    secret = re.search(r">([0-9a-f]{64})<", answer.text)
    assert secret
    with serving(kit, BOT_SECRET=secret[1]) as bot:
        values = {"endpoint": f"http://127.0.0.1:{bot.port}", "description": fields["description"]}
        edited = ann.fill(f"/bot/Gopher/edit?game={GAME}", PAGE, **values)
        assert edited.status_code == 303
        wait_until(lambda: "The bot takes part in matches." in ann.open(PAGE).text, "the check")
        board = f"/leaderboard?game={GAME}&q=gopher"
        wait_until(lambda: "from the kit" in ann.open(board).text, "the first rated match")
        asked = kit.log()
    assert any("/health" in line for line in asked)
    assert sum("/turn" in line for line in asked) > 10
    # The latest are listed first, and another one may be over by now.
    match = re.findall(r"/replay/(m_[0-9a-f]{8})", ann.open(PAGE).text)[-1]
    text = words_of(ann.open(f"/match/{match}"))
    assert re.search(r"Gopher Ann \d+ 800 -> \d+ ", text), text[-1500:]
    replay = ann.get(f"{address}/match/{match}/replay")
    assert verify(load_game(GAME), decode(replay.content)) is None
