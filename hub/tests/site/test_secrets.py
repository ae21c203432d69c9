"""Secrets of bots: a rotated one counts within a match, and nobody but its bot ever reads one."""

from __future__ import annotations

import hmac
import io
import json
import logging
import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from threading import Event
from urllib.parse import urlsplit

import pytest
import redis
from click.testing import CliRunner
from sqlalchemy import inspect, select, text

from cw.errors import Failure
from cw.replays.document import unpacked
from cw_hub.bots import service as bots_service
from cw_hub.bots.addresses import ClaimedSeat
from cw_hub.cli import hub
from cw_hub.matches import jobs as matches_jobs
from cw_hub.matches import planning
from cw_hub.matches.jobs import LineUp, Worker
from cw_hub.matches.planning import Plan, Seat
from cw_hub.operation import backups, keys
from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import Resources, opened
from cw_hub.operation.settings import HubSettings
from cw_hub.site.api.description import operations_of
from cw_hub.site.formats import FORMATS, MATCH_TYPES
from cw_hub.site.processes import begin_site, jobs_of, tick
from cw_hub.store.models import Bot, Match, MatchParticipant
from cw_hub.store.sealing import Sealed, Sealer
from hub.tests.bots.test_player_bots import Owner
from hub.tests.broken_bots import NO_MOVES, Broken, Exchange, serving, sign
from hub.tests.conftest import StillClock
from hub.tests.program import Program, new_token
from hub.tests.services import new_redis
from hub.tests.sites import PASSWORD, Site, Visitor, site_on

OPERATIONS = operations_of(FORMATS)

ME = Worker("me", 1, MATCH_TYPES)
CLIENT = "urllib3.connectionpool"
"""Who logs what the visitors of the test ask for."""
OLD_KEY = "k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
NEW_KEY = "k2:HxseHRwbGhkYFxYVFBMSERAPDg0MCwoJCAcGBQQDAgE="


class SecretBot:
    """A web service that plays by one secret, and can be told another one."""

    def __init__(self) -> None:
        self.secret = ""
        self.turns: list[int] = []
        """Those that it has answered."""

    def turn(self, exchange: Exchange) -> None:
        names = ("Match-Id", "Turn", "Timestamp")
        head = ".".join(exchange.headers[f"X-ACB-{name}"] for name in names)
        message = f"{head}.{sha256(exchange.body).hexdigest()}"
        mark = hmac.new(self.secret.encode(), message.encode(), sha256).hexdigest()
        if not hmac.compare_digest(mark, exchange.headers["X-ACB-Signature"]):
            self.refuse(exchange)
            return
        self.turns.append(int(exchange.headers["X-ACB-Turn"]))
        exchange.say(200, NO_MOVES, X_ACB_Signature=sign(exchange.headers, NO_MOVES, self.secret))

    def refuse(self, exchange: Exchange) -> None:
        exchange.say(401)


class RotatingBot(SecretBot):
    """Rotates its secret in its third turn, and knows the new one alone from then on."""

    def __init__(self, owner: Owner) -> None:
        super().__init__()
        self.owner = owner
        self.old = ""
        self.claim = Event()
        """Set once the match has noted progress after the rotation."""
        self.refusals = 0

    def turn(self, exchange: Exchange) -> None:
        if exchange.headers["X-ACB-Turn"] == "3" and not self.old:
            self.old, owner = self.secret, self.owner
            sealer, own = owner.resources.sealer, owner.find()
            self.secret = owner.do(lambda s: bots_service.rotate(s, sealer, own))
        super().turn(exchange)

    def refuse(self, exchange: Exchange) -> None:
        # Ten refusals in a row would end it: the new secret is taken first, and reaches the player
        # a moment later.
        assert self.claim.wait(60)
        time.sleep(0.05 * 2**self.refusals)
        self.refusals += 1
        exchange.say(401)


def planned(ann: Owner, bot: SecretBot, address: str, **options: int) -> int:
    """Register a bot, and plan a match of it."""
    new = bots_service.NewBot("code-battle", "Swarm", address)
    own_bot = ann.do(lambda s: bots_service.register(s, ann.resources.sealer, ann.id, new))
    bot.secret = own_bot.secret
    seats = (Seat("Swarm", bot_id=own_bot.id), Seat("other", spec="builtin:random"))
    plan = Plan("practice", "k", "code-battle", seats, {"map": "m2_001", **options})
    return ann.do(lambda s: planning.plan(s, plan))


def test_a_match_takes_a_rotated_secret_at_its_next_progress(
    resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matches_jobs, "RENEWED", 0.05)
    ann = Owner(resources)
    bot = RotatingBot(ann)
    take = LineUp.take_secrets

    def note_claim(playing: LineUp, seats: Iterable[ClaimedSeat]) -> None:
        take(playing, seats)
        if bot.old and seats:
            bot.claim.set()

    monkeypatch.setattr(LineUp, "take_secrets", note_claim)
    with serving(Broken("rotating", "", "", turn=bot.turn)) as address:
        ME.play(resources, planned(ann, bot, address, max_turns=20))
    assert bot.old not in ("", bot.secret)
    assert bot.turns[:3] == [0, 1, 2]
    assert bot.turns[-1] == 19
    with resources.database.reading() as session:
        seat = session.scalars(select(MatchParticipant).where(MatchParticipant.slot == 0)).one()
    assert {fault["turn"] for fault in seat.faults} == set(range(20)) - set(bot.turns)
    assert not seat.crashed


def test_a_ciphertext_opens_nothing_in_another_row(resources: Resources) -> None:
    ann = Owner(resources)
    ids = [ann.register(name, game="code-battle") for name in ("one", "two")]
    with resources.database.reading() as session:
        one, two = (session.get_one(Bot, bot) for bot in ids)
        sealed = Sealed(one.key_id or "", one.secret or b"")
        rows = [f"{bot.bot_id}.{bot.secret_version}" for bot in (one, two)]
    assert len(resources.sealer.open(sealed, rows[0])) == 64
    for other in (rows[1], f"{rows[0]}0"):
        with pytest.raises(Failure, match="it was encrypted for another"):
            resources.sealer.open(sealed, other)


def test_bots_play_on_when_the_old_master_key_is_gone(resources: Resources) -> None:
    ann, bot = Owner(resources), SecretBot()
    with serving(Broken("secret", "", "", turn=bot.turn)) as address:
        match = planned(ann, bot, address, max_turns=3)
        assert ann.do(lambda s: keys.reseal(s, Sealer(f"{NEW_KEY},{OLD_KEY}"))) == 1
        ME.play(replace(resources, sealer=Sealer(NEW_KEY)), match)
    assert bot.turns == [0, 1, 2]


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[str]:
    with new_redis(tmp_path) as url:
        yield url


@pytest.fixture
def watched(
    database_url: str, broker: str, tmp_path: Path, hub_clock: StillClock
) -> Iterator[Site]:
    """A hub with a queue of its own, so that all that it has said can be searched."""
    settings = HubSettings(
        data=tmp_path / "data",
        database_url=database_url,
        broker_url=broker,
        master_keys=OLD_KEY,
        secret_key="5ec7e7" * 11,
    )
    with (
        opened(settings, CeleryQueue(settings), hub_clock) as resources,
        site_on(resources, hub_clock) as site,
    ):
        begin_site(resources, rest=0, options={"max_turns": 5})
        yield site


def answer_to(visitor: Visitor, path: str, **values: str) -> str:
    """Fill a form; return the page that answers."""
    answer = visitor.fill(path, "/bots/new", **values)
    assert answer.status_code in (200, 303), answer.text
    return answer.text


def secret_on(page: str) -> str:
    match = re.search("[0-9a-f]{64}", page)
    assert match
    return match[0]


def all_rows(resources: Resources) -> str:
    """Return all that the database holds."""
    with resources.database.reading() as session:
        tables = inspect(session.get_bind()).get_table_names()
        rows = [
            row for table in tables for row in session.execute(text(f'SELECT * FROM "{table}"'))
        ]
    return "\n".join(map(str, rows))


def all_objects(resources: Resources) -> str:
    objects = [resources.objects.get(key) or b"" for key in resources.objects.keys("")]
    return "".join(unpacked(data).decode("utf-8", "replace") for data in objects)


def back_up(resources: Resources) -> str:
    """Return what a back-up holds."""
    file = io.BytesIO()
    backups.write(resources.database, file)
    return unpacked(file.getvalue()).decode()


def all_of_redis(url: str) -> str:
    server = redis.Redis.from_url(url)
    return str([(key, server.dump(key)) for key in server.scan_iter()])


def all_pages(visitor: Visitor, start: str = "/") -> dict[str, str]:
    """Return every page of the hub to which links lead, and what scripts ask of them."""
    due, pages = [start, "/leaderboard?format=json", "/bot/Swarm/ratings"], dict[str, str]()
    while due:
        path = due.pop()
        if path in pages or path.startswith(("/static", "/logout", "/rooms")):
            continue
        if path.endswith(".zip"):
            # A bot kit: it is the same for everybody, and comes from the files of the program.
            continue
        answer = visitor.get(f"{visitor.address}{path}")
        pages[path] = answer.text + str(answer.headers)
        if "text/html" in answer.headers["Content-Type"]:
            links = re.findall(r'(?:href|src|data-[a-z]+)="(/[^"#]*)"', answer.text)
            due += [link.replace("&amp;", "&") for link in links]
    return pages


def all_answers(program: Program, bot: str, match: str) -> dict[str, str]:
    """Return what the API answers to who asks it for all that there is to read."""
    names = {"bot_id": bot, "match_id": match, "username": "Ann", "map_id": "m2_001", "number": "1"}
    names |= {
        "slug": "t1",
        "group": "grodno",
        "team": "alpha",
        "cup": "spring",
        "challenge_id": "c_00c0ffee",
    }
    answers = {}
    for one in OPERATIONS:
        if one.method == "GET":
            path = re.sub("<(.*?)>", lambda name: names[name[1]], one.path)
            answer = program.ask(path)
            answers[path] = answer.text + str(answer.headers)
    return answers


def rotate_keys(settings: HubSettings) -> HubSettings:
    """Put all secrets under a new master key by the command; return the settings without the old.

    The new key is added first, as the operator does it.
    """
    environment = {
        "CW_DATA": str(settings.data),
        "CW_DATABASE_URL": settings.database_url,
        "CW_BROKER_URL": settings.broker_url,
        "CW_SECRET_KEY": settings.secret_key,
        "CW_MASTER_KEYS": f"{NEW_KEY},{OLD_KEY}",
    }
    done = CliRunner().invoke(hub, ["keys", "rotate"], env=environment)
    assert (done.exit_code, done.output) == (0, "encrypted 1 secrets with k2\n")
    counted = CliRunner().invoke(hub, ["keys", "status", "--json"], env=environment)
    assert json.loads(counted.output)["secrets"] == {"k2": 1, "k1": 0}
    return replace(settings, master_keys=NEW_KEY)


@pytest.mark.thorough
def test_nobody_but_its_bot_reads_a_secret(
    watched: Site, broker: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    resources, bot = watched.resources, SecretBot()
    ann = watched.player("Ann")
    with serving(Broken("secret", "", "", turn=bot.turn)) as address:
        fields = {"game": "code-battle", "name": "Swarm", "endpoint": address, "description": "d"}
        bot.secret = secret_on(answer_to(ann, "/bots/new", **fields))
        old = bot.secret
        bot.secret = secret_on(answer_to(ann, "/bot/Swarm/rotate"))
        with resources.database.reading() as session:
            bot_key = session.scalars(select(Bot.id).where(Bot.name == "Swarm")).one()
        jobs_of(ME)[bots_service.CHECK](resources, bot_key)
        settings = rotate_keys(resources.settings)
        resources = replace(resources, settings=settings, sealer=Sealer(NEW_KEY))
        tick(replace(resources, queue=CeleryQueue(settings)))
        with resources.database.reading() as session:
            match = session.scalars(select(Match).where(Match.kind == "rated")).one()
        ME.play(resources, match.id)
        assert bot.turns[-5:] == [0, 1, 2, 3, 4]
        with resources.database.reading() as session:
            assert session.get_one(Match, match.id).state == "done"

    cookie = next(iter(ann.cookies)).value or ""
    token = new_token(watched, "Ann", "read", "bots")
    mine = Program(watched, token)
    secrets = [old, bot.secret, PASSWORD, OLD_KEY[3:], NEW_KEY[3:], resources.secret_key]
    secrets.append(token)
    public = all_pages(watched.visitor())
    own = all_pages(ann)
    assert f"/match/{match.match_id}" in public
    assert "/bot/Swarm?game=code-battle" in public
    assert "/games/code-battle/" in public
    with resources.database.reading() as session:
        bot_id = session.get_one(Bot, bot_key).bot_id
    own |= all_answers(mine, bot_id, match.match_id)
    public |= all_answers(Program(watched), bot_id, match.match_id)
    assert {f"/bots/{bot_id}", f"/bots/{bot_id}/checks", "/me"} <= own.keys()
    # A back-up is one more place.
    places = {
        "rows": all_rows(resources),
        "objects": all_objects(resources),
        "back-up": back_up(resources),
        "redis": all_of_redis(broker),
        "log": "\n".join(one.getMessage() for one in caplog.records if one.name != CLIENT),
        "mails": "".join(watched.mails()),
        "own pages": json.dumps(own),
        "public pages": json.dumps(public),
    }
    leaks = [
        (place, n)
        for place, content in places.items()
        for n, one in enumerate(secrets)
        if one in content
    ]
    assert leaks == []
    for place in ("rows", "back-up", "log", "redis", "public pages"):
        assert cookie not in places[place], place
    host = urlsplit(address).netloc
    assert host in places["own pages"]
    for place in ("objects", "redis", "log", "public pages"):
        assert host not in places[place], place
