"""Ladders are as undisturbed ones, whatever is killed: `make soak`, at full size."""

from __future__ import annotations

from pathlib import Path

import pytest

from hub.tests.competitions.tournament.rounds.test_ladder_kills import play_alone, play_on_services

pytestmark = pytest.mark.thorough

KILLS = 30
ROUNDS = 12


def test_a_hub_in_one_process_is_killed_30_times_in_its_rounds(tmp_path: Path) -> None:
    play_alone(tmp_path, ROUNDS, KILLS)


def test_a_worker_is_killed_30_times_in_rounds(tmp_path: Path) -> None:
    play_on_services(tmp_path, ROUNDS, KILLS)
