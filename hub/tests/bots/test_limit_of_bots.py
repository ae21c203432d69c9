"""An account has ten bots at most, also where two are registered at once."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier, BrokenBarrierError

import pytest
from sqlalchemy import func, select

from cw_hub.bots import service as bots_service
from cw_hub.bots.service import MOST, NewBot
from cw_hub.operation.resources import Resources
from cw_hub.store.database import Session
from cw_hub.store.models import Bot, BotKind, User
from hub.tests.conftest import StillClock


def test_of_two_who_register_the_last_bot_at_once_one_does(
    resources: Resources, hub_clock: StillClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with resources.database.writing() as session:
        user = User(username="ann", username_key="ann", created_at=hub_clock())
        session.add(user)
        session.flush()
        ann = user.id

    def register(names: Sequence[str]) -> None:
        for name in names:
            with resources.database.writing() as session:
                new = NewBot("hexagon", name, "https://example.org")
                bots_service.register(session, resources.sealer, ann, new)

    register([f"bot-{number}" for number in range(MOST - 1)])
    both, new_bot = Barrier(2), bots_service.new_bot

    def wait_for_the_other(session: Session, user: int, new: NewBot, kind: BotKind) -> Bot:
        with suppress(BrokenBarrierError):
            both.wait(1)
        return new_bot(session, user, new, kind)

    monkeypatch.setattr(bots_service, "new_bot", wait_for_the_other)
    with ThreadPoolExecutor(2) as threads:
        tries = [threads.submit(register, [name]) for name in ("first", "second")]
    refused = [one for one in tries if isinstance(one.exception(), bots_service.TooManyBots)]
    with resources.database.reading() as session:
        number = session.scalar(select(func.count()).select_from(Bot).where(Bot.user_id == ann))
    assert (number, len(refused)) == (MOST, 1)
