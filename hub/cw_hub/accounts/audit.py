"""The audit log, which records who performed which privileged action."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import select

from cw_hub.store.database import Session
from cw_hub.store.models import Audit


def record(  # noqa: PLR0913 - a row has so many columns
    session: Session,
    verb: str,
    what: str,
    *,
    detail: Mapping[str, Any] | None = None,
    net: str = "",
    competition_id: int | None = None,
) -> None:
    """Record an action in the transaction that performs it. Each call adds a row.

    The session names who performs it; `what` is, for example, `user:7` or `match:m_00c0ffee`;
    `net` is the network that the request came from.
    """
    row = Audit(
        at=session.now(),
        competition_id=competition_id,
        actor=session.actor,
        net=net,
        verb=verb,
        object=what,
        detail=dict(detail or {}),
    )
    session.add(row)


def history(session: Session, what: str) -> list[Audit]:
    """Return the recorded actions on an object, latest first."""
    rows = select(Audit).where(Audit.object == what).order_by(Audit.at.desc(), Audit.id.desc())
    return list(session.scalars(rows))
