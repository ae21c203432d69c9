"""Adds and finds a tournament's groups (called sandboxes on pages), and limits their size."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from sqlalchemy import func, select, update

from cw.errors import UsageError, short
from cw.games.registry import load_game
from cw_hub.accounts import audit
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.tournament.settings import (
    GROUP_WORDS,
    LONGEST_GROUP,
    LONGEST_TEAM,
    clean_name,
    name_key,
    slug_for,
    stored_settings,
)
from cw_hub.store.database import Session
from cw_hub.store.models import Competition, Entry, Group, GroupKind, Round, Team

KIND_BY_NAME: Final[Mapping[str, GroupKind]] = {"internal": "internal", "final": "final"}
"""The default kind of a group by its name key; other groups are public."""

MOST_GROUPS: Final = 50
MOST_TEAMS: Final = 1000
"""Maximum number of teams in a tournament."""

MOST_BY_PAIRS: Final = 100
"""Maximum number of entries in a group where every pair meets."""


@dataclass(frozen=True, slots=True)
class NewGroup:
    """A group to add."""

    name: str
    kind: GroupKind | None = None
    """None: derived from the name."""
    slug: str = ""
    """"": derived from the name."""


def groups_of(session: Session, competition: int) -> list[Group]:
    """Return the groups of a tournament in order of creation."""
    query = select(Group).where(Group.competition_id == competition).order_by(Group.id)
    return list(session.scalars(query))


def named_group(groups: Iterable[Group], name: str) -> Group:
    """Return the group with this name or slug; raise UsageError if there is none."""
    key = name_key(name.strip())
    for group in groups:
        if key in (name_key(group.name), group.slug):
            return group
    text = name if len(name) <= LONGEST_TEAM and name.isprintable() else short(name)
    raise UsageError(f"no sandbox named {text}")


def add_group(session: Session, competition: int, group: NewGroup) -> int:
    """Add a group, with an entry for each team that plays in all groups; return its id.

    Raises UsageError if the name is taken, even by a concurrent caller, and for a second final.
    """
    row = competitions_service.lock(session, competition)
    others = groups_of(session, competition)
    name = clean_name(group.name, LONGEST_GROUP)
    kind = group.kind or KIND_BY_NAME.get(name_key(name), "public")
    if name_key(name) in {name_key(other.name) for other in others}:
        raise UsageError(f"there is a sandbox {name} already")
    if kind == "final" and any(other.kind == "final" for other in others):
        raise UsageError("there is already a final sandbox; there can be only one")
    if len(others) >= MOST_GROUPS:
        raise UsageError(f"a tournament has at most {MOST_GROUPS} sandboxes")
    slug = slug_for(name, group.slug, GROUP_WORDS | {other.slug for other in others}, "sandbox")
    new = Group(competition_id=competition, slug=slug, name=name, kind=kind)
    session.add(new)
    session.flush()
    guests = (Team.competition_id == competition, Team.out_of_competition)
    for team in session.scalars(select(Team.id).where(*guests).order_by(Team.id)):
        session.add(Entry(group_id=new.id, team_id=team, joined_at=session.now()))
    mark_changed(row)
    subject, detail = f"group:{row.slug}/{new.id}", {"slug": slug}
    audit.note(session, "add group", subject, detail=detail, competition_id=row.id)
    return new.id


# Capacity


def group_sizes(session: Session, competition: int) -> dict[int, int]:
    """Return the number of playing entries by group id."""
    sizes = (
        select(Entry.group_id, func.count())
        .join(Group, Group.id == Entry.group_id)
        .where(Group.competition_id == competition, Entry.status == "playing")
        .group_by(Entry.group_id)
    )
    return dict(session.execute(sizes).all())


def most_entries(competition: Competition) -> int:
    """Return the maximum number of entries in a group."""
    if stored_settings(competition.game, competition.settings).plan == "pairs":
        return MOST_BY_PAIRS
    return min(load_game(competition.game).rules.seats[-1], MOST_TEAMS)


def full(group: Group, most: int) -> UsageError:
    """Return the error for a full group."""
    return UsageError(f"{group.name} is full: it holds at most {most} teams")


def check_room(session: Session, competition: Competition) -> None:
    """Raise UsageError if a group has more entries than can play in it."""
    session.flush()
    sizes, most = group_sizes(session, competition.id), most_entries(competition)
    for group in groups_of(session, competition.id):
        if sizes.get(group.id, 0) > most:
            raise full(group, most)


# Revision counters: an increase makes pages reload


def mark_changed(competition: Competition, *groups: Group) -> None:
    """Increment the revisions of a tournament and of the given groups."""
    competition.revision += 1
    for group in groups:
        group.revision += 1


def mark_all_changed(session: Session, competition: Competition) -> None:
    """Increment the revisions of a tournament and of all its groups."""
    groups = update(Group).where(Group.competition_id == competition.id)
    session.execute(groups.values(revision=Group.revision + 1))
    competition.revision += 1


def mark_round_changed(session: Session, round_id: int) -> None:
    """Increment the revision of a round's group."""
    group = select(Round.group_id).where(Round.id == round_id).scalar_subquery()
    change = update(Group).where(Group.id == group).values(revision=Group.revision + 1)
    session.execute(change, execution_options={"synchronize_session": False})
