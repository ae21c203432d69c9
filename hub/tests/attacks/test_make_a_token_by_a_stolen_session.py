"""Who has taken over a session, but does not know the password, makes no token that outlives it."""

from __future__ import annotations

import pytest

from hub.tests.attacks.hubs import Hub
from hub.tests.sites import PASSWORD, words_of

pytestmark = pytest.mark.thorough


def test_a_session_alone_makes_no_token(hub: Hub) -> None:
    victim, thief = hub.player("victim"), hub.visitor()
    thief.cookies.update(victim.cookies)
    for guess in ({}, {"token_password": "guess"}):
        about = {"token_name": "mine", "days": "365", "read": "y", **guess}
        refused = thief.fill("/settings/tokens", on="/settings", **about)
        assert refused.status_code == 422, words_of(refused)
    assert "Last used" not in victim.open("/settings").text
    about = {"token_name": "ci", "days": "30", "read": "y", "token_password": PASSWORD}
    assert victim.fill("/settings/tokens", on="/settings", **about).status_code == 200


def test_passwords_are_not_guessed_by_the_form_of_tokens(hub: Hub) -> None:
    victim = hub.player("guessed")
    codes = []
    for number in range(12):
        about = {"token_name": "x", "days": "30", "read": "y", "token_password": f"no{number}"}
        codes.append(victim.fill("/settings/tokens", on="/settings", **about).status_code)
    assert codes[0] == 422
    assert codes[-1] == 429
