"""The alerts of a hub: each fires at its threshold and not below, by Prometheus' own tool."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

DEPLOY = Path(__file__).resolve().parents[1] / "deploy"
RULES = DEPLOY / "prometheus" / "alerts.yml"
TESTS = DEPLOY / "prometheus" / "alerts_test.yml"
DASHBOARD = DEPLOY / "grafana.json"

THRESHOLDS = {
    "CircuitWarsFewMatches": ("< 10", "< 11", "< 9"),
    "CircuitWarsFewWorkers": ("< 2", "< 3", "< 1"),
    "CircuitWarsBotsFailing": (
        "> 0.5 * max(max_over",
        "> 0.45 * max(max_over",
        "> 0.6 * max(max_over",
    ),
    "CircuitWarsSlowPages": ("> 0.5\n", "> 0.49\n", "> 0.8\n"),
    "CircuitWarsLongQueue": ("> 100", "> 99", "> 101"),
    "CircuitWarsReplaysFillStore": ("> 0.8 ", "> 0.799 ", "> 0.801 "),
    "CircuitWarsErrors": ("> 0.01 ", "> 0.009 ", "> 0.03 "),
}
"""The threshold of each alert, and those that are a little too low and too high."""


def promtool(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run Prometheus' tool."""
    program = shutil.which("promtool")
    if program is None:
        if os.environ.get("CW_REQUIRE_SERVICES"):
            pytest.fail("promtool is not installed")
        pytest.skip("promtool is not installed")
    command = [program, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_each_alert_fires_at_its_threshold_and_not_below(tmp_path: Path) -> None:
    done = promtool("test", "rules", TESTS)
    assert done.returncode == 0, done.stdout + done.stderr
    rules = RULES.read_text(encoding="utf-8")
    assert set(re.findall(r"- alert: (\w+)", rules)) == set(THRESHOLDS)
    # With any other threshold those tests would have failed, so they are at the threshold.
    shutil.copy(TESTS, tmp_path)
    for name, (threshold, *others) in THRESHOLDS.items():
        assert rules.count(threshold) == 1, name
        for other in others:
            changed = rules.replace(threshold, other)
            (tmp_path / RULES.name).write_text(changed, encoding="utf-8")
            done = promtool("test", "rules", tmp_path / TESTS.name)
            assert done.returncode == 1, f"{name} {other}"


def test_prometheus_takes_the_settings_that_are_given() -> None:
    done = promtool("check", "config", RULES.with_name("prometheus.yml"))
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_panel_has_a_question_and_a_place_of_its_own() -> None:
    panels = json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
    places = {(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels}
    assert len(places) == len({panel["id"] for panel in panels}) == len(panels)
    assert all(target["expr"] for panel in panels for target in panel["targets"])
