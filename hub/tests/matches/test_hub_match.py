"""The operator's commands on matches."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import select, update

from cw.cli import main
from cw_hub.accounts import audit
from cw_hub.matches import planning
from cw_hub.matches.planning import Plan, Seat
from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import open_resources
from cw_hub.operation.settings import HubSettings
from cw_hub.store.models import Match


def hub(folder: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["hub", "match", *arguments, "--set", f"CW_DATA={folder}"])


@pytest.mark.parametrize(
    ("verb", "before", "after"), [("requeue", "failed", "queued"), ("void", "queued", "void")]
)
def test_a_match_is_moved_once_and_that_is_noted(
    tmp_path: Path, verb: str, before: str, after: str
) -> None:
    settings = HubSettings(data=tmp_path / "data")
    resources = open_resources(settings, CeleryQueue(settings))
    seats = (Seat("a", spec="builtin:random"), Seat("b", spec="builtin:greedy"))
    with resources.database.writing() as session:
        plan = Plan("practice", "k", "hexagon", seats)
        planning.plan(session, plan)
        session.execute(update(Match).values(state=before, troubles=5))
    with resources.database.reading() as session:
        match_id = session.scalars(select(Match.match_id)).one()
    first, second = (hub(settings.data, verb, match_id) for _ in range(2))
    assert (first.exit_code, second.exit_code) == (0, 2), first.output
    assert f"{match_id} is not a" in second.output
    assert hub(settings.data, verb, "m_nothing").exit_code == 2
    with resources.database.reading() as session:
        assert session.scalars(select(Match.state)).one() == after
        (noted,) = audit.history(session, f"match:{match_id}")
        assert (noted.actor, noted.verb) == ("operator", verb)
    resources.database.close()
