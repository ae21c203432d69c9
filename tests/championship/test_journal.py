"""The journal: what it keeps, what it refuses, and what a kill or a full disk leaves."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cw.championship.config import ChampionshipSettings
from cw.championship.entries import Entry, EntryFault, MatchLines
from cw.championship.journal import Progress, journal_of, load_progress, opened, stem_of
from cw.championship.recorded import RecordedLines
from cw.errors import Failure, UsageError
from cw.league.fixtures import Fixture
from tests.championship.contests import entry

CIRCUIT = ChampionshipSettings(("a", "b", "c"), "teams", format="gauntlet", options={"size": 3})
PAINT = ChampionshipSettings(("a", "b", "c"), "teams", game="paint", format="gauntlet")

COUNTS = st.integers(0, 10**6)
TEXT = st.text(max_size=20)
FAULTS = st.lists(
    st.builds(EntryFault, st.integers(0, 1), COUNTS, st.sampled_from(["timeout", "illegal"]), TEXT),
    max_size=3,
).map(tuple)
PAIRS = st.tuples(COUNTS, COUNTS)
ENTRIES = st.builds(
    Entry,
    stage=st.sampled_from(["group", "final"]),
    group=st.none() | st.just("A"),
    round=st.integers(1, 99),
    players=st.just(("a", "b")),
    tie_break=st.integers(0, 10),
    ranks=st.sampled_from([(1, 2), (2, 1), (1, 1)]),
    scores=PAIRS,
    reason=TEXT,
    seed=COUNTS,
    turns=COUNTS,
    faults=FAULTS,
    longest_ms=PAIRS,
    median_ms=PAIRS,
    stderr=st.tuples(TEXT, TEXT),
)


@pytest.mark.thorough
@given(ENTRIES)
def test_a_line_of_any_game_is_read_as_it_was_written(entry: Entry) -> None:
    lines = MatchLines()
    assert lines.read(json.dumps(lines.write(entry)).encode()) == entry


@given(
    ENTRIES,
    st.sampled_from([((1, 2), (5, 4)), ((2, 1), (4, 5))]),
    st.sampled_from(["finished", "illegal", "timeout"]),
)
def test_a_line_of_circuit_wars_is_read_as_it_was_written(
    draw: Entry, ended: tuple[tuple[int, int], tuple[int, int]], reason: str
) -> None:
    ranks, scores = ended
    lines = RecordedLines(3)
    entry = msgspec.structs.replace(draw, ranks=ranks, scores=scores, reason=reason)
    line = json.dumps(lines.write(entry)).encode()
    assert lines.read(line) == entry


def test_a_line_of_circuit_wars_has_its_documented_members() -> None:
    line = RecordedLines(3).write(entry("a", "b", reason="timeout"))
    assert list(line) == [
        "stage", "group", "round", "first", "second", "extra", "player_1", "player_2",
        "status_code", "score_1", "score_2", "size", "seed", "turns", "reasons", "longest_ms",
        "median_ms", "stderr",
    ]  # fmt: skip
    assert line["status_code"] == 502


def test_a_torn_line_is_cut_off(tmp_path: Path) -> None:
    with opened(tmp_path, CIRCUIT) as journal:
        journal.add(entry("a", "b"))
    file = tmp_path / "results.jsonl"
    whole = file.read_bytes()
    file.write_bytes(whole + whole[:-20])
    assert len(journal_of(tmp_path, CIRCUIT).entries) == 1
    assert file.read_bytes() != whole
    with opened(tmp_path, CIRCUIT) as journal:
        assert journal.entries == [entry("a", "b")]
    assert file.read_bytes() == whole


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"player_1": "eve", "first": "eve"}, "'eve' is not a team of this championship"),
        ({}, "gauntlet_round-1_a_b is already recorded"),
        ({"round": 7}, "gauntlet_round-7_a_b is not a match of this championship"),
        ({"stage": "final"}, "final_round-1_a_b is not a match of this championship"),
        ({"first": "c"}, "c and b are not the players of this match"),
        ({"round": "2"}, "Expected `int`, got `str`"),
        ({"round": 0}, r"\$.round"),
        ({"stage": None}, r"\$.stage"),
        ({"status_code": 201}, "is not that of a finished game"),
        ({"reasons": [{"turn": 1}]}, r"\$.reasons"),
        ({"longest_ms": [1.5]}, r"\$.longest_ms"),
    ],
)
def test_a_line_that_cannot_be_used_is_named(
    tmp_path: Path, changed: dict[str, object], error: str
) -> None:
    line = RecordedLines(3).write(entry("a", "b"))
    text = "".join(json.dumps(one) + "\n" for one in (line, line | changed))
    (tmp_path / "results.jsonl").write_text(text)
    with pytest.raises(UsageError, match=f"line 2: .*{error}"), opened(tmp_path, CIRCUIT):
        pass


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"players": ["a", "a"]}, "each named once"),
        ({"players": ["a"]}, "two players or more"),
        ({"players": ["a", "b", "c"]}, "3 players need as many ranks"),
        ({"ranks": [1, 0]}, r"\$.ranks"),
        ({"faults": [{"seat": 2, "turn": 0, "kind": "timeout", "detail": ""}]}, "below 2"),
    ],
)
def test_a_line_of_another_game_is_held_to_its_players(
    tmp_path: Path, changed: dict[str, object], error: str
) -> None:
    line = json.dumps(MatchLines().write(entry("a", "b")) | changed) + "\n"
    (tmp_path / "results.jsonl").write_text(line)
    with pytest.raises(UsageError, match=error), opened(tmp_path, PAINT):
        pass


def test_a_full_disk_leaves_what_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path, CIRCUIT) as journal:
        journal.add(entry("a", "b"))
        before = (tmp_path / "results.jsonl").read_bytes()

        def full(_: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(Failure, match="No space left on device"):
            journal.add(entry("b", "a", 2))
        assert (tmp_path / "results.jsonl").read_bytes() == before
        assert len(journal.entries) == len(journal.results) == 1


def test_a_second_runner_is_refused(tmp_path: Path) -> None:
    (tmp_path / "championship.json").write_text(json.dumps(asdict(CIRCUIT)))
    with opened(tmp_path, CIRCUIT):
        command = [sys.executable, "-m", "cw", "championship", "report", str(tmp_path)]
        second = subprocess.run(command, capture_output=True, text=True, check=False)
    assert second.returncode == 2
    assert "is being run by another process" in second.stderr


def test_what_is_going_on_is_told_to_those_who_look_on(tmp_path: Path) -> None:
    watched = Fixture("group", "A", 1, ("a", "b"))
    other = Fixture("final", None, 1, ("b", "c"), 2)
    running = {watched: "http://127.0.0.1:4711", other: None}
    Progress(3, running, failed={other: "no room"}).save(tmp_path)
    progress = load_progress(tmp_path)
    assert progress.running == running
    assert progress.failed == {other: "no room"}


@pytest.mark.parametrize("text", ["", "{", '{"running": [1], "failed": []}'])
def test_where_nobody_plays_nothing_is_going_on(tmp_path: Path, text: str) -> None:
    (tmp_path / "progress.json").write_text(text)
    assert load_progress(tmp_path) == Progress()


def test_a_page_never_leads_to_another_machine(tmp_path: Path) -> None:
    fixture = Fixture("group", "A", 1, ("a", "b"))
    Progress(running={fixture: "http://example.org/"}).save(tmp_path)
    assert load_progress(tmp_path).running == {fixture: None}


def test_names_of_files() -> None:
    pair = Fixture("group", "A", 2, ("ann", "bob"), 1)
    assert stem_of(pair) == "group_A_round-2_ann_bob_tie-break-1"
    many = Fixture("free-for-all", None, 2, ("ann", "bob", "cid"))
    assert stem_of(many) == "free-for-all_round-2_ann_and-2-others"
    assert stem_of(Fixture("round of 16", None, 1, ("a", "b"))) == "round-of-16_round-1_a_b"
