"""Daily competitions: everybody plays in one game at a set time of day."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy.orm import Session

from cw_hub.clock import Clock
from cw_hub.competitions import verbs as competitions
from cw_hub.competitions.daily import (
    api,
    home,
    match_page,
    news,
    readiness,
    verbs,
)
from cw_hub.competitions.daily import pages as ranking
from cw_hub.competitions.daily.bots import PROBE
from cw_hub.competitions.daily.history import graph_page
from cw_hub.competitions.daily.own import bot_pages
from cw_hub.competitions.format import Format, HomeCard, ProfileCard
from cw_hub.competitions.setting_fields import OPTIONS_HINT, SettingField
from cw_hub.competitions.verbs import CompetitionFacts
from cw_hub.matches.kinds import Kind

KIND: Final = Kind(
    name=verbs.FORMAT,
    seat=readiness.admit,
    finish=verbs.finished,
    title=match_page.title,
    words=match_page.words,
    part=match_page.part,
    is_crowd=True,
    names_apart=True,
)


FIELDS: Final = (
    SettingField(name="time", label="Time of day", hint="When the match is due. Default: 18:00."),
    SettingField(name="zone", label="Time zone", hint="Such as Europe/Athens. Default: UTC."),
    SettingField(name="options", label="Options of the game", hint=OPTIONS_HINT, kind="json"),
)


def change(
    session: Session,
    clock: Clock,
    facts: CompetitionFacts,
    values: Mapping[str, Any],
    actor: str,
) -> None:
    """Change settings of a competition; raise UsageError if they are invalid."""
    verbs.read_settings({**facts.settings, **values})
    competitions.set_values(session, clock, facts.id, values, actor)


FORMAT: Final = Format(
    kind=KIND,
    plan=verbs.plan,
    takes_bots=True,
    change=change,
    begin=verbs.begin_site,
    about="All bots play in one match, every day at the same time.",
    fields=FIELDS,
    home=HomeCard(address=home.address, leaders=home.leaders, next_at=home.next_at),
    profile=ProfileCard(
        part=home.profile_part,
        line=home.profile_line,
        head=home.profile_head,
        settings=home.settings_part,
    ),
    news=news.news,
    pages=(bot_pages.routes, ranking.routes, graph_page.routes),
    api=api.routes.operations,
    jobs={PROBE: readiness.probe_bot},
)
