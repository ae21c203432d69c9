"""Links to replays: whoever has one may read it for an hour, and nobody without."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit, urlunsplit

import pytest
import requests
from sqlalchemy import select

from cw.arena.bots import BotSpec
from cw.games.registry import load_game
from cw.hub.championship import seats_of
from cw.hub.jobs import parcels
from cw.hub.jobs.play import Worker
from cw.hub.pages.objects import link_to
from cw.hub.resources import Resources
from cw.hub.services import championships
from cw.hub.store.objects import ObjectStore
from cw.hub.store.tables import Match
from cw.matches.spec import MatchSpec
from cw.matches.worker import Job
from cw.replays.document import parse
from cw.replays.verify import verify
from tests.hub.conftest import StillClock
from tests.hub.services import Swift
from tests.hub.site import Site, site_on, words_of

PATIENCE = 60.0

EXPIRED = "This link has expired."
UNSIGNED = (400, 403)
"""The answers to a request without signature: Swift takes that for none of S3, and says 400."""


def play(resources: Resources) -> str:
    """Play a match that everybody may see, one of a championship; return its path."""
    bots = tuple(BotSpec(name, "builtin", name) for name in ("rusher", "random"))
    spec = MatchSpec("one", "code-battle", bots, 1, {"max_turns": 5})
    key = championships.key_of("0123456789abcdef", spec.id)
    parcels.send(resources, key, Job(spec), {})
    with resources.database.writing() as session:
        match = championships.plan(session, resources.clock, key, spec, seats_of(spec))
    Worker("me", 1).play(resources, match)
    with resources.database.reading() as session:
        return f"/match/{session.scalars(select(Match.match_id)).one()}"


def with_query(link: str, query: str) -> str:
    """Return a link with another query."""
    return urlunsplit(urlsplit(link)._replace(query=query))


def changed(link: str, value: str) -> Iterator[str]:
    """Give a link with each sign of a value in its query changed."""
    for place, sign in enumerate(value):
        other = value[:place] + ("0" if sign != "0" else "1") + value[place + 1 :]
        yield link.replace(value, other)


def test_a_link_lasts_for_an_hour(site: Site, hub_clock: StillClock) -> None:
    path = play(site.resources)
    visitor = site.visitor()
    answer = visitor.open(f"{path}/replay")
    assert (answer.status_code, answer.headers["Cache-Control"]) == (302, "no-store")
    link = answer.headers["Location"]
    replay = visitor.open(link)
    assert replay.headers["Content-Encoding"] == "gzip"
    assert verify(load_game("code-battle"), parse(replay.content)) is None
    hub_clock.advance(3600)
    assert visitor.open(link).status_code == 200
    hub_clock.advance(1)
    late = visitor.open(link)
    assert late.status_code == 403
    assert EXPIRED in words_of(late)
    assert visitor.open(visitor.open(f"{path}/replay").headers["Location"]).status_code == 200


def test_a_link_that_was_changed_leads_nowhere(site: Site) -> None:
    path = play(site.resources)
    visitor = site.visitor()
    link = visitor.open(f"{path}/replay").headers["Location"]
    (signature,) = parse_qs(urlsplit(link).query)["sig"]
    for other in changed(link, signature):
        assert visitor.open(other).status_code == 403, other
    for query in ("", "sig=", f"sig={signature}0", f"sig={signature}&sig=", "sig=%00", "sig=ü"):
        code = visitor.open(with_query(link, query)).status_code
        assert code == (
            200 if query.startswith(f"sig={signature}&") else 400 if "%00" in query else 403
        )
    another = link.replace(".cw.json.gz", ".json.gz")
    assert visitor.open(another).status_code == 403
    assert visitor.open("/objects/../hub.sqlite").status_code in (403, 404)


def test_replays_and_maps_alone_are_signed(site: Site) -> None:
    with site.app.test_request_context("/"):
        assert link_to("maps/m.json").startswith("/objects/maps/m.json?sig=")
        for key in ("avatars/a.webp", "bots/b_1/x", "backups/b.jsonl.gz", "replaysx"):
            with pytest.raises(ValueError, match="neither a replay nor a map"):
                link_to(key)


def test_a_policy_names_no_store_where_there_is_only_a_folder(site: Site) -> None:
    policy = site.visitor().open("/").headers["Content-Security-Policy"]
    assert "connect-src 'self'" in policy.split("; ")


@pytest.fixture
def remote(resources: Resources, bucket: str, hub_clock: StillClock) -> Iterator[Site]:
    """A hub whose objects lie on an S3 server."""
    with site_on(replace(resources, objects=ObjectStore(bucket)), hub_clock) as site:
        yield site


def test_a_replay_on_a_server_is_read_there(remote: Site, swift: Swift) -> None:
    path = play(remote.resources)
    visitor = remote.visitor()
    page = visitor.open(path)
    for shown in (page, visitor.open(path.replace("match", "replay") + "?embed=1")):
        policy = shown.headers["Content-Security-Policy"].split("; ")
        assert f"connect-src 'self' {swift.address}" in policy
    link = visitor.open(f"{path}/replay").headers["Location"]
    assert link.startswith(swift.address)
    assert parse_qs(urlsplit(link).query)["X-Amz-Expires"] == ["3600"]
    replay = requests.get(link, headers={"Origin": remote.address}, timeout=PATIENCE)
    assert replay.headers["Content-Encoding"] == "gzip"
    assert replay.headers["Access-Control-Allow-Origin"] == remote.address
    assert verify(load_game("code-battle"), parse(replay.content)) is None
    (signature,) = parse_qs(urlsplit(link).query)["X-Amz-Signature"]
    for other in (*list(changed(link, signature))[:4], link.replace(".cw.json.gz", ".json.gz")):
        assert requests.get(other, timeout=PATIENCE).status_code == 403
    assert requests.get(with_query(link, ""), timeout=PATIENCE).status_code in UNSIGNED


def test_a_link_to_a_server_expires(bucket: str) -> None:
    objects = ObjectStore(bucket)
    objects.put_new("replays/a.json.gz", b"")
    long, short = (
        objects.link("replays/a.json.gz", timedelta(seconds=seconds)) for seconds in (3600, 1)
    )
    assert long is not None
    assert short is not None
    assert requests.get(long, timeout=PATIENCE).status_code == 200
    while (answer := requests.get(short, timeout=PATIENCE)).status_code == 200:
        pass
    assert answer.status_code == 403
    assert "expired" in answer.text
