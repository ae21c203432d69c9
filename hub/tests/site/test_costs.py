"""The table of what requests cost: whole, and true to the limits of the code."""

from __future__ import annotations

from collections import Counter

from cw_hub.cli import COMMANDS
from cw_hub.matches.jobs import Worker
from cw_hub.site.formats import FORMATS, MATCH_TYPES
from cw_hub.site.processes import chores_of, jobs_of
from hub.docs import make_costs
from hub.tests.sites import Site


def listed() -> Counter[str]:
    """Return what has rows."""
    text = make_costs.FILE.read_text("utf-8")
    return Counter(name for row in make_costs.rows(text) for name in make_costs.names_of(row[0]))


def test_each_route_job_and_command_has_a_row_and_nothing_else(site: Site) -> None:
    there = {route for route, _, _ in make_costs.routes(site.app)}
    there |= {f"job {name}" for name in jobs_of(Worker("me", 1, MATCH_TYPES))}
    there |= {f"chore {name}" for name in chores_of(FORMATS)}
    there |= {f"cw hub {name}" for name in COMMANDS}
    rows = listed()
    assert there - set(rows) == set(), "these have no row in hub/docs/costs.md"
    assert set(rows) - there == {"tick", "back-up"}, "these rows are about nothing"
    assert max(rows.values()) == 1


UNLIMITED = {
    "GET /static/<path:filename>",
    "GET /health",
    "GET /ready",
    "GET /metrics",
    "GET /ranking/now",
    "GET /t/<slug>/events.json",
    "GET /t/<slug>/<group>/ladder.json",
    "GET /t/<slug>/<group>/<team>.json",
}
"""What is answered from memory, for whoever asks and however often."""


def test_what_has_no_limit_is_answered_from_memory(site: Site) -> None:
    limits = make_costs.limits_of(site.app)
    free = {route for route, limit in limits.items() if limit == "none"}
    assert {route for route in free if not route.startswith("GET /rooms/")} == UNLIMITED


def test_the_limits_are_those_of_the_code(site: Site) -> None:
    text = make_costs.FILE.read_text("utf-8")
    assert make_costs.renewed(text, make_costs.limits_of(site.app)) == text, (
        "call `python hub/docs/make_costs.py`"
    )


def test_routes_of_a_row_share_its_limit(site: Site) -> None:
    known, scopes = make_costs.limits_of(site.app), make_costs.scopes_of(site.app)
    for row in make_costs.rows(make_costs.FILE.read_text("utf-8")):
        names = [name for name in make_costs.names_of(row[0]) if name in known]
        assert len({known[name] for name in names}) <= 1, row[0]
        assert len({scopes[name] for name in names}) <= 1, row[0]


def test_the_default_of_the_page_is_that_of_the_code() -> None:
    assert f"`{make_costs.DEFAULT}`" in make_costs.FILE.read_text("utf-8")
