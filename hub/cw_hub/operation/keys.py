"""Key rotation: which secrets each master key encrypts, and re-encryption with the first key."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import func, select, update

from cw.errors import Failure
from cw_hub.operation.settings import HubSettings
from cw_hub.store.database import Session
from cw_hub.store.models import Bot
from cw_hub.store.sealing import Sealed, Sealer

AT_ONCE: Final = 500
"""Rows per transaction."""


def sealer_of(settings: HubSettings) -> Sealer:
    """Return the site's sealer, without creating a key; raise OSError or ValueError on failure."""
    path = settings.data / "master.key"
    return Sealer(settings.master_keys or path.read_text(encoding="ascii").strip())


def uses(session: Session) -> Counter[str]:
    """Return the number of secrets encrypted with each key."""
    counted = select(Bot.key_id, func.count()).where(Bot.secret.is_not(None)).group_by(Bot.key_id)
    return Counter({key or "": number for key, number in session.execute(counted)})


@dataclass(slots=True)
class Tried:
    """The result of decrypting all secrets."""

    number: int = 0
    missing: Counter[str] = field(default_factory=Counter)
    """How many secrets are encrypted with each missing key."""
    broken: list[str] = field(default_factory=list)
    """The ids of bots whose secret cannot be decrypted with the key that it names."""


def try_all(session: Session, sealer: Sealer) -> Tried:
    """Decrypt every secret without storing it; return the result."""
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
    """Re-encrypt a batch of secrets with the first key; return its size, 0 when none are left.

    A row that has changed in the meantime, by another caller or a rotation of the secret, is left
    as it is.
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
