"""A hub in one process is killed again and again, and its matches survive: `make soak`."""

from __future__ import annotations

import logging
from pathlib import Path

from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import opened
from cw_hub.operation.settings import read_settings
from hub.tests.campaign import (
    HASTY,
    Role,
    attempts,
    check_everything,
    one_after_the_other,
    plan_matches,
    roles,
)

MATCHES = 500
KILLS = 20

logger = logging.getLogger(__name__)


def test_a_hub_in_one_process_is_killed_twenty_times(tmp_path: Path) -> None:
    environment = {"CW_DATA": str(tmp_path / "data"), **HASTY}
    settings = read_settings(environment)
    with opened(settings, CeleryQueue(settings)) as resources:
        plan_matches(resources, MATCHES)
        hub = Role(["serve", "--port", "0"], environment, tmp_path / "hub.log")
        with roles(hub):

            def strike(_: int) -> None:
                hub.kill()
                hub.start()

            one_after_the_other(resources, MATCHES, KILLS, strike)
        logger.info("%s matches, %s kills; by attempts: %s", MATCHES, KILLS, attempts(resources))
        check_everything(resources, MATCHES)
