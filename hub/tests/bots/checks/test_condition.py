"""How a bot stands: its last check and its last matches, and the mail when it is gone."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import select, update

from cw_hub.accounts import mail_delivery
from cw_hub.accounts import service as accounts_service
from cw_hub.bots import health
from cw_hub.bots import jobs as bots_jobs
from cw_hub.bots.health import condition_of
from cw_hub.operation.resources import Resources
from cw_hub.store.models import Bot, Mail, User
from hub.tests.bots.test_player_bots import ME, Owner, do_jobs, register, served
from hub.tests.conftest import ON_SQLITE, StillClock
from hub.tests.sites import Site, words_of

pytestmark = ON_SQLITE

EVERY = timedelta(minutes=15)


@pytest.fixture
def ann(resources: Resources) -> Owner:
    owner = Owner(resources)
    mailbox = {"email": "ann@example.org", "email_verified_at": resources.clock()}
    owner.do(lambda session: session.execute(update(User).values(mailbox)))
    return owner


def dead_bot(ann: Owner) -> int:
    """Add a bot that was active, and whose address nobody serves any more; return its row."""
    bot, now = ann.register(), ann.clock()
    well = {
        "status": "ACTIVE",
        "protocol_ok": True,
        "checks": [{"step": "answers", "ok": True}],
        "checked_at": now,
        "healthy_at": now,
        "check_due_at": now + EVERY,
    }
    ann.do(lambda session: session.execute(update(Bot).values(well)))
    return bot


def check(ann: Owner, bot: int, problem: str | None) -> None:
    """Note what the health of a bot has come to."""
    target = ann.do(lambda session: health.check_target(session, bot))
    assert target is not None
    steps = [{"step": "health", "ok": problem is None, "problem": problem}]
    ann.do(lambda session: health.note_health(session, target, steps))


def test_a_match_that_did_not_reach_a_bot_asks_for_a_check_at_once(
    ann: Owner, hub_clock: StillClock
) -> None:
    bot = dead_bot(ann)
    hub_clock.advance(60)
    match, _ = ann.practise(bot)
    ME.play(ann.resources, match)
    condition = ann.do(lambda session: condition_of(session, bot))
    assert (condition.word, condition.is_well, condition.faulty) == ("failing", False, 1)
    assert condition.last is not None
    assert condition.last.unreachable
    (due,) = ann.do(lambda session: health.take_due(session, EVERY))
    assert due.id == bot
    hub_clock.advance(1)
    check(ann, bot, None)
    condition = ann.do(lambda session: condition_of(session, bot))
    assert (condition.word, condition.is_well) == ("active", False)


def test_three_failures_make_it_inactive_and_its_owner_is_told_once(
    ann: Owner, hub_clock: StillClock
) -> None:
    bot = dead_bot(ann)
    ann.do(lambda session: health.note_match(session, [bot]))
    for _ in range(2):
        check(ann, bot, "nobody is there")
    assert ann.find().status == "INACTIVE"
    mail_delivery.send_due(ann.resources)
    (letter,) = (ann.resources.settings.data / "mail").glob("*.eml")
    text = letter.read_text()
    assert "Subject: Your bot Swarm is inactive" in text
    for part in ("nobody is there", "/bot/Swarm?game=hexagon", "/unsubscribe/"):
        assert part in text
    check(ann, bot, None)
    for _ in range(3):
        check(ann, bot, "gone again")
    assert ann.find().status == "INACTIVE"
    assert len(ann.do(lambda session: session.scalars(select(Mail)).all())) == 1


def test_who_wants_no_such_mails_gets_none(ann: Owner) -> None:
    bot = dead_bot(ann)
    ann.do(
        lambda session: accounts_service.want_mails(
            session, ann.id, about_bots=False, from_hosts=True
        )
    )
    for _ in range(3):
        check(ann, bot, "nobody is there")
    mail_delivery.send_due(ann.resources)
    (row,) = ann.do(lambda session: session.scalars(select(Mail)).all())
    assert (row.state, row.reason) == ("dropped", "the recipient no longer wants it")


@pytest.mark.parametrize(("step", "silent"), [("signature", False), ("answers", True)])
def test_a_bot_that_answers_wrongly_is_not_silent(ann: Owner, step: str, silent: bool) -> None:
    bot = dead_bot(ann)
    checks = {"checks": [{"step": step, "ok": False}]}
    ann.do(lambda session: session.execute(update(Bot).values(checks)))
    condition = ann.do(lambda session: condition_of(session, bot))
    assert (condition.word, condition.is_silent) == ("failing", silent)


def test_nobody_reads_that_all_is_fine_beside_a_bot_that_is_gone(
    site: Site, hub_clock: StillClock
) -> None:
    """A bot that is killed is failing with the next look, inactive soon after, and says since when.

    As soon as it answers, it is active again.
    """
    site.open_competition("hexagon")
    ann, page = site.player("Ann"), "/bot/Swarm?game=hexagon"
    with served("hexagon", "greedy") as address:
        register(ann, endpoint=address)
        do_jobs(site)
        assert "active" in words_of(ann.open("/bots"))
        assert "\u2717" not in ann.open(page).text
    hub_clock.advance(15 * 60)
    for word in ("failing", "failing", "inactive"):
        bots_jobs.sweep_bots(site.resources)
        words = words_of(ann.open(page))
        assert words.partition("Swarm ")[2].startswith(word), words[:300]
        assert "\u2713" not in words, "no step is said to be fine"
        assert "wrong: " in words, "the step that failed is named"
        assert "Checked now" in words
        for own in ("/bots", "/user/Ann"):
            assert f"Swarm {word}" in words_of(ann.open(own))
        assert "failing" not in words_of(site.visitor().open("/user/Ann"))
        hub_clock.advance(60)
    port = address.rpartition(":")[2].rstrip("/")
    with served("hexagon", "greedy", port=port):
        hub_clock.advance(15 * 60)
        bots_jobs.sweep_bots(site.resources)
    words = words_of(ann.open(page))
    assert words.partition("Swarm ")[2].startswith("active")
    assert "\u2717" not in words
