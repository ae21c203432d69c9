"""The report: every cell, every team, every match that could not be played."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from cw.championship.config import ChampionshipSettings
from cw.championship.entries import Entry, EntryFault
from cw.championship.journal import Journal, Progress, opened
from cw.championship.report import ChampionshipReport, report_of, write_report
from cw.championship.report_document import snapshot
from cw.league.contest_formats import FORMATS
from cw.league.fixtures import Fixture, open_fixtures

EVIL = "<img src=x onerror=alert(1)>"


def settings(form: str, count: int = 5, game: str = "paint") -> ChampionshipSettings:
    teams = tuple(f"t{number}" for number in range(count))
    return ChampionshipSettings(teams, "teams", game=game, format=form, options={})


def played_out(config: ChampionshipSettings, folder: Path = Path()) -> Journal:
    """Play a championship in which the name that comes first wins, by 7 : 3 or so."""
    journal = Journal(folder, config)
    while fixtures := open_fixtures(config.contest().rounds(journal.results), journal.results):
        for fixture in fixtures:
            journal.take(by_name(fixture))
    return journal


def by_name(fixture: Fixture) -> Entry:
    ranks = tuple(1 + sorted(fixture.players).index(player) for player in fixture.players)
    return Entry(
        fixture.stage, fixture.group, fixture.round, fixture.players, fixture.tie_break,
        ranks=ranks, scores=tuple(9 - rank for rank in ranks), reason="finished", turns=4,
        longest_ms=(20,) * len(ranks), median_ms=(10,) * len(ranks), stderr=("",) * len(ranks),
    )  # fmt: skip


def report(journal: Journal, failed: dict[Fixture, str] | None = None) -> ChampionshipReport:
    return report_of(snapshot(journal), journal.settings, Progress(failed=failed or {}))


def links(html: str) -> set[str]:
    return set(re.findall(r'href="replays/([^"]+)\.html"', html))


@pytest.mark.parametrize("form", FORMATS)
def test_every_match_leads_to_its_replay(form: str) -> None:
    journal = played_out(settings(form))
    document = report(journal).document
    stems = {match["stem"] for match in document["listing"]}
    assert len(stems) == len(journal.entries)
    assert links(report(journal).as_html()) == stems
    rows = [row for standing in document["standings"] for row in standing["rows"]]
    ties = [tie for stage in document["bracket"] for tie in stage["ties"]]
    cells = [cell for row in rows for cell in row["cells"] if cell]
    legs = [leg for tie in ties for leg in tie["games"]]
    linked = {one["stem"] for one in [*cells, *legs]}
    # Two teams of a ladder may meet in every round: their cell leads to the latest match.
    assert linked < stems if form == "ladder" else linked == stems


@pytest.mark.parametrize("form", FORMATS)
def test_all_formats_are_told_in_all_forms(form: str) -> None:
    result = report(played_out(settings(form)))
    assert result.document["over"]
    assert result.document["order"][0] == ["t0"]
    assert "t0" in result.as_markdown()
    rows = list(csv.DictReader(io.StringIO(result.as_csv())))
    assert len(rows) == result.document["played"]
    assert {row["winner"] for row in rows} <= {"t0", "t1", "t2", "t3"}


def test_a_cell_shows_score_draw_and_who_forfeited() -> None:
    config = settings("round-robin", 3)
    journal = Journal(Path(), config)
    one, two, three = open_fixtures(config.contest().rounds({}), {})
    journal.take(entry_like(one, (1, 1), (4, 4)))
    late = (EntryFault(0, 3, "timeout", "no line came"), EntryFault(0, 4, "crashed", "exit 3"))
    journal.take(entry_like(two, (2, 1), (1, 8), late))
    journal.take(entry_like(three, (1, 2), (9, 0), (EntryFault(1, 0, "startup", "no program"),)))
    html = report(journal).as_html()
    assert "4=4" in html
    assert "1^:<b>8</b>" in html
    assert "<b>9</b>:0×" in html
    assert f"{two.players[0]}: time-out" in html
    assert ">Drawn</th>" in html
    document = report(journal).document
    draws = [row["draws"] for row in document["standings"][0]["rows"]]
    assert sorted(draws) == [0, 1, 1]
    results = {match["result"] for team in document["teams"] for match in team["games"]}
    assert results == {"won", "drawn", "lost"}


def entry_like(
    fixture: Fixture,
    ranks: tuple[int, int],
    scores: tuple[int, int],
    faults: tuple[EntryFault, ...] = (),
) -> Entry:
    return Entry(
        fixture.stage, fixture.group, fixture.round, fixture.players, fixture.tie_break,
        ranks, scores, "turns_over", faults=faults,
    )  # fmt: skip


def test_a_free_for_all_shows_ranks_by_round() -> None:
    config = ChampionshipSettings(
        ("a", "b", "c", "d"), "teams", game="paint", format="free-for-all", players=3, rounds=4
    )
    (standing,) = report(played_out(config)).document["standings"]
    assert standing["columns"] == [1, 2, 3, 4]
    cells = {row["team"]: row["cells"] for row in standing["rows"]}
    assert [cell and cell["rank"] for cell in cells["a"]].count(1) == 3
    assert [cell and cell["rank"] for cell in cells["a"]].count(None) == 1


def test_circuit_wars_keeps_the_members_of_its_report() -> None:
    document = report(played_out(settings("championship", 4, "circuit-wars"))).document
    assert set(document["games"][0]) >= {
        "stage", "group", "round", "extra", "player_1", "player_2", "status_code", "score_1",
        "score_2", "size", "seed", "turns", "reasons", "longest_ms", "median_ms", "reason",
        "winner",
    }  # fmt: skip
    assert not {"stderr", "first", "second"} & set(document["games"][0])
    assert set(document["standings"][0]["rows"][0]) >= {
        "rank", "team", "wins", "losses", "score_for", "score_against", "ratio", "interval",
        "noise", "cells",
    }  # fmt: skip
    assert document["bonus"] == {"t0": 10, "t1": 6}


def test_a_match_that_could_not_be_played_is_told() -> None:
    config = settings("round-robin", 2)
    fixture = Fixture("round-robin", None, 1, ("t0", "t1"))
    result = report(Journal(Path(), config), {fixture: "the disk is full"})
    assert "<b>t0 against t1</b>: the disk is full" in result.as_html()
    assert "t0 against t1: the disk is full" in result.as_markdown()
    assert not result.document["over"]


def test_a_page_says_how_far_it_is() -> None:
    config = settings("round-robin", 3)
    journal = Journal(Path(), config)
    journal.take(by_name(Fixture("round-robin", None, 1, ("t1", "t2"))))
    fixture = Fixture("round-robin", None, 1, ("t0", "t1"))
    progress = Progress(running={fixture: "http://127.0.0.1:1"}, seconds_left=200.0)
    running = report(journal).page(progress, running=True)
    assert running["headline"] == "1 of 3 matches played"
    assert running["time_left"] == "about 3 min"
    assert [match["watch"] for match in running["running"]] == ["http://127.0.0.1:1"]
    stopped = report(journal).page(progress, running=False)
    assert (stopped["phase"], stopped["running"], stopped["podium"]) == ("stopped", [], [])
    assert stopped["headline"] == running["headline"]
    over = report(played_out(config)).page(progress, running=False)
    assert (over["phase"], over["headline"]) == ("over", "t0 is the champion")
    assert [place["teams"] for place in over["podium"]] == [["t0"], ["t1"], ["t2"]]


def test_the_final_is_told_with_its_scores_and_by_what_it_was_won() -> None:
    page = report(played_out(settings("knockout", 3))).page(Progress(), running=False)
    assert page["final"] == "t0 beat t1 in the final on wins: 8 : 7, 8 : 7"
    one_table = report(played_out(settings("round-robin", 3))).page(Progress(), running=False)
    assert one_table["final"].startswith("t0 has a win rate of 100%, t1 one of 50%")


def test_a_team_that_never_started_is_a_warning() -> None:
    config = settings("round-robin", 2, "circuit-wars")
    journal = Journal(Path(), config)
    (fixture,) = open_fixtures(config.contest().rounds({}), {})
    fault = EntryFault(1, 0, "startup", "exit code 1")
    lost = msgspec.structs.replace(
        by_name(fixture), ranks=(1, 2), scores=(0, 0), reason="illegal", faults=(fault,)
    )
    journal.take(lost)
    result = report_of(snapshot(journal), config, Progress(warnings=["no bubblewrap"]))
    absent = fixture.players[1]
    assert result.document["warnings"] == [
        "no bubblewrap",
        f"{absent}: 1 failed start: exit code 1",
    ]
    (listed,) = result.document["listing"]
    winner = fixture.players[0]
    assert listed["told"] == f"{winner} won by forfeit (49 : 0); {absent}: failed start"
    assert "<b>49</b>:0×" in result.as_html()
    assert "1 failed start</span>" in result.as_html()


def test_what_a_bot_wrote_to_its_error_output_is_for_its_team_alone(tmp_path: Path) -> None:
    config = settings("round-robin", 2)
    with opened(tmp_path, config) as journal:
        fixture = Fixture("round-robin", None, 1, ("t0", "t1"))
        entry = msgspec.structs.replace(by_name(fixture), stderr=("my plan", ""))
        journal.take(entry)
        write_report(tmp_path / "report", snapshot(journal), config, Progress())
    report_files = [file for file in (tmp_path / "report").rglob("*.*") if file.is_file()]
    files = {file.name: file.read_text() for file in report_files}
    assert "my plan" in files["t0.txt"]
    assert "against t1" in files["t0.txt"]
    assert [name for name, text in files.items() if "my plan" in text] == ["t0.txt"]


def test_spreadsheets_get_a_value_in_each_column() -> None:
    config = settings("free-for-all", 3)
    config = replace(config, names={"t0": "=1+1", "t2": "x;=1+1;y"}, members={"t1": ("Jörg", "@x")})
    result = report(played_out(config))
    assert result.as_csv().startswith("\ufeff")
    rows = list(csv.DictReader(io.StringIO(result.as_csv().removeprefix("\ufeff"))))
    first, document = rows[0], result.document["games"][0]
    seats = range(1, 4)
    assert [first[f"player_{seat}"] for seat in seats] == list(document["players"])
    assert [first[f"score_{seat}"] for seat in seats] == list(map(str, document["scores"]))
    assert first["winner_name"] == "'=1+1"
    assert not [value for row in rows for value in row.values() if value.startswith(tuple("=+-@("))]
    ranking = list(csv.DictReader(io.StringIO(result.ranking_as_csv().removeprefix("\ufeff"))))
    assert [row["rank"] for row in ranking] == ["1", "2", "3"]
    assert [row["name"] for row in ranking] == ["'=1+1", "t1", "x;'=1+1;y"]
    assert ranking[1]["members"] == "Jörg, '@x"
    assert ranking[0]["won"] == str(len(rows))


@pytest.mark.parametrize("form", FORMATS)
def test_the_ranking_holds_every_team_once(form: str) -> None:
    config = settings(form, 7)
    ranking = report(played_out(config)).document["ranking"]
    assert sorted(row["team"] for row in ranking) == sorted(config.teams)
    ranks = [row["rank"] for row in ranking]
    assert ranks == sorted(ranks)
    assert ranks[0] == 1


def test_teams_that_mostly_made_faults_are_warned_of() -> None:
    config = settings("double-round-robin", 2)
    journal = Journal(Path(), config)
    crash = EntryFault(0, 3, "crashed", "KeyError: 'x'")
    for number, fixture in enumerate(next(config.contest().rounds({})), 1):
        faults = (crash,) if fixture.players[0] == "t0" else ()
        journal.take(entry_like(fixture, (2, 1), (number, 8), faults))
    (warning,) = report(journal).document["warnings"]
    assert warning == "t0: faults in 1 of 1 matches: 1 crash; the last: KeyError: 'x'"


def test_names_are_text_in_the_report() -> None:
    journal = played_out(settings("championship", 4))
    journal.entries[0] = msgspec.structs.replace(
        journal.entries[0], faults=(EntryFault(0, 1, EVIL, EVIL),), reason=EVIL
    )
    fixture = Fixture("group", EVIL, 1, (EVIL, "b"))
    document = report(journal, {fixture: EVIL}).document | {"game": EVIL, "title": EVIL}
    evil = ChampionshipReport(document | {"warnings": [EVIL], "bonus": {EVIL: 1}})
    assert EVIL not in evil.as_html()
    assert evil.as_html().count("&lt;img") > 8
