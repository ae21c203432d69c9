"""Who counts as one visitor where live matches are shared."""

from __future__ import annotations

from cw_hub.store.models import User
from hub.tests.sites import Site, Visitor

AGAINST_RANDOM = {"bot": "builtin:random", "hand": "1"}


def waits(visitor: Visitor) -> bool:
    """Begin a match; return whether it waits for a place."""
    answer = visitor.send_form("/games/hexagon/matches", AGAINST_RANDOM)
    assert answer.status_code == 303, answer.text
    path = answer.headers["Location"].partition("?")[0]
    return "in the queue" in visitor.open(f"{path}/document").text


def test_accounts_count_by_themselves_once_their_address_is_confirmed(site: Site) -> None:
    ann, bob, visitor = site.player("Ann"), site.player("Bob"), site.visitor()
    try:
        assert [waits(one) for one in (visitor, ann, bob)] == [False, False, True]
        with site.resources.database.writing() as session:
            session.query(User).filter_by(username="Bob").update(
                {"email_verified_at": site.clock()}
            )
        assert [waits(one) for one in (bob, bob, bob, ann)] == [False, False, True, True]
    finally:
        site.app.extensions["matches"].close()
