"""The places in which programs run: what uses them and what waits, according to the rows.

Only what a message is under way for counts as waiting. Whatever is refused gives up its message,
and is sent again when a place is free, or by the next tick: so two refusals never wait for each
other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, and_, or_, select
from sqlalchemy.orm import Session

from cw_hub.bots.shares.rule import Load, Refusal, Use, refusal
from cw_hub.clock import Clock
from cw_hub.operation.health import heartbeats
from cw_hub.operation.health.heartbeats import Beat
from cw_hub.store.tables import (
    Bot,
    Competition,
    LastProgram,
    Match,
    MatchParticipant,
    ProgramCheck,
    WorkshopTask,
)
from cw_hub.store.upsert import insert_missing

ROW: Final = 1
"""The key of the only row of `last_program`."""


def claim(
    session: Session,
    clock: Clock,
    wanted: Use,
    experiments: Collection[str] = (),
    *,
    is_experiment: bool = False,
) -> Refusal | None:
    """Return why something may not begin now, or None if it may begin in this transaction.

    Concurrent callers decide one after the other. `experiments` are the kinds of matches that are
    only played while nothing else waits.
    """
    last = lock(session)
    load = load_of(session, clock, wanted.accounts, experiments)
    if last.kind is not None:
        load = replace(load, last=Use(last.kind, frozenset(last.accounts)))
    refused = refusal(wanted, load, is_experiment=is_experiment)
    if refused is None:
        last.kind, last.accounts = wanted.kind, sorted(wanted.accounts)
    return refused


def lock(session: Session) -> LastProgram:
    """Block other claims until the end of this transaction; return the last use."""
    insert_missing(session, LastProgram, [{"id": ROW, "accounts": []}])
    return session.scalars(select(LastProgram).with_for_update()).one()


def load_of(
    session: Session, clock: Clock, accounts: Collection[int], experiments: Collection[str] = ()
) -> Load:
    """Return what uses the places and what waits, as far as it matters to some accounts."""
    workers = workers_of(session, clock)
    if not workers:
        return Load(0)
    return Load(
        sum(worker.figures.program_slots for worker in workers),
        tuple(running(session, [worker.process for worker in workers], experiments)),
        tuple(waiting(session, accounts, is_waiting(workers, experiments))),
        expects_matches(session),
    )


def workers_of(session: Session, clock: Clock) -> Sequence[Beat]:
    """Return the live workers that run programs."""
    beats = heartbeats.live(session, clock)
    return [beat for beat in beats if beat.role == "worker" and beat.figures.program_slots]


def count(session: Session, clock: Clock) -> int:
    """Return the number of places."""
    return sum(worker.figures.program_slots for worker in workers_of(session, clock))


def running(
    session: Session, workers: Collection[str], experiments: Collection[str]
) -> Iterator[Use]:
    """Yield what the workers with programs are running."""
    kinds = select(Match.id, Match.kind).where(
        Match.state == "in_progress", Match.worker.in_(workers)
    )
    matches = session.execute(kinds).all()
    owners = defaultdict[int, set[int]](set)
    for match, user in session.execute(
        programs().where(MatchParticipant.match_id.in_([match for match, _ in matches]))
    ):
        owners[match].add(user)
    for match, kind in matches:
        yield Use("test" if kind in experiments else "match", frozenset(owners[match]))
    for user in session.scalars(select(WorkshopTask.user_id).where(is_running())):
        yield Use("test", frozenset([user]))
    checks = select(Bot.user_id).join(ProgramCheck, ProgramCheck.bot_id == Bot.id)
    for owner in session.scalars(checks.where(ProgramCheck.worker.in_(workers))):
        yield test_of(owner)


def waiting(
    session: Session, accounts: Collection[int], match_waits: ColumnElement[bool]
) -> Iterator[Use]:
    """Yield what waits, of each kind preferably something of other accounts."""
    matches = select(Match.id).where(match_waits)
    own = programs().where(MatchParticipant.match_id == Match.id, Bot.user_id.in_(accounts))
    if session.scalar(matches.where(~own.exists()).limit(1)) is not None:
        yield Use("match")
    elif session.scalar(matches.limit(1)) is not None:
        yield Use("match", frozenset(accounts))
    busy = select(WorkshopTask.user_id).where(is_running())
    tasks = select(WorkshopTask.user_id).where(
        WorkshopTask.state == "queued",
        WorkshopTask.sent_at.is_not(None),
        WorkshopTask.user_id.not_in(busy),
    )
    checks = (
        select(Bot.user_id)
        .join(ProgramCheck, ProgramCheck.bot_id == Bot.id)
        .where(ProgramCheck.worker.is_(None), ProgramCheck.sent_at.is_not(None))
    )
    # One more owner than there are accounts: at least one is then somebody else.
    for tests in (tasks, checks):
        for owner in session.scalars(tests.distinct().limit(len(accounts) + 1)):
            yield test_of(owner)


def keeps_matches_waiting(
    session: Session, clock: Clock, experiments: Collection[str] = ()
) -> bool:
    """Return whether tests use more than their share while a match waits."""
    waits = is_waiting(workers_of(session, clock), experiments)
    if session.scalar(select(Match.id).where(waits).limit(1)) is None:
        return False
    load = load_of(session, clock, (), experiments)
    return sum(use.kind == "test" for use in load.running) > load.places // 2


def is_waiting(workers: Sequence[Beat], experiments: Collection[str]) -> ColumnElement[bool]:
    """Return the condition for matches that wait for one of these workers."""
    kinds = {kind for worker in workers for kind in worker.figures.program_kinds}
    has_programs = programs().where(MatchParticipant.match_id == Match.id).exists()
    return and_(
        Match.state == "queued",
        Match.sent_at.is_not(None),
        Match.kind.not_in(experiments),
        or_(Match.kind.in_(kinds), has_programs),
    )


def test_of(owner: int | None) -> Use:
    """Return the use of a place by a test of a user's program, or of a team's."""
    # A team has one bot, so its checks use at most one place anyway.
    return Use("test", frozenset() if owner is None else frozenset([owner]))


def is_running() -> ColumnElement[bool]:
    """Return the condition for running workshop tasks."""
    return WorkshopTask.state == "running"


def expects_matches(session: Session) -> bool:
    """Return whether a competition may plan a match at any moment."""
    going_on = select(Competition.id).where(Competition.state == "running")
    return session.scalar(going_on.limit(1)) is not None


def use_of_match(session: Session, match: int, experiments: Collection[str]) -> Use | None:
    """Return a match's use of a place, for the owners of its programs; None if it is not queued."""
    kind = session.scalar(select(Match.kind).where(Match.id == match, Match.state == "queued"))
    if kind is None:
        return None
    owners = session.execute(programs().where(MatchParticipant.match_id == match))
    accounts = frozenset(user for _, user in owners)
    return Use("test" if kind in experiments else "match", accounts)


class Used(NamedTuple):
    """How many of the places one account uses."""

    used: int
    places: int


def why_match_waits(
    session: Session, clock: Clock, match_id: str, experiments: Collection[str]
) -> Used | None:
    """Return the usage of the program owner whose share keeps a match waiting, or None."""
    match = session.scalars(select(Match.id).where(Match.match_id == match_id)).one()
    use = use_of_match(session, match, experiments)
    if use is None or not use.accounts:
        return None
    load = load_of(session, clock, use.accounts, experiments)
    if load.places <= 1 or refusal(use, load) != "account":
        return None
    return Used(max(map(load.used_by, use.accounts)), load.places)


def programs() -> Any:
    """Return the query for the matches with programs of users, with these users."""
    seats = select(MatchParticipant.match_id, Bot.user_id)
    of_users = (Bot.kind == "program", Bot.user_id.is_not(None))
    return seats.join(Bot, Bot.id == MatchParticipant.bot_id).where(*of_users)
