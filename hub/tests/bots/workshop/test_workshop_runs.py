"""Drafts that are run on a hub: by workers, in the sandbox, told to their author alone."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from threading import Event, Thread
from typing import Any

import pytest
from sqlalchemy import select

from cw.arena.processes import PROC
from cw_hub.bots import jobs, workshop
from cw_hub.bots.workshop import Draft
from cw_hub.matches.jobs import Worker
from cw_hub.operation.heartbeats import Figures, Process
from cw_hub.players import players
from cw_hub.players.players import Players
from cw_hub.site.formats import MATCH_TYPES
from cw_hub.site.processes import jobs_of
from cw_hub.store.models import User, WorkshopPiece, WorkshopTask
from hub.tests.bots.workshop.test_drafts import PAGE, Window
from hub.tests.conftest import ON_SQLITE
from hub.tests.patience import PLAYER
from hub.tests.sites import PASSWORD, Site
from tests.effort import first_is_fast
from tests.tools import NEEDS_BUBBLEWRAP, needs_language
from tests.web.workshop.test_runs import ATTACKS, HEXAGON, RAISES, STUBBORN, WALK, indented, paint

pytestmark = [
    NEEDS_BUBBLEWRAP,
    ON_SQLITE,
]

JOBS = jobs_of(Worker("me", 1, MATCH_TYPES))
PATIENCE = 600.0
"""Seconds until a condition holds on the slowest machine."""

Json = Any


class Author(Window):
    """Somebody who writes a bot and runs it."""

    def __init__(self, site: Site, name: str, game: str = "paint") -> None:
        super().__init__(site.player(name), f"/workshop/{game}/")

    def write(self, text: str, name: str = "bot.py") -> None:
        base = self.files().get(name, {}).get("digest", "")
        assert self.save(name, text, base).status_code == 200

    def run(self, code: int = 201, **wanted: Json) -> Json:
        answer = self.post("run", {"opponent": "random", "seed": 1, **wanted})
        assert answer.status_code == code, answer.text
        return answer.json()

    def report(self, path: str = "run", code: int = 200) -> Json:
        answer = self.visitor.open(f"{self.page}{path}", headers={"Accept": "application/json"})
        assert answer.status_code == code, answer.text
        return answer.json()

    def wait(self, until: Callable[[Json], bool], path: str = "run") -> Json:
        end = time.monotonic() + PATIENCE
        while not until(run := self.report(path)):
            assert time.monotonic() < end, run
            time.sleep(0.05)
        return run

    def ended(self, path: str = "run") -> Json:
        return self.wait(lambda run: not run["goes_on"], path)

    def asked_again(self, turn: int) -> Json:
        assert self.post("ask", {"turn": turn}).status_code == 201
        return self.ended("ask")


@contextmanager
def working(site: Site, slots: int = 1) -> Iterator[None]:
    """Do jobs as workers with programs do, so many at once, while the block runs."""
    over = Event()

    def work_on() -> None:
        while not over.is_set():
            try:
                job, arguments, _ = site.queue.jobs.pop(0)
            except IndexError:
                over.wait(0.02)
            else:
                JOBS[job](site.resources, *arguments)

    threads = [Thread(target=work_on) for _ in range(slots)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


def parents() -> dict[int, tuple[int, str]]:
    """Return by the number of each process that runs its parent, and what its program is called."""
    processes = {}
    for folder in PROC.iterdir():
        if folder.name.isdecimal():
            try:
                name, fields = (folder / "stat").read_text().split("(", 1)[1].rsplit(")", 1)
            except OSError:
                continue
            state, parent = fields.split()[:2]
            if state != "Z":
                processes[int(folder.name)] = int(parent), name
    return processes


def programs(root: int | None = None) -> set[int]:
    """Return the sandboxes that a process has started, by default this one, itself or by others."""
    processes, family = parents(), {root or os.getpid()}
    while more := {one for one, (parent, _) in processes.items() if parent in family} - family:
        family |= more
    return {one for one in family if processes.get(one, (0, ""))[1] == "bwrap"}


def gone(sandboxes: set[int]) -> bool:
    """Return whether none of some sandboxes runs any more."""
    return not sandboxes & set(parents())


def test_a_run_is_told_while_it_is_played_and_stays(site: Site) -> None:
    ann = Author(site, "Ann")
    ann.write(paint(RAISES))
    begun = ann.run()
    waiting = ann.report()
    assert waiting["goes_on"]
    assert "waits" in waiting
    assert ann.visitor.open(begun["document"]).status_code == 202
    # What is typed now is for the next run.
    ann.write("this is not a program")
    with working(site):
        run = ann.ended()
    assert set(run) == set(waiting)
    assert "crashed" in run["words"]
    assert (run["match"], run["seed"], run["failed"]) == (begun["match"], 1, False)
    assert dict(map(tuple, run["output"]))[1].startswith("hm \\x1b[31m <b>\n")
    [mark] = run["marks"]
    assert (mark["file"], mark["line"], mark["words"]) == ("bot.py", 5, "KeyError: 3")
    report = ann.report(f"run/turns/{mark['turn']}")
    assert "crashed" in report["exchanges"][0]["fault"]
    assert ann.report("run/turns/4000")["exchanges"] == []
    replay = ann.visitor.open(begun["document"])
    document = replay.json()
    assert document["live"] == {"over": True, "trouble": ""}
    assert [player["name"] for player in document["players"]] == ["mine", "random"]
    headers = {"If-None-Match": replay.headers["ETag"]}
    assert ann.visitor.open(begun["document"], headers=headers).status_code == 304
    later = ann.visitor.open(f"{begun['document']}?after=2").json()
    assert (later["after"], later["turns"]) == (2, document["turns"][2:])


def test_output_and_turns_are_told_while_the_match_is_played(site: Site) -> None:
    ann = Author(site, "Ann")
    waits = 'print("here", state.turns_left, file=sys.stderr)\ntime.sleep(0.3)\n'
    ann.write(paint(f"{waits}return {WALK}"))
    begun = ann.run()
    with working(site):
        run = ann.wait(lambda run: len(run["output"]) > 2 or not run["goes_on"])
        assert run["goes_on"]
        assert run["ready"]
        assert run["output"][-1][1].startswith("here ")
        document = ann.visitor.open(begun["document"]).json()
        assert len(document["turns"]) > 0
        assert not document["live"]["over"]
        ann.post("stop", {})
        assert not ann.report()["goes_on"]
    assert "you have stopped it" in ann.report()["words"]
    assert ann.report()["output"]


def test_stop_ends_all_processes_also_of_a_bot_that_will_not_end(site: Site) -> None:
    ann = Author(site, "Ann")
    ann.write(paint(STUBBORN))
    with working(site):
        ann.run()
        ann.wait(lambda run: run["ready"])
        sandboxes = programs()
        assert sandboxes
        ann.post("stop", {})
        ann.wait(lambda _: gone(sandboxes))
        ann.write(paint(f"return {WALK}"))
        ann.run()
        assert not ann.ended()["failed"]


SLOW = """\
template <int N> constexpr long slow() {
    long sum = N;
    for (int i = 0; i < 200000; i++) for (int j = 0; j < 30; j++) sum += j;
    return sum;
}
""" + "".join(f"static_assert(slow<{number}>() > 0);\n" for number in range(500))
"""A program with which a compiler is busy for minutes."""


@needs_language("cpp")
def test_stop_ends_a_compiler_too(site: Site) -> None:
    ann = Author(site, "Ann")
    open_in(site, ann, {"bot.cpp": SLOW})
    with working(site):
        ann.run()
        ann.wait(lambda run: bool(programs()) or not run["goes_on"])
        sandboxes = programs()
        assert ann.report()["goes_on"]
        ann.post("stop", {})
        ann.wait(lambda _: gone(sandboxes))
        ann.write("int main() { return }\n", "bot.cpp")
        ann.run()
        run = ann.ended()
    assert "It could not be built" in run["words"]
    assert "expected" in run["compiler"]
    assert {(mark["file"], mark["line"]) for mark in run["marks"]} == {("bot.cpp", 1)}


def open_in(site: Site, author: Author, files: dict[str, str]) -> None:
    """Fill the draft of somebody who has typed nothing yet."""
    with site.resources.database.writing() as session:
        user = session.scalars(select(User.id)).one()
        contents = {name: text.encode() for name, text in files.items()}
        assert workshop.fill(session, Draft(user, "paint"), contents)
    assert set(author.files()) == set(files)


def test_others_find_nothing(site: Site) -> None:
    ann, ben = Author(site, "Ann"), Author(site, "Ben")
    begun = ann.run()
    with working(site):
        ann.ended()
    assert ben.visitor.open(begun["document"]).status_code == 404
    for path in ("run", "run/turns/1", "series/1/document"):
        ben.report(path, 404)
    assert ben.report("ask")["answer"] is None
    assert ben.report("series")["matches"] == []
    assert ben.report("check")["steps"] == []
    ben.post("stop", {})
    assert ann.report()["words"]
    mine = ben.run()
    assert ben.visitor.open(begun["document"]).status_code == 404
    assert ann.visitor.open(mine["document"]).status_code == 404
    assert site.visitor().open(begun["document"]).status_code == 401
    assert ben.post("ask", {"turn": 1}).status_code == 400


def test_what_cannot_be_run_is_a_sentence(site: Site) -> None:
    ann = Author(site, "Ann")
    assert "there are" in ann.run(400, opponent="nobody")["error"].lower()
    assert "there are" in ann.run(400, opponent="Painter/1")["error"].lower()
    assert "seat" in ann.run(400, seat=9)["error"]
    assert ann.run(400, opponent=3)["error"]
    assert "run the bot first" in ann.post("ask", {"turn": 1}).json()["error"]
    assert "20 to 400" in ann.post("series", {"opponent": "random", "matches": 5}).json()["error"]
    ann.token = ""
    assert ann.post("run", {"opponent": "random"}).status_code == 400
    assert workshop.DO not in [job for job, *_ in site.queue.jobs]


def test_a_worker_that_is_gone_is_told_and_the_draft_is_untouched(site: Site) -> None:
    ann = Author(site, "Ann")
    ann.write(paint(f"return {WALK}"))
    ann.run()
    with site.resources.database.writing() as session:
        assert workshop.claim_task(session, "a worker that is killed") is not None
    assert ann.report()["goes_on"]
    site.clock.advance(21)
    with site.resources.database.writing() as session:
        workshop.sweep(session)
    run = ann.report()
    assert (run["goes_on"], run["is_lost"], run["failed"]) == (False, True, True)
    assert workshop.GONE in run["words"]
    assert ann.files()["bot.py"]["text"] == paint(f"return {WALK}")
    ann.run()
    with working(site):
        assert not ann.ended()["failed"]


def test_a_message_that_is_lost_is_sent_again(site: Site) -> None:
    ann = Author(site, "Ann")
    ann.run()
    site.queue.jobs.clear()
    jobs.send_lost_tasks(site.resources)
    assert site.queue.jobs == []
    site.clock.advance(61)
    jobs.send_lost_tasks(site.resources)
    with working(site):
        assert not ann.ended()["failed"]


def test_a_version_of_ones_own_is_an_opponent_and_one_of_others_is_not(site: Site) -> None:
    site.open_competition("paint")
    ann, ben = Author(site, "Ann"), Author(site, "Ben")
    ann.save_version("Painter")
    with working(site):
        state = f"{PAGE}versions/Painter/1"
        ann.wait(lambda run: run["state"] == "ready", "versions/Painter/1")
        assert ann.visitor.open(state).status_code == 200
        assert 'value="Painter/1"' in ann.visitor.open(PAGE).text
        assert 'value="Painter/1"' not in ben.visitor.open(PAGE).text
        begun = ann.run(opponent="Painter/1", seat=2)
        run = ann.ended()
    assert not run["failed"], run
    names = [one["name"] for one in ann.visitor.open(begun["document"]).json()["players"]]
    assert names == ["Painter-1", "mine"]
    assert ben.run(400, opponent="Painter/1")["error"]


@pytest.mark.thorough
def test_the_place_in_the_queue_is_told(site: Site) -> None:
    authors = [Author(site, name) for name in ("Ann", "Ben", "Cleo")]
    for author in authors:
        author.run()
    assert "no machine" in authors[0].report()["waits"]
    Process("w", "1", ["worker"], site.clock(), Figures(languages={"python": "3"})).beat(
        site.resources
    )
    run = [author.report()["waits"] for author in authors]
    assert run == [f"It waits: {place} in the queue." for place in ("1st", "2nd", "3rd")]
    authors[0].post("check", None)
    with working(site, slots=2):
        assert not any(author.ended()["failed"] for author in authors)
        assert authors[0].ended("check")["trouble"] == ""


def test_the_page_says_which_share_a_run_waits_for(site: Site) -> None:
    ann, ben = Author(site, "Ann"), Author(site, "Ben")
    site.open_competition("paint")
    programs = Figures(languages={"python": "3"}, program_slots=2)
    Process("w", "1", ["worker"], site.clock(), programs).beat(site.resources)
    ann.run()
    with site.resources.database.writing() as session:
        assert workshop.claim_task(session, "w") is not None
    ben.run()
    assert ben.report()["waits"] == (
        "It waits: half of the places are kept for matches, and all others are in use. "
        "It begins when one of them is free. It is 1st in the queue."
    )


def test_an_account_that_is_deleted_takes_its_tasks_along(site: Site) -> None:
    ann = Author(site, "Ann")
    ann.run()
    with working(site):
        ann.ended()
    deleted = ann.visitor.fill("/settings/delete", on="/settings", password=PASSWORD)
    assert deleted.status_code in (200, 303), deleted.text
    with site.resources.database.reading() as session:
        assert session.scalars(select(WorkshopTask.id)).all() == []
        assert session.scalars(select(WorkshopPiece.task_id)).all() == []


@pytest.mark.limits_of_the_rules
@pytest.mark.parametrize("attack", first_is_fast(ATTACKS))
def test_whatever_a_bot_does_the_run_ends_and_the_next_one_works(
    site: Site,
    attack: str,
    all_players: Mapping[Sequence[str], Players],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Hexagon ends with the first answer that is late.
    ann = Author(site, "Ann", "hexagon")
    ann.write(HEXAGON.replace("{body}", indented(ATTACKS[attack])))
    with working(site):
        ann.run()
        run = ann.ended()
        assert run["words"]
        assert sum(len(text) for _, text in run["output"]) < 200_000
        # Now a busy machine shall make no answer late.
        monkeypatch.setattr(players, "COMMAND", PLAYER)
        site.resources = replace(site.resources, players=all_players[PLAYER])
        ann.write(HEXAGON.replace("{body}\n", ""))
        ann.run()
        # Both play at random, so that a draw can come of it.
        assert re.search("by score|Draw", ann.ended()["words"])


def test_the_bot_is_asked_again_as_it_is_now(site: Site) -> None:
    ann = Author(site, "Ann")
    ann.write(paint(f"return {WALK}"))
    ann.run()
    with working(site):
        ann.ended()
        ann.write(paint('print("again", file=sys.stderr)\nreturn ("walk", (0, -1))'))
        answer = ann.asked_again(2)["answer"]
        assert answer["before"] == {"type": "walk", "direction": [0, 1]}
        assert answer["after"] == {"type": "walk", "direction": [0, -1]}
        assert "again" in answer["stderr"]
        assert "nothing to answer" in ann.asked_again(4000)["trouble"]


def test_a_check_says_what_to_do(site: Site) -> None:
    ann = Author(site, "Ann")
    ann.write(paint("return 7"))
    with working(site):
        assert ann.post("check", None).status_code == 201
        check = ann.ended("check")
    assert [step["ok"] for step in check["steps"]][-1] is False
    assert check["steps"][-1]["fix"]


def test_a_series_is_played_by_the_bot_as_it_was_and_each_match_is_kept(site: Site) -> None:
    ann, ben = Author(site, "Ann"), Author(site, "Ben")
    ann.write(paint(f"return {WALK}"))
    with working(site):
        assert ann.post("series", {"opponent": "still", "matches": 20}).status_code == 201
        ann.write("this is not a program")
        ann.wait(lambda series: bool(series["matches"]), "series")
        ann.run()
        assert "end of your series" in ann.report()["waits"]
        # The series gives way, and goes on afterwards.
        site.clock.advance(3)
        assert ann.ended()["failed"] is False
        assert ann.report("series")["goes_on"]
        series = ann.ended("series")
        assert series["trouble"] == ""
        assert [match["seat"] for match in series["matches"]] == [1, 2] * 10
        assert series["tally"]["wins"] + series["tally"]["draws"] + series["tally"]["losses"] == 20
    replay = ann.visitor.open(f"{PAGE}series/3/document").json()
    assert replay["seed"] == series["matches"][2]["seed"]
    ben.report("series/3/document", 404)
    ann.report("series/21/document", 404)


def test_a_run_of_another_window_takes_the_place_of_this_one(site: Site) -> None:
    ann = Author(site, "Ann")
    ann.write(paint(STUBBORN))
    with working(site, slots=2):
        first = ann.run()
        ann.wait(lambda run: run["ready"])
        sandboxes = programs()
        ann.write(paint(f"return {WALK}"))
        second = ann.run()
        assert ann.report()["match"] == second["match"] != first["match"]
        assert ann.visitor.open(first["document"]).status_code == 404
        assert not ann.ended()["failed"]
        ann.wait(lambda _: gone(sandboxes))
