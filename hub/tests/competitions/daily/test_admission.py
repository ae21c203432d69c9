"""Bots are checked and asked for their health; what is wrong is said in one sentence."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from cw.errors import Failure
from cw_hub.accounts import audit
from cw_hub.bots import health
from cw_hub.bots import jobs as bots_jobs
from cw_hub.bots import service as bots_service
from cw_hub.bots.health import CheckTarget
from cw_hub.bots.service import BotView, NewBot
from cw_hub.competitions.rated import service as rated_service
from cw_hub.matches import planning
from cw_hub.matches import results as matches_results
from cw_hub.matches.jobs import Worker
from cw_hub.matches.planning import Plan, Seat
from cw_hub.operation import keys
from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import Resources, opened
from cw_hub.operation.settings import HubSettings
from cw_hub.site.formats import MATCH_TYPES
from cw_hub.site.processes import begin_site, tick
from cw_hub.store.database import Session
from cw_hub.store.models import Bot, Match, User
from cw_hub.store.sealing import Sealed, Sealer
from hub.tests.broken_bots import BROKEN, SECRET, Broken, Exchange, careless, self_signed, serving
from hub.tests.conftest import StillClock

pytestmark = pytest.mark.limits_of_the_rules
GOOD = Broken("good", "", "")
ILL = [{"step": "health", "ok": False, "problem": "ill"}]
CARELESS = Broken("careless", "refusal", "", turn=careless)


@pytest.fixture
def owner(resources: Resources) -> int:
    with resources.database.writing() as session:
        user = User(username="ann", username_key="ann", created_at=resources.clock())
        session.add(user)
        session.flush()
        return user.id


def registered(resources: Resources, owner: int, address: str, name: str = "Swarm") -> int:
    """Register a bot whose secret is known to those of the tests."""
    new = NewBot("code-battle", name, address)
    with resources.database.writing() as session:
        bot = bots_service.register(session, resources.sealer, owner, new).id
        rated_service.enter(session, bot)
        row = session.get_one(Bot, bot)
        sealed = resources.sealer.seal(SECRET.encode(), f"{row.bot_id}.1")
        row.secret, row.key_id = sealed.data, sealed.key_id
        return bot


def target_of(resources: Resources, bot: int) -> CheckTarget:
    with resources.database.reading() as session:
        target = health.check_target(session, bot)
    assert target is not None
    return target


def row_of(resources: Resources, bot: int) -> Bot:
    with resources.database.reading() as session:
        return session.get_one(Bot, bot)


def own(resources: Resources) -> BotView:
    with resources.database.reading() as session:
        bot = bots_service.find(session, None, "swarm")
    assert bot is not None
    return bot


def do(resources: Resources, verb: Callable[[Session], Any]) -> Any:
    with resources.database.writing() as session:
        return verb(session)


def failed(steps: Sequence[bots_jobs.Step]) -> tuple[str, str]:
    wrong = next(step for step in steps if not step["ok"])
    return wrong["step"], wrong["problem"]


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Resources]:
    """What a process holds; bots are asked without a look at the database."""
    settings = HubSettings(data=tmp_path / "alone")
    with opened(settings, CeleryQueue(settings)) as resources:
        yield resources


def known(resources: Resources, address: str) -> CheckTarget:
    """Return a bot whose secret is known to those of the tests."""
    sealed = resources.sealer.seal(SECRET.encode(), "b_00c0ffee.1")
    bot = "b_00c0ffee"
    return CheckTarget(
        1, bot, "code-battle", "Swarm", address, {}, sealed, f"{bot}.1", 1, "PENDING", False
    )


def all_steps(resources: Resources, addresses: Sequence[str]) -> list[Sequence[bots_jobs.Step]]:
    """Return the steps of a full check of each of some bots, in their order."""
    targets = [replace(known(resources, one), id=n) for n, one in enumerate(addresses)]
    steps = {target.id: steps for target, steps in bots_jobs.asked(resources, targets)}
    return [steps[target.id] for target in targets]


def test_every_broken_bot_is_told_what_is_wrong(alone: Resources) -> None:
    with ExitStack() as stack:
        addresses = [stack.enter_context(serving(bot)) for bot in (*BROKEN, GOOD, CARELESS)]
        *results, good, warned = all_steps(alone, addresses)
    failures = {bot.name: failed(steps) for bot, steps in zip(BROKEN, results, strict=True)}
    assert failures == {bot.name: (bot.step, bot.sentence) for bot in BROKEN}
    assert [step["step"] for step in good] == ["health", "turn", "signature", "moves", "refusal"]
    assert all(step["ok"] for step in good)
    assert failed(warned) == (
        "refusal",
        "Your bot accepted a request with a wrong signature. It should answer 401.",
    )
    assert warned[-1]["warning"]


@pytest.fixture
def deaf_port() -> Iterator[int]:
    """A port whose queue of connections is full."""
    with socket.socket() as deaf, ExitStack() as stack:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        for _ in range(4):
            client = stack.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(deaf.getsockname())
        yield deaf.getsockname()[1]


NOWHERE = "The host name {host} has no address that bots may use here."


def test_who_cannot_be_reached_is_told_why(
    alone: Resources, deaf_port: int, tmp_path: Path
) -> None:

    def steps(address: str, hub: Resources = alone) -> tuple[str, str]:
        return failed(*all_steps(hub, [address]))

    assert steps("http://bot.invalid") == ("resolve", NOWHERE.format(host="bot.invalid"))
    assert steps("http://127.0.0.1:9/") == ("connect", "127.0.0.1:9 refuses connections.")
    expected = f"No connection to 127.0.0.1:{deaf_port} within 2 seconds."
    assert steps(f"http://127.0.0.1:{deaf_port}") == ("connect", expected)
    public = replace(alone, settings=replace(alone.settings, bot_network=("public",)))
    for host in ("bot.invalid", "localhost"):
        assert steps(f"http://{host}:9", public) == ("resolve", NOWHERE.format(host=host))
    with serving(GOOD, self_signed(tmp_path)) as address:
        step, sentence = steps(address)
    assert step == "tls"
    assert sentence.startswith("The certificate of 127.0.0.1 is not valid: self")


def test_three_failures_in_a_row_and_back(
    resources: Resources, owner: int, hub_clock: StillClock
) -> None:
    begin_site(resources)
    with serving(GOOD) as address:
        bot = registered(resources, owner, address)
        bots_jobs.sweep_bots(resources)
        assert row_of(resources, bot).status == "ACTIVE"
        assert not do(resources, health.any_due)
        do(resources, lambda s: s.execute(update(Bot).values(endpoint="http://127.0.0.1:9")))
        reports = []
        for _ in range(4):
            hub_clock.advance(900)
            bots_jobs.sweep_bots(resources)
            row = row_of(resources, bot)
            reports.append((row.status, row.failures))
        assert reports == [("ACTIVE", 1), ("ACTIVE", 2), ("INACTIVE", 3), ("INACTIVE", 4)]
        assert row.reason == "127.0.0.1:9 refuses connections."
        do(resources, lambda s: s.execute(update(Bot).values(endpoint=address)))
        hub_clock.advance(900)
        tick(resources)
        bots_jobs.sweep_bots(resources)
        row = row_of(resources, bot)
        assert (row.status, row.failures, row.failures_total) == ("ACTIVE", 0, 4)
        assert row.healthy_at == hub_clock()
    with resources.database.reading() as session:
        noted = audit.history(session, f"bot:{row.bot_id}")
    changes = [(one.detail["from"], one.detail["to"]) for one in noted if one.verb == "status"]
    assert changes == [("INACTIVE", "ACTIVE"), ("ACTIVE", "INACTIVE"), ("PENDING", "ACTIVE")]


def test_a_sweep_takes_each_bot_once_and_writes_what_is_still_true(
    resources: Resources, owner: int, hub_clock: StillClock
) -> None:
    begin_site(resources)
    for number in range(9):
        registered(resources, owner, "http://127.0.0.1:9", f"bot-{number}")
    every = timedelta(minutes=15)
    with ThreadPoolExecutor(4) as threads:
        sweeps = [
            threads.submit(do, resources, lambda s: health.take_due(s, every)) for _ in range(4)
        ]
        numbers = [one for sweep in sweeps for one in sweep.result()]
    assert len(numbers) == len({one.id for one in numbers}) == 9
    late = numbers[0]
    do(
        resources,
        lambda s: s.execute(update(Bot).where(Bot.id == late.id).values(secret_version=2)),
    )
    assert not do(resources, lambda s: health.note_health(s, late, ILL))
    assert row_of(resources, late.id).failures == 0


def test_one_of_twenty_rotations_wins_and_the_bot_is_checked_again(
    resources: Resources, owner: int
) -> None:
    with serving(GOOD) as address:
        bot = registered(resources, owner, address)
        bots_jobs.check_bot(resources, bot)
    before = own(resources)
    assert before.status == "ACTIVE"

    def rotate(_: int) -> str:
        try:
            sealer = resources.sealer
            return str(do(resources, lambda s: bots_service.rotate(s, sealer, before)))
        except bots_service.Busy:
            return ""

    with ThreadPoolExecutor(8) as threads:
        secrets = [one for one in threads.map(rotate, range(20)) if one]
    assert len(secrets) == 1
    now = target_of(resources, bot)
    assert (now.status, now.secret_version) == ("PENDING", 2)
    assert resources.sealer.open(now.secret, now.secret_row).decode() == secrets[0]


def test_a_suspension_holds_until_it_is_lifted(resources: Resources, owner: int) -> None:
    bot = registered(resources, owner, "http://127.0.0.1:9")
    bot_id, _clock = row_of(resources, bot).bot_id, resources.clock
    do(resources, lambda s: bots_service.suspend(s, bot_id, "floods us"))
    row = row_of(resources, bot)
    assert (row.status, row.reason) == ("SUSPENDED", "floods us")
    with resources.database.reading() as session:
        assert health.check_target(session, bot) is None
    for verb in (
        lambda s: bots_service.suspend(s, bot_id, "again"),
        lambda s: bots_service.edit(s, own(resources), "http://127.0.0.1:8", ""),
        lambda s: bots_service.rotate(s, resources.sealer, own(resources)),
    ):
        with pytest.raises(
            bots_service.WrongStatus, match="The bot is SUSPENDED: it cannot do that"
        ):
            do(resources, verb)
    do(resources, lambda s: bots_service.restore(s, bot_id))
    assert row_of(resources, bot).status == "PENDING"
    with pytest.raises(bots_service.WrongStatus):
        do(resources, lambda s: bots_service.restore(s, bot_id))


def test_another_address_is_checked_again_and_another_description_is_not(
    resources: Resources, owner: int
) -> None:
    with serving(GOOD) as address:
        bot = registered(resources, owner, address)
        bots_jobs.check_bot(resources, bot)
    same = own(resources)
    assert not do(resources, lambda s: bots_service.edit(s, same, same.endpoint, "swarms"))
    assert (own(resources).status, own(resources).description) == ("ACTIVE", "swarms")
    assert do(resources, lambda s: bots_service.edit(s, same, "http://127.0.0.1:9", "swarms"))
    assert own(resources).status == "PENDING"
    assert do(resources, lambda s: s.scalar(select(Bot.protocol_ok))) is False


def test_a_bot_is_told_the_match_and_its_own_id(resources: Resources, owner: int) -> None:
    ids: set[tuple[str, str]] = set()

    def listen(exchange: Exchange) -> None:
        ids.add((exchange.headers["X-ACB-Match-Id"], exchange.headers["X-ACB-Bot-Id"]))
        exchange.play()

    with serving(replace(GOOD, turn=listen)) as address:
        bot = registered(resources, owner, address)
        seats = (Seat("Swarm", bot_id=bot), Seat("random", spec="builtin:random"))
        short = Plan("practice", "short", "code-battle", seats, {"max_turns": 3})
        match = do(resources, lambda s: planning.plan(s, short))
        do(resources, lambda s: s.execute(update(Match).values(attempt=1)))
        Worker("me", 1, MATCH_TYPES).play(resources, match)
    with resources.database.reading() as session:
        played = session.get_one(Match, match)
    assert (played.state, played.attempt) == ("done", 2)
    assert ids == {(matches_results.wire_id(played.match_id, 2), row_of(resources, bot).bot_id)}
    assert matches_results.wire_id("m_7f3a9b2c", 1) == "m_7f3a9b2c"
    digest = sha256(b"m_7f3a9b2c.2").hexdigest()[:8]
    assert matches_results.wire_id("m_7f3a9b2c", 2) == f"m_{digest}"


OLD = "old:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
NEW = "new:ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8="


def test_secrets_are_put_under_the_first_key_and_the_old_one_is_dropped(
    resources: Resources, owner: int
) -> None:
    resources = replace(resources, sealer=Sealer(OLD))
    for number in range(5):
        registered(resources, owner, "http://127.0.0.1:9", f"bot-{number}")
    both = Sealer(f"{NEW},{OLD}")
    with resources.database.writing() as session:
        assert keys.uses(session) == {"old": 5}
        assert keys.reseal(session, both) == 5
        assert keys.reseal(session, both) == 0
        assert keys.uses(session) == {"new": 5}
        first, second = session.scalars(select(Bot).order_by(Bot.id).limit(2))
    alone = Sealer(NEW)
    sealed = Sealed(first.key_id or "", first.secret or b"")
    assert alone.open(sealed, f"{first.bot_id}.1").decode() == SECRET
    with pytest.raises(Failure, match="cannot be decrypted"):
        alone.open(sealed, f"{second.bot_id}.1")
    with pytest.raises(Failure, match="the master key new is missing"):
        Sealer(OLD).open(sealed, f"{first.bot_id}.1")
