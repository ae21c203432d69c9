"""The master keys: which secrets each encrypts, and how all are encrypted with the first."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from cw.errors import Failure
from cw.hub.operation.settings import HubSettings
from cw.hub.store.sealing import Sealed, Sealer
from cw.hub.store.tables import Bot

AT_ONCE: Final = 500
"""Rows of one transaction."""


def sealer_of(settings: HubSettings) -> Sealer:
    """Return what opens secrets, without making a key; raises OSError or ValueError."""
    path = settings.data / "master.key"
    return Sealer(settings.master_keys or path.read_text(encoding="ascii").strip())


def uses(session: Session) -> Counter[str]:
    """Return how many secrets lie under each key."""
    counted = select(Bot.key_id, func.count()).where(Bot.secret.is_not(None)).group_by(Bot.key_id)
    return Counter({key or "": number for key, number in session.execute(counted)})


@dataclass(slots=True)
class Tried:
    """What came of opening all secrets."""

    number: int = 0
    missing: Counter[str] = field(default_factory=Counter)
    """How many lie under each key that is not there."""
    broken: list[str] = field(default_factory=list)
    """The ids of bots whose secret does not open by the key that it names."""


def try_all(session: Session, sealer: Sealer) -> Tried:
    """Open every secret, and forget it; return what came of it."""
    tried = Tried()
    columns = select(Bot.bot_id, Bot.secret_version, Bot.secret, Bot.key_id)
    rows = session.execute(
        columns.where(Bot.secret.is_not(None)).order_by(Bot.id),
        execution_options={"yield_per": AT_ONCE},
    )
    for bot_id, version, secret, key in rows:
        tried.number += 1
        if key not in sealer.key_ids:
            tried.missing[key or ""] += 1
            continue
        try:
            sealer.open(Sealed(key or "", secret or b""), f"{bot_id}.{version}")
        except Failure:
            tried.broken.append(bot_id)
    return tried


def reseal(session: Session, sealer: Sealer) -> int:
    """Put some secrets under the first key; return how many there were to be put, 0 at the end.

    By two at once, or beside a rotation of a secret: who comes later leaves the row as it is.
    """
    others = (Bot.secret.is_not(None), Bot.key_id != sealer.key_id)
    rows = session.scalars(select(Bot).where(*others).order_by(Bot.id).limit(AT_ONCE)).all()
    for bot in rows:
        sealed, row = (
            Sealed(bot.key_id or "", bot.secret or b""),
            f"{bot.bot_id}.{bot.secret_version}",
        )
        again = sealer.seal(sealer.open(sealed, row), row)
        same = (Bot.id == bot.id, Bot.secret == sealed.data)
        change = update(Bot).where(*same).values(secret=again.data, key_id=again.key_id)
        session.execute(change.execution_options(synchronize_session=False))
    return len(rows)
