"""Replays as analyses read them."""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from cw.errors import Failure, ProtocolError
from cw.notebook import play
from cw.replays import load
from cw.replays.document import encode
from cw.replays.loaded import LoadedReplay
from tests.tools import PANDAS


@pytest.fixture(scope="module")
def replay(tmp_path_factory: pytest.TempPathFactory) -> LoadedReplay:
    folder = tmp_path_factory.mktemp("replays")
    match = play("paint", "builtin:walker", "builtin:still", seed=3, turns=6)
    file = folder / "paint-3.json.gz"
    file.write_bytes(encode(match.document, packed=True))
    return load(file)


def test_a_replay_tells_frames_actions_and_outcome(replay: LoadedReplay) -> None:
    assert (replay.game, replay.seed) == ("paint", 3)
    assert replay.players == {"walker": "walker", "still": "still"}
    assert [frame["turns_left"] for frame in replay.frames] == [6, 5, 4, 3, 2, 1, 0]
    assert len(replay.actions) == len(replay.milliseconds) == 6
    assert replay.outcome is not None
    assert replay.outcome["winner"] == "walker"
    assert {fault["player"] for fault in replay.faults} == {"still"}


def test_each_action_is_a_row(replay: LoadedReplay) -> None:
    rows = list(replay.rows())
    assert [row["turn"] for row in rows] == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]
    assert rows[0]["name"] == "walker"
    assert rows[0]["action"] == replay.actions[0]["walker"]
    assert rows[1]["fault"] == "illegal"
    assert rows[1]["action"] is None
    assert all(row["ms"] >= 0 for row in rows)


def test_arrays_hold_times_faults_and_what_each_player_saw(replay: LoadedReplay) -> None:
    arrays = replay.to_arrays()
    assert arrays["ms"].shape == arrays["faults"].shape == (6, 2)
    assert arrays["faults"].sum(axis=0).tolist() == [0, 6]
    assert not np.isnan(arrays["ms"]).any()
    assert arrays["observations"].shape == (2, 7, 10, 10, 6)
    # The last plane tells the turns that are left.
    assert arrays["observations"][0, :, 0, 0, 5].tolist() == [6, 5, 4, 3, 2, 1, 0]


def test_a_turn_in_which_a_player_does_not_act_has_no_time(tmp_path: Path) -> None:
    file = tmp_path / "hexagon.json"
    match = play("hexagon", "builtin:random", "builtin:random", seed=1, size=4)
    file.write_bytes(encode(match.document, packed=False))
    times = load(str(file)).to_arrays()["ms"]
    assert np.isnan(times[0]).tolist() == [False, True]
    assert np.isnan(times[1]).tolist() == [True, False]


def test_a_table_needs_pandas_and_says_so(
    replay: LoadedReplay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ModuleNotFoundError, match="to_dataframe needs pandas: pip install pandas"):
        replay.to_dataframe()


@pytest.mark.thorough
def test_a_table_of_pandas_has_a_row_for_each_action(replay: LoadedReplay) -> None:
    if find_spec("pandas") is None:
        PANDAS.missing()
    table = replay.to_dataframe()
    assert list(table.columns) == ["turn", "player", "name", "action", "fault", "ms"]
    assert len(table) == 12
    assert json.loads(table["action"][0]) == replay.actions[0]["walker"]


def test_what_is_no_replay_is_told(tmp_path: Path) -> None:
    with pytest.raises(Failure, match=r"gone\.json cannot be read"):
        load(tmp_path / "gone.json")
    (tmp_path / "other.json").write_text("[]")
    with pytest.raises(ProtocolError, match="a replay must be a JSON object"):
        load(tmp_path / "other.json")
