"""`cw hub competition`: tournaments of teams in the hands of the operator."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cw.cli import main

FINAL = '[[groups]]\nname = "GRODNO"\n[[groups]]\nname = "FINAL"\n'


class Operator:
    """Types commands in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "data").mkdir()

    def type(self, *words: str) -> Result:
        environment = {"CW_DATA": str(self.folder / "data")}
        return CliRunner().invoke(main, ["hub", "competition", *words], env=environment)

    def say(self, *words: str) -> str:
        """Return what a command prints that must succeed."""
        result = self.type(*words)
        assert result.exit_code == 0, result.output
        return result.stdout

    def tell(self, *words: str) -> list[Any]:
        """Return the JSON that a command prints, by its lines."""
        return [json.loads(line) for line in self.say(*words, "--json").splitlines()]

    def write(self, name: str, text: str) -> str:
        """Write a file; return its path."""
        (self.folder / name).write_text(text, encoding="utf-8")
        return str(self.folder / name)


@pytest.fixture
def operator(tmp_path: Path) -> Operator:
    return Operator(tmp_path)


def ladder(operator: Operator, slug: str, *more: str) -> tuple[str, ...]:
    return ("new", slug, "--game", "hexagon", "--format", "tournament", *more)


def test_a_tournament_from_names_to_export(operator: Operator) -> None:
    names = operator.write("names.txt", "Alpha, GRODNO\nBeta, GRODNO\nGamma, GRODNO\n")
    config = operator.write("duel.toml", FINAL)
    sheet = operator.folder / "cards.html"
    words = ladder(operator, "t1", "--teams", names, "--config", config)
    (result,) = operator.tell(*words, "--cards", str(sheet))
    assert len(result["host_token"]) == 19
    assert [one["slug"] for one in result["cards"]] == ["alpha", "beta", "gamma"]
    assert all(one["token"] in sheet.read_text(encoding="utf-8") for one in result["cards"])
    assert stat.S_IMODE(sheet.stat().st_mode) == 0o600
    operator.say("bot", "t1", "Alpha", "builtin:greedy")
    operator.say("teams", "t1", "--disqualify", "gamma", "Cheated")
    operator.say("teams", "t1", "--reinstate", "Gamma", "--machine", "beta", "10.0.0.7")
    boards = '[{"options": {"size": 5}}]'
    later = ("--at", "2999-01-31T18:00", "--title", "Larger", "--announced")
    operator.say("event", "t1", "boards", *later, "--boards", boards, "--replace")
    operator.say("event", "t1", "start")
    operator.say("set", "t1", "parallel=3", "hosting=off")
    assert "after the start only" in operator.type("set", "t1", "battles=1").stderr
    assert "cw hub competition event t1 pause" in operator.type("pause", "t1").stderr
    assert "GRODNO  running  3 teams  round 1, 0 of 3 played" in operator.say("status", "t1")
    rounds = operator.tell("rounds", "t1")
    assert [one["state"] for one in rounds] == ["queued"] * 3
    called_off, again = rounds[0]["match_id"], rounds[1]["match_id"]
    left = operator.tell("rounds", "t1", "--void", called_off, "a power cut", "--play-again", again)
    assert {one["match_id"] for one in left} & {called_off, again} == set()
    assert len(left) == 2
    assert "Please give a reason" in operator.type("rounds", "t1", "--void", again, " ").stderr
    assert "no such match" in operator.type("rounds", "t1", "--play-again", "m_x").stderr
    assert operator.tell("rounds", "t1", "--void-round", "grodno", "a wrong board") != left
    assert "no round of FINAL" in operator.type("rounds", "t1", "--void-round", "FINAL", "x").stderr
    operator.say("add-sandbox", "t1", "INTERNAL")
    assert operator.type("add-sandbox", "t1", "Last", "--kind", "final").exit_code == 2
    operator.say("teams", "t1", "--out-of-competition", "gamma")
    assert "GRODNO, FINAL, INTERNAL" in operator.say("teams", "t1")
    assert "INTERNAL" not in operator.say("teams", "t1", "--compete", "gamma", "GRODNO")
    operator.say("carry-over", "t1", "--yes")
    (status,) = operator.tell("status", "t1")
    assert [one["phase"] for one in status["groups"]] == ["closing", "waiting", "over"]
    (cards,) = operator.tell("cards", "t1", "beta")
    assert cards["cards"][0]["token"] != result["cards"][1]["token"]
    assert operator.say("host-token", "t1").strip() != result["host_token"]
    assert operator.say("ssh-keys", "t1") == ""
    zipped = operator.folder / "t1.zip"
    operator.say("export", "t1", "--out", str(zipped))
    assert zipped.stat().st_size > 1000
    assert operator.type("export", "t1", "--out", str(zipped)).exit_code == 2
    teams = operator.tell("teams", "t1")
    assert [(one["slug"], one["has_bot"]) for one in teams] == [
        ("alpha", True), ("beta", False), ("gamma", False)
    ]  # fmt: skip


def test_the_options_of_a_command_are_done_together_or_not_at_all(operator: Operator) -> None:
    names = operator.write("names.txt", "Alpha\nBeta\n")
    late = operator.write("late.txt", "Gamma\n")
    operator.say(*ladder(operator, "t1", "--teams", names))
    before = operator.tell("teams", "t1")
    for words, sentence in (
        (("--machine", "alpha", "10.0.0.7", "--reinstate", "nobody"), "there is no team"),
        (("--add", late, "--remove", "nobody"), "there is no team"),
        (("--add", names, "--disqualify", "alpha", "Cheated"), "this name is taken"),
        (("--disqualify", "alpha", "Cheated", "--undo-remove", "beta"), "nothing can be undone"),
    ):
        refused = operator.type("teams", "t1", *words)
        assert (refused.exit_code, sentence in refused.stderr) == (2, True), refused.output
        assert operator.tell("teams", "t1") == before
    planned = operator.type("event", "t1", "note", "--cancel", "0")
    assert (planned.exit_code, "no longer planned" in planned.stderr) == (2, True)
    assert operator.tell("event", "t1") == []
    after = operator.tell("teams", "t1", "--add", late, "--machine", "gamma", "10.0.0.7")
    assert [(one["slug"], one["machine"]) for one in after[2:]] == [("gamma", "10.0.0.7")]


def test_events_are_planned_cancelled_and_undone_by_commands(operator: Operator) -> None:
    operator.say(*ladder(operator, "t1"))
    later = ("--at", "2999-01-31T18:00")
    (planned,) = operator.tell("event", "t1", "note", *later)
    cancel = ("--cancel", str(planned["id"]), "pause", *later)
    (planned,) = operator.tell("event", "t1", *cancel)
    assert planned["kind"] == "pause"
    operator.say("event", "t1", "start")
    operator.say("event", "t1", "end")
    assert operator.tell("status", "t1")[0]["state"] == "over"
    assert "The end was undone" in operator.say("event", "t1", "--undo-end")
    assert operator.tell("status", "t1")[0]["state"] == "running"
    assert "nothing can be undone" in operator.type("event", "t1", "--undo-end").stderr


def test_the_address_of_its_page_is_the_public_one(operator: Operator) -> None:
    assert "Its page: /t/t1/\n" in operator.say(*ladder(operator, "t1"))
    public = ("--set", "CW_PUBLIC_URL=https://hub.example")
    assert "Its page: https://hub.example/t/t2/\n" in operator.say(*ladder(operator, "t2"), *public)


def test_an_impossible_tournament_is_refused_in_one_sentence(operator: Operator) -> None:
    for slug, config, sentence in (
        ("T 1", "", "is not a valid slug"),
        ("t1", "title = ", "duel.toml"),
        ("t1", 'titel = "x"', "unknown field `titel`"),
        ("t1", "[settings]\nbattles = 3", "battles must be a whole number from 1 to 2"),
        ("t1", '[[teams]]\nname = "A"\nssh_key = "x"', "A: This is not a public SSH key"),
        ("t1", 'game = "paint"', "the file is for 'paint', not for hexagon"),
        ("t1", "\0", "duel.toml"),
        ("t1", "a = " + "[" * 5000, "duel.toml"),
    ):
        file = operator.write("duel.toml", config)
        result = operator.type(*ladder(operator, slug, "--config", file))
        assert result.exit_code == 2, config
        assert sentence in result.stderr
        assert len(result.stderr.strip().splitlines()) == 1
    assert operator.say("list").strip() == ""


def test_nothing_is_made_where_the_cards_cannot_be_written(operator: Operator) -> None:
    names = operator.write("names.txt", "Alpha\n")
    for where in (names, str(operator.folder / "none" / "cards.html")):
        result = operator.type(*ladder(operator, "t1", "--teams", names, "--cards", where))
        assert result.exit_code == 2
    assert operator.say("list").strip() == ""
    assert operator.type("status", "t1").exit_code == 2


def test_lists_of_commands_are_whole_sentences(operator: Operator) -> None:
    for words in ((), *(("new",), ("teams",), ("cards",), ("event",), ("export",))):
        help_text = (
            CliRunner().invoke(main, ["hub", "competition", *words, "--help"], env={}).stdout
        )
        assert max(map(len, help_text.splitlines())) <= 80


def test_competitions_are_described_from_files(operator: Operator) -> None:
    words = operator.write("words.md", "For **all**.\r\n\r\nCome!\n")
    operator.say("new", "daily", "paint", "--title", "Paint", "--description", words)
    operator.say(*ladder(operator, "t1", "--title", "Duel", "--description", words))
    for name in ("daily/paint", "t1"):
        (facts,) = operator.tell("show", name)
        assert facts["description"] == "For **all**.\n\nCome!"
    operator.say("describe", "t1", "--title", "The duel")
    empty = operator.write("empty.md", "")
    operator.say("describe", "daily/paint", "--description", empty)
    listed = {one["slug"]: (one["title"], one["description"]) for one in operator.tell("list")}
    assert listed == {"paint": ("Paint", ""), "t1": ("The duel", "For **all**.\n\nCome!")}
    assert operator.type("describe", "t1").exit_code == 2
    long = operator.write("long.md", "x" * 5000)
    refused = operator.type("describe", "t1", "--description", long)
    assert (refused.exit_code, "5,000 characters" in refused.stderr) == (2, True)


def test_competitions_get_dates_by_commands(operator: Operator) -> None:
    operator.say("new", "daily", "paint")
    when = ("--starts", "2097-01-31T18:00", "--ends", "2097-03-01T18:00")
    (dates,) = operator.tell("dates", "paint", *when, "--zone", "Europe/Athens")
    assert dates["starts"] == "2097-01-31 16:00:00+00:00"
    operator.say("announce", "paint")
    assert operator.tell("show", "paint")[0]["state"] == "planned"
    text = operator.say("dates", "paint", "--starts", "none")
    assert text == "paint ends 2097-03-01 16:00 UTC\n"
    assert operator.tell("show", "paint")[0]["state"] == "draft"
    refused = operator.type("dates", "paint", "--ends", "soon")
    assert (refused.exit_code, "'soon' is not a time" in refused.stderr) == (2, True)
