"""What a terminal shows while an experiment of the lab runs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cw.arena.bots import read_bots
from cw.cli.lab.progress import LabProgress
from cw.cli.output.announcements import Announcements
from cw.cli.output.stderr import Stderr
from cw.lab.comparison import LineUp
from cw.lab.tuning import Course, Tuning
from cw.league.strength_tests import Tunable
from tests.cli.output.test_check_progress import Clock


def test_recorded_steps_do_not_shorten_the_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    bots = tuple(read_bots(["a=builtin:walker", "b=builtin:walker"]).bots)
    depth = Tunable("depth", 4, 1, 9, 2, whole=True)
    tuning = Tuning(LineUp("paint", bots), (depth,), steps=10, pairs=3, seed=1)
    stderr, clock = Stderr(), Clock()
    progress = LabProgress(stderr, Announcements(stderr), clock)
    lines: list[str] = []
    monkeypatch.setattr(progress._status, "update", lines.append)
    # Eight steps of three pairs are recorded, and one of them is played.
    progress.begin(8 * 3 * 2)
    for seconds, steps in ((0, 8), (60, 9), (120, 10)):
        clock.now = seconds
        course = Course(tuning, ({"depth": 4.0},))
        progress.course(replace(course, scores=(0.5,) * steps))
    assert [line.partition("; ")[2] for line in lines] == ["", "about 1 min left", ""]
