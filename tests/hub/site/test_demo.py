"""A hub that is filled for a demonstration, and the lock on its folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import func, select

from cw.errors import UsageError
from cw.hub.accounts import people
from cw.hub.accounts.access.passwords import Passwords
from cw.hub.operation.resources import Resources
from cw.hub.operation.settings import HubSettings
from cw.hub.site import demo
from cw.hub.site.processes.roles import folder_locked
from cw.hub.store.tables import Bot, Match


def test_a_hub_is_filled_once(resources: Resources) -> None:
    password = demo.fill(resources)
    with resources.database.reading() as session:
        account = people.find_account(session, demo.PEOPLE[0])
        assert account is not None
        assert Passwords().fits(password, account.password_hash)
        names = set(session.scalars(select(Bot.name)))
        assert {bot.name for bot in demo.BOTS} <= names
        matches = session.scalars(select(func.count()).select_from(Match)).one()
    assert demo.fill(resources) == password
    with resources.database.reading() as session:
        assert set(session.scalars(select(Bot.name))) == names
        assert session.scalars(select(func.count()).select_from(Match)).one() == matches


def test_a_folder_has_one_process(tmp_path: Path) -> None:
    settings = HubSettings(data=tmp_path)
    with (
        folder_locked(settings),
        pytest.raises(UsageError, match="another process runs on the folder"),
        folder_locked(settings),
    ):
        pass
