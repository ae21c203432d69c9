"""The alerts of a hub: each fires at its threshold and not below, by Prometheus' own tool."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.tools import PROMTOOL

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
    "CircuitWarsLongQueue": (
        "> 100 or max(cw_queue_wait_seconds) > 600",
        "> 99 or max(cw_queue_wait_seconds) > 600",
        "> 100 or max(cw_queue_wait_seconds) > 601",
    ),
    "CircuitWarsReplaysFillStore": ("> 0.8 ", "> 0.799 ", "> 0.801 "),
    "CircuitWarsUnreadableMessages": (
        "unreadable_total[1h])) > 0",
        "unreadable_total[1h])) >= 0",
        "unreadable_total[1h])) > 2",
    ),
    "CircuitWarsProcessesEnd": (
        "ended_total[1h])) > 0",
        "ended_total[1h])) >= 0",
        "ended_total[1h])) > 2",
    ),
    "CircuitWarsTargetDown": ("} < 1\n", "} < 2\n", "} < 0\n"),
    "CircuitWarsDatabaseAway": ("database_up) < 1", "database_up) < 2", "database_up) < 0"),
    "CircuitWarsNoTick": ("> 60\n", "> 59\n", "> 62\n"),
    "CircuitWarsOldBackup": (
        "backup_age_seconds) > 93600",
        "backup_age_seconds) > 93599",
        "backup_age_seconds) > 93601",
    ),
    "CircuitWarsOldCopy": (
        "copy_age_seconds) > 93600",
        "copy_age_seconds) > 93599",
        "copy_age_seconds) > 93601",
    ),
    "CircuitWarsMailsFail": (
        "failed_total[1h])) > 10",
        "failed_total[1h])) > 9",
        "failed_total[1h])) > 20",
    ),
    "CircuitWarsMatchesFail": ('"}) > max(', '"}) >= max(', '"}) > 1 + max('),
    "CircuitWarsDiskFull": ("< 0.1\n", "< 0.11\n", "< 0.09\n"),
    "CircuitWarsReplicaBehind": (
        "> 60 or min(cw_replica_up) < 1",
        "> 59 or min(cw_replica_up) < 1",
        "> 60 or min(cw_replica_up) < 0",
    ),
    "CircuitWarsCertificateEnds": ("< 1209600", "< 1209601", "< 1209599"),
    "CircuitWarsErrors": ("> 0.01 ", "> 0.009 ", "> 0.03 "),
}
"""The threshold of each alert, and those that are a little too low and too high."""


def promtool(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run Prometheus' tool."""
    command = [PROMTOOL.program("promtool"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def failing(rules: str, folder: Path) -> set[str]:
    """Return the alerts that the tests miss, or see, where it is otherwise by other rules."""
    shutil.copy(TESTS, folder)
    (folder / RULES.name).write_text(rules, encoding="utf-8")
    done = promtool("test", "rules", folder / TESTS.name)
    assert done.returncode == 1, done.stdout + done.stderr
    return set(re.findall(r'alertname="(\w+)"', done.stdout + done.stderr))


@pytest.mark.thorough
def test_each_alert_fires_at_its_threshold_and_not_below(tmp_path: Path) -> None:
    done = promtool("test", "rules", TESTS)
    assert done.returncode == 0, done.stdout + done.stderr
    rules = RULES.read_text(encoding="utf-8")
    assert set(re.findall(r"- alert: (\w+)", rules)) == set(THRESHOLDS)
    # With any other threshold those tests would have failed, so they are at the threshold.
    for side in (1, 2):
        changed = rules
        for name, thresholds in THRESHOLDS.items():
            assert rules.count(thresholds[0]) == 1, name
            changed = changed.replace(thresholds[0], thresholds[side])
        assert failing(changed, tmp_path) == set(THRESHOLDS), side


def test_prometheus_takes_the_settings_that_are_given() -> None:
    done = promtool("check", "config", RULES.with_name("prometheus.yml"))
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_panel_has_a_question_and_a_place_of_its_own() -> None:
    panels = json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
    places = {(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels}
    assert len(places) == len({panel["id"] for panel in panels}) == len(panels)
    assert all(target["expr"] for panel in panels for target in panel["targets"])


def test_prometheus_reads_the_question_of_each_panel(tmp_path: Path) -> None:
    panels = json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
    expressions = [target["expr"] for panel in panels for target in panel["targets"]]
    rules = [{"record": f"panel:{number}", "expr": text} for number, text in enumerate(expressions)]
    file = tmp_path / "panels.yml"
    # JSON is YAML, too.
    file.write_text(json.dumps({"groups": [{"name": "panels", "rules": rules}]}))
    done = promtool("check", "rules", file)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_site_without_errors_shows_that_no_request_fails(tmp_path: Path) -> None:
    """Counters of answers that never came are missing, and nothing divided is nothing."""
    panels = json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
    (expression,) = (
        target["expr"] for panel in panels for target in panel["targets"] if "5.." in target["expr"]
    )
    well = {"series": 'cw_http_requests_total{route="/", status="200"}', "values": "0+9x10"}
    share = {"expr": expression, "eval_time": "10m", "exp_samples": [{"labels": "{}", "value": 0}]}
    tests = [{"interval": "1m", "input_series": [well], "promql_expr_test": [share]}]
    file = tmp_path / "panels_test.yml"
    file.write_text(json.dumps({"tests": tests}))
    done = promtool("test", "rules", file)
    assert done.returncode == 0, done.stdout + done.stderr
