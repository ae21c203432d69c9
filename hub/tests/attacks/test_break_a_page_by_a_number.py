"""Numbers that no column takes break no page: there is nothing of that number."""

from __future__ import annotations

import pytest

from cw import kits
from hub.tests.attacks.hubs import RATED, Hub

pytestmark = pytest.mark.thorough

KIT = {name: file.read_bytes() for name, file in kits.files(RATED, "python").items()}

PATHS = (
    "/bot/Counted/version/{number}.zip?game=paint",
    "/bot/Counted/comparisons/{number}?game=paint",
    "/bot/Counted/comparisons/{number}/state?game=paint",
    "/bot/Counted/compare?game=paint&a=1&b={number}",
    "/bot/Counted?game=paint&page={number}",
    "/workshop/paint/versions/Counted/{number}",
    "/workshop/paint/run/turns/{number}",
    "/workshop/paint/run/{number}/document",
    "/workshop/paint/series/{number}/document",
    "/match/{number}",
    "/settings/bot/version/{number}.zip",
)
FORMS = (
    ("/bot/Counted/comparisons/{number}/stop", {"game": RATED}),
    ("/bot/Counted/use-version", {"game": RATED, "version": "{number}"}),
)
NUMBERS = (2**31, 2**32, 10**17, 2**63, 10**40)


def test_no_number_breaks_a_page(hub: Hub) -> None:
    player = hub.player("counter")
    assert player.send_program("Counted", KIT).status_code == 303
    player.checked("Counted")
    for number in NUMBERS:
        for path in PATHS:
            code = player.open(path.format(number=number)).status_code
            assert code < 500, (path, number)
            assert code == 404 or "?" in path, (path, number, code)
        for path, values in FORMS:
            filled = {name: value.format(number=number) for name, value in values.items()}
            page = "/bot/Counted?game=paint"
            code = player.fill(path.format(number=number), on=page, **filled).status_code
            assert code < 500, (path, number)
    assert "Traceback" not in hub.logs()
