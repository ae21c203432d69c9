"""Links to replays: whoever has one may read it for an hour, and nobody without."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit, urlunsplit

import pytest
import requests
from sqlalchemy import select, update

from cw.games.registry import load_game
from cw.replays.document import parse
from cw.replays.verify import verify
from cw_hub.matches import object_links, planning
from cw_hub.matches.jobs import Worker
from cw_hub.matches.object_links import link_to
from cw_hub.matches.planning import Plan, Seat
from cw_hub.matches.stored_replays import objects_of
from cw_hub.operation.resources import Resources
from cw_hub.site.formats import MATCH_TYPES
from cw_hub.store.models import Battle, Match
from cw_hub.store.objects import ARCHIVE, OWN_FORMAT, PIECE, ObjectStore
from hub.tests.conftest import StillClock
from hub.tests.services import Swift
from hub.tests.sites import Site, site_on, words_of

PATIENCE = 60.0

EXPIRED = "This link has expired."
UNSIGNED = (400, 403)
"""The answers to a request without signature: Swift takes that for none of S3, and says 400."""


BATTLE = Plan(
    "of-its-own",
    "one",
    "code-battle",
    (Seat("rusher", spec="builtin:rusher"), Seat("random", spec="builtin:random")),
    {"max_turns": 5},
    seed=1,
)
HEXAGON = Plan(
    "of-its-own",
    "one",
    "hexagon",
    (Seat("greedy", spec="builtin:greedy"), Seat("random", spec="builtin:random")),
    seed=1,
)
"""Of a game whose replays are stored as they are read."""


def play(resources: Resources, plan: Plan = BATTLE) -> str:
    """Play a match of a kind of its own, which everybody may see; return its path."""
    with resources.database.writing() as session:
        match = planning.plan(session, plan)
    Worker("me", 1, MATCH_TYPES).play(resources, match)
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
        for key in (
            "avatars/a.webp",
            "bots/b_1/x",
            "backups/b.jsonl.gz",
            "replaysx",
            "replays/",
            "replays//x",
            "replays/../backups/b.jsonl.gz",
            "maps/./m.json",
            "maps/m.json/..",
            "replays/..\\backups",
        ):
            with pytest.raises(ValueError, match="neither a replay nor a map"):
                link_to(key)


def test_a_link_of_one_kind_does_not_lead_to_another(site: Site) -> None:
    for kind in object_links.KINDS:
        site.resources.objects.put_new(f"{kind}/same.json", kind.encode())
    with site.app.test_request_context("/"):
        replay, map_ = (link_to(f"{kind}/same.json") for kind in object_links.KINDS)
    visitor = site.visitor()
    assert (visitor.open(replay).text, visitor.open(map_).text) == object_links.KINDS
    assert visitor.open(replay.replace("/replays/", "/maps/")).status_code == 403
    assert visitor.open(map_.replace("/maps/", "/replays/")).status_code == 403


def test_a_policy_names_no_store_where_there_is_only_a_folder(site: Site) -> None:
    policy = site.visitor().open("/").headers["Content-Security-Policy"]
    assert "connect-src 'self'" in policy.split("; ")


def test_an_object_is_passed_on_piece_by_piece(site: Site) -> None:
    """Whoever takes no gzip gets it unpacked, and nobody what they have already."""
    path = play(site.resources)
    visitor = site.visitor()
    link = visitor.open(f"{path}/replay").headers["Location"]
    packed = visitor.open(link)
    assert "immutable" in packed.headers["Cache-Control"]
    assert packed.headers["Vary"] == "Accept-Encoding"
    assert int(packed.headers["Content-Length"]) > 0
    plain = visitor.open(link, headers={"Accept-Encoding": "identity"})
    assert "Content-Encoding" not in plain.headers
    assert plain.content == packed.content
    assert plain.headers["ETag"] != packed.headers["ETag"]
    same = visitor.open(link, headers={"If-None-Match": packed.headers["ETag"]})
    assert (same.status_code, same.content) == (304, b"")


def test_an_archive_file_is_opened_once_and_may_be_gone(site: Site) -> None:
    path = play(site.resources)
    visitor = site.visitor()
    drawn, own = (
        visitor.open(f"{path}/{name}").headers["Location"] for name in ("replay", "download")
    )
    (key,) = site.resources.objects.keys("replays")
    assert verify(load_game("code-battle"), parse(visitor.open(drawn).content)) is None
    site.resources.objects.delete(key)
    assert visitor.open(drawn).status_code == 200
    assert visitor.open(own).status_code == 404


def test_a_damaged_archive_file_is_no_defect_of_the_site(site: Site) -> None:
    path = play(site.resources)
    (key,) = site.resources.objects.keys("replays")
    site.resources.objects.delete(key)
    site.resources.objects.put_new(key, gzip.compress(b" " * 100_000_000))
    answer = site.visitor().open(site.visitor().open(f"{path}/replay").headers["Location"])
    assert answer.status_code == 404
    assert "the replay is larger than" in words_of(answer)


def test_replays_that_were_stored_in_both_formats_still_open(site: Site) -> None:
    path = play(site.resources)
    visitor = site.visitor()
    objects = site.resources.objects
    drawn, own = (
        visitor.open(visitor.open(f"{path}/{name}").headers["Location"]).content
        for name in ("replay", "download")
    )
    (key,) = objects.keys("replays")
    old = key.removesuffix(ARCHIVE) + OWN_FORMAT
    for name, data in zip(objects_of(old), (own, drawn), strict=True):
        objects.put_new(name, gzip.compress(data))
    objects.delete(key)
    with site.resources.database.writing() as session:
        session.execute(update(Battle).values(replay_key=old))
    for name, data in (("replay", drawn), ("download", own)):
        link = visitor.open(f"{path}/{name}").headers["Location"]
        assert ARCHIVE not in link
        assert visitor.open(link).content == data


def test_a_large_object_is_never_in_memory_as_a_whole() -> None:
    """100 MB of nothing are 100 kB of gzip, which come in pieces of 64 KiB."""
    packer = zlib.compressobj(wbits=31)
    packed = [packer.compress(bytes(1_000_000)) for _ in range(100)] + [packer.flush()]
    sizes = [len(piece) for piece in object_links.unpacked_pieces(packed)]
    assert max(sizes) <= PIECE
    assert sum(sizes) == 100_000_000


@pytest.fixture
def remote(
    resources: Resources, bucket: str, hub_clock: StillClock, request: pytest.FixtureRequest
) -> Iterator[Site]:
    """A hub whose objects lie on an S3 server that browsers do not reach, or do elsewhere."""
    store = ObjectStore(bucket, request.param)
    with site_on(replace(resources, objects=store), hub_clock) as site:
        yield site


@pytest.mark.thorough
@pytest.mark.parametrize("remote", [""], indirect=True)
def test_the_site_passes_on_what_a_server_has(remote: Site, swift: Swift) -> None:
    path = play(remote.resources)
    visitor = remote.visitor()
    policy = visitor.open(path).headers["Content-Security-Policy"]
    assert "connect-src 'self'" in policy.split("; ")
    link = visitor.open(f"{path}/replay").headers["Location"]
    assert link.startswith("/objects/")
    replay = visitor.open(link)
    assert replay.headers["Content-Encoding"] == "gzip"
    assert verify(load_game("code-battle"), parse(replay.content)) is None
    assert swift.address not in visitor.open(path).text + str(replay.headers)


@pytest.mark.thorough
@pytest.mark.parametrize("remote", ["https://files.example/s3"], indirect=True)
def test_links_lead_to_where_browsers_reach_the_server(remote: Site) -> None:
    path = play(remote.resources, HEXAGON)
    visitor = remote.visitor()
    policy = visitor.open(path).headers["Content-Security-Policy"]
    assert "connect-src 'self' https://files.example" in policy.split("; ")
    link = visitor.open(f"{path}/replay").headers["Location"]
    assert link.startswith("https://files.example/s3/")


@pytest.mark.thorough
@pytest.mark.parametrize("remote", ["https://files.example/s3"], indirect=True)
def test_an_archive_file_comes_from_the_site_in_any_case(remote: Site) -> None:
    path = play(remote.resources)
    visitor = remote.visitor()
    link = visitor.open(f"{path}/replay").headers["Location"]
    assert link.startswith("/objects/")
    assert verify(load_game("code-battle"), parse(visitor.open(link).content)) is None


@pytest.mark.thorough
def test_a_replay_on_a_server_is_read_there(
    resources: Resources, bucket: str, swift: Swift, hub_clock: StillClock
) -> None:
    with site_on(
        replace(resources, objects=ObjectStore(bucket, swift.address)), hub_clock
    ) as remote:
        path = play(remote.resources, HEXAGON)
        link = remote.visitor().open(f"{path}/replay").headers["Location"]
    assert link.startswith(swift.address)
    assert parse_qs(urlsplit(link).query)["X-Amz-Expires"] == ["3600"]
    replay = requests.get(link, headers={"Origin": "https://hub.example"}, timeout=PATIENCE)
    assert replay.headers["Content-Encoding"] == "gzip"
    assert replay.headers["Access-Control-Allow-Origin"] == "https://hub.example"
    assert verify(load_game("hexagon"), parse(replay.content)) is None
    (signature,) = parse_qs(urlsplit(link).query)["X-Amz-Signature"]
    for other in (*list(changed(link, signature))[:4], link.replace(".json.gz", "-2.json.gz")):
        assert requests.get(other, timeout=PATIENCE).status_code == 403
    assert requests.get(with_query(link, ""), timeout=PATIENCE).status_code in UNSIGNED


@pytest.mark.thorough
def test_a_link_to_a_server_expires(bucket: str, swift: Swift) -> None:
    store = ObjectStore(bucket, swift.address)
    store.put_new("replays/a.json.gz", b"")
    long, short = (
        store.link("replays/a.json.gz", timedelta(seconds=seconds)) for seconds in (3600, 1)
    )
    assert long is not None
    assert short is not None
    assert requests.get(long, timeout=PATIENCE).status_code == 200
    while (answer := requests.get(short, timeout=PATIENCE)).status_code == 200:
        pass
    assert answer.status_code == 403
    assert "expired" in answer.text
