"""Own versions that a draft can play against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from cw_hub.bots.workshop.drafts import Draft
from cw_hub.store.tables import Bot, BotVersion

MOST: Final = 20
"""Maximum number of versions offered."""


@dataclass(frozen=True, slots=True)
class OwnVersion:
    """An own version that a draft can play against."""

    bot: str
    number: int
    bot_id: str
    sha256: str

    @property
    def key(self) -> str:
        """The value that pages send; no strategy has such a name."""
        return f"{self.bot}/{self.number}"

    @property
    def name(self) -> str:
        """Its name in a match."""
        return f"{self.bot}-{self.number}"


def own_versions(session: Session, draft: Draft) -> list[OwnVersion]:
    """Return the versions that a person's draft can play against, latest first."""
    columns = (Bot.name, BotVersion.number, Bot.bot_id, BotVersion.sha256)
    mine = (Bot.user_id == draft.user, Bot.game == draft.game, BotVersion.state == "ready")
    rows = select(*columns).join(BotVersion, BotVersion.bot_id == Bot.id).where(*mine)
    latest = rows.order_by(BotVersion.created_at.desc(), BotVersion.id.desc())
    return [OwnVersion(*row) for row in session.execute(latest.limit(MOST))]
