"""What players are given of all that is known of them."""

from __future__ import annotations

import io
import json
from typing import Any
from zipfile import ZipFile

from sqlalchemy import select

from cw_hub.accounts import avatars
from cw_hub.accounts import service as accounts_service
from cw_hub.bots import service as bots_service
from cw_hub.bots.service import NewBot
from cw_hub.matches.friendly import practise
from cw_hub.site.own_data import ROWS
from cw_hub.store.models import Base, User
from hub.tests.conftest import ON_BOTH
from hub.tests.sites import Site, Visitor

pytestmark = ON_BOTH

NOT_OF_ONE: set[str] = set()
"""Tables with users in them of which nothing is about one of them."""

KNOWN = {
    "account", "friends", "sessions-and-tokens", "places", "mails", "bots", "programs",
    "activations", "comparisons", "limits", "drafts", "ratings", "matches", "hosted", "teams",
    "invitations", "operators", "workshop",
}  # fmt: skip


def data_of(visitor: Visitor) -> dict[str, Any]:
    answer = visitor.open("/settings/data.zip")
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "application/zip")
    assert answer.headers["Cache-Control"] == "no-store"
    with ZipFile(io.BytesIO(answer.content)) as packed:
        return {
            name: json.loads(packed.read(name)) if name.endswith(".json") else packed.read(name)
            for name in packed.namelist()
        }


def test_players_get_all_that_is_known_of_them_and_of_nobody_else(site: Site) -> None:
    ada, resources = site.player("Ada"), site.resources
    site.player("Bob")
    digest = avatars.digest_of(b"picture")
    resources.objects.put_new(avatars.key_of(digest), b"picture")
    with resources.database.writing() as session:
        ids: dict[str | None, int] = dict(session.execute(select(User.username, User.id)).all())
        accounts_service.befriend(session, ids["Ada"], "Bob")
        accounts_service.set_avatar(session, ids["Ada"], digest)
        new = NewBot("code-battle", "Rusher", "http://127.0.0.1:9")
        secret = bots_service.register(session, resources.sealer, ids["Ada"], new).secret
        bot = bots_service.add_builtin(session, ids["Ada"], "hexagon", "Comb", "greedy")
        bots_service.add_builtin(session, ids["Bob"], "hexagon", "Other", "greedy")
        practise(session, bot, "random")
    data = data_of(ada)
    assert {*data} == {f"{name}.json" for name in ROWS} | {"picture.webp"}
    assert {*ROWS} == KNOWN
    (account,) = data["account.json"]
    assert (account["email"], "password_hash" in account) == ("ada@example.org", False)
    assert [one["username"] for one in data["friends.json"]] == ["Bob"]
    assert [one["name"] for one in data["bots.json"]] == ["Rusher", "Comb"]
    assert [one["name"] for one in data["matches.json"]] == ["Comb"]
    assert data["picture.webp"] == b"picture"
    everything = json.dumps({**data, "picture.webp": ""})
    assert secret not in everything
    assert "Other" not in everything
    assert "bob@example.org" not in everything


def test_each_table_about_people_is_in_the_data() -> None:
    """Whoever adds a table with a user in it adds it to the data, too."""
    of_people = {
        table.name
        for table in Base.metadata.sorted_tables
        for key in table.foreign_keys
        if key.column.table.name == "users"
    }
    statements = " ".join(str(rows(1)) for rows in ROWS.values())
    assert {name for name in of_people if f"FROM {name}" not in statements} <= NOT_OF_ONE
