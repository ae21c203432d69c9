"""Fair shares of the slots that run untrusted programs, for matches, checks and the workshop."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from sqlalchemy import ColumnElement, and_, delete, or_, select, update

from cw_hub.operation import heartbeats
from cw_hub.operation.heartbeats import Beat
from cw_hub.store.database import Session, insert_missing
from cw_hub.store.models import (
    Bot,
    Competition,
    Heartbeat,
    LastProgram,
    Match,
    MatchParticipant,
    ProgramCheck,
    WorkshopTask,
)

Kind: TypeAlias = Literal["match", "test"]
"""A match, or any test of a program: checks and workshop tasks."""

Refusal: TypeAlias = Literal["account", "kind", "idle"]
"""The share that is exhausted; `idle` for work that only starts while nothing else waits."""


class Use(NamedTuple):
    """Something that uses a slot, or waits for one."""

    kind: Kind
    accounts: frozenset[int] = frozenset()
    """The ids of the users whose programs it runs."""


@dataclass(frozen=True, slots=True)
class Load:
    """What uses a site's slots, and what waits for one."""

    places: int
    """0 if no worker has reported any; then nothing is refused."""
    running: Sequence[Use] = ()
    waiting: Sequence[Use] = ()
    expects_matches: bool = False
    """Whether a match may have to be played at any time."""
    last: Use | None = None
    """What started last, whether or not it is still running."""

    @property
    def counted(self) -> Sequence[Use]:
        """The uses that count; with a single slot only the last one, so that users take turns."""
        if self.places > 1:
            return self.running
        return () if self.last is None else (self.last,)

    def used(self, kind: Kind) -> int:
        """Return how many slots one kind uses."""
        return sum(use.kind == kind for use in self.counted)

    def used_by(self, account: int) -> int:
        """Return how many slots an account uses."""
        return sum(account in use.accounts for use in self.counted)

    @property
    def share(self) -> int:
        """The maximum slots of an account while others wait, and of tests alongside matches."""
        return max(1, self.places // 2)

    def most(self, kind: Kind) -> int:
        """Return the maximum slots of one kind while the other kind waits."""
        return self.share if kind == "test" else max(1, self.places - self.share)


def refusal(wanted: Use, load: Load, *, is_experiment: bool = False) -> Refusal | None:
    """Return why something may not start now, or None if it may."""
    if not load.places:
        return None
    if is_experiment and load.waiting:
        return "idle"
    if load.used(wanted.kind) >= load.most(wanted.kind) and is_contested(wanted, load):
        return "kind"
    others_wait = any(not use.accounts & wanted.accounts for use in load.waiting)
    most = max(map(load.used_by, wanted.accounts), default=0)
    return "account" if others_wait and most >= load.share else None


def is_contested(wanted: Use, load: Load) -> bool:
    """Return whether the other kind needs its share; tests leave it free in advance."""
    if wanted.kind == "test" and load.places > 1 and load.expects_matches:
        return True
    return any(use.kind != wanted.kind for use in load.waiting)


ROW: Final = 1
"""The key of the only row of `last_program`."""


def claim(
    session: Session,
    wanted: Use,
    experiments: Collection[str] = (),
    *,
    is_experiment: bool = False,
) -> Refusal | None:
    """Return why something may not start now, or None if it may start in this transaction.

    Concurrent callers are decided one after the other. `experiments` are the kinds of matches that
    are only played while nothing else waits.
    """
    last = lock(session)
    load = load_of(session, wanted.accounts, experiments)
    if last.kind is not None:
        load = replace(load, last=Use(last.kind, frozenset(last.accounts)))
    refused = refusal(wanted, load, is_experiment=is_experiment)
    if refused is None:
        last.kind, last.accounts = wanted.kind, sorted(wanted.accounts)
    return refused


def lock(session: Session) -> LastProgram:
    """Block other claims until this transaction ends; return the last use."""
    insert_missing(session, LastProgram, [{"id": ROW, "accounts": []}])
    return session.scalars(select(LastProgram).with_for_update()).one()


def load_of(session: Session, accounts: Collection[int], experiments: Collection[str] = ()) -> Load:
    """Return what uses the slots and what waits, as far as it is relevant to some accounts."""
    workers = workers_of(session)
    if not workers:
        return Load(0)
    return Load(
        sum(worker.figures.program_slots for worker in workers),
        tuple(running(session, [worker.process for worker in workers], experiments)),
        tuple(waiting(session, accounts, is_waiting(workers, experiments))),
        expects_matches(session),
    )


def workers_of(session: Session) -> Sequence[Beat]:
    """Return the live workers that run programs."""
    beats = heartbeats.live(session)
    return [beat for beat in beats if beat.role == "worker" and beat.figures.program_slots]


def count(session: Session) -> int:
    """Return the number of program slots."""
    return sum(worker.figures.program_slots for worker in workers_of(session))


def running(
    session: Session, workers: Collection[str], experiments: Collection[str]
) -> Iterator[Use]:
    """Yield what is running in the program slots of these workers."""
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
    """Yield what waits for a slot: of each kind, preferably something of other accounts."""
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
    # One more owner than there are accounts, so that at least one is someone else.
    for tests in (tasks, checks):
        for owner in session.scalars(tests.distinct().limit(len(accounts) + 1)):
            yield test_of(owner)


def keeps_matches_waiting(session: Session, experiments: Collection[str] = ()) -> bool:
    """Return whether tests use more than their share while a match waits."""
    waits = is_waiting(workers_of(session), experiments)
    if session.scalar(select(Match.id).where(waits).limit(1)) is None:
        return False
    load = load_of(session, (), experiments)
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
    """Return the slot use of a test of a user's program, or of a team's."""
    # A team has one bot, so its checks use at most one slot anyway.
    return Use("test", frozenset() if owner is None else frozenset([owner]))


def is_running() -> ColumnElement[bool]:
    """Return the condition for running workshop tasks."""
    return WorkshopTask.state == "running"


def expects_matches(session: Session) -> bool:
    """Return whether a competition may plan a match at any time."""
    going_on = select(Competition.id).where(Competition.state == "running")
    return session.scalar(going_on.limit(1)) is not None


def use_of_match(session: Session, match: int, experiments: Collection[str]) -> Use | None:
    """Return a match's use of a slot, for its programs' owners; None if it is not queued."""
    kind = session.scalar(select(Match.kind).where(Match.id == match, Match.state == "queued"))
    if kind is None:
        return None
    owners = session.execute(programs().where(MatchParticipant.match_id == match))
    accounts = frozenset(user for _, user in owners)
    return Use("test" if kind in experiments else "match", accounts)


class Used(NamedTuple):
    """How many of the slots one account uses."""

    used: int
    places: int


def why_match_waits(session: Session, match_id: str, experiments: Collection[str]) -> Used | None:
    """Return the usage of the program owner whose share delays a match, or None."""
    match = session.scalars(select(Match.id).where(Match.match_id == match_id)).one()
    use = use_of_match(session, match, experiments)
    if use is None or not use.accounts:
        return None
    load = load_of(session, use.accounts, experiments)
    if load.places <= 1 or refusal(use, load) != "account":
        return None
    return Used(max(map(load.used_by, use.accounts)), load.places)


def programs() -> Any:
    """Return the query for the match ids and owners of users' programs in matches."""
    seats = select(MatchParticipant.match_id, Bot.user_id)
    of_users = (Bot.kind == "program", Bot.user_id.is_not(None))
    return seats.join(Bot, Bot.id == MatchParticipant.bot_id).where(*of_users)


SENT_AGAIN: Final = timedelta(seconds=60)
"""How long after its message an unclaimed check is sent again."""


def begin(session: Session, bot: int, worker: str, experiments: Collection[str]) -> bool:
    """Claim a program's check; return False if it runs elsewhere, or must wait for its share.

    Of concurrent callers, at most one succeeds.
    """
    owner = session.scalars(select(Bot.user_id).where(Bot.id == bot)).one()
    insert_missing(session, ProgramCheck, [{"bot_id": bot}])
    check = session.scalars(
        select(ProgramCheck).where(ProgramCheck.bot_id == bot).with_for_update()
    ).one()
    if check.worker in {each.process for each in workers_of(session)}:
        # Requested again while running: it is sent again when it ends.
        check.sent_at = session.now()
        return False
    check.worker = check.sent_at = None
    if claim(session, test_of(owner), experiments) is not None:
        return False
    check.worker = worker
    return True


def wait(session: Session, bot: int) -> None:
    """Leave a program's check to the next tick, or to the end of a running one. Idempotent."""
    insert_missing(session, ProgramCheck, [{"bot_id": bot}])
    runs = (ProgramCheck.bot_id == bot, ProgramCheck.worker.is_not(None))
    session.execute(update(ProgramCheck).where(*runs).values(sent_at=session.now()))


def end(session: Session, bot: int) -> None:
    """End a program's check; one requested in the meantime waits. Idempotent."""
    session.execute(
        delete(ProgramCheck).where(ProgramCheck.bot_id == bot, ProgramCheck.sent_at.is_(None))
    )
    its = update(ProgramCheck).where(ProgramCheck.bot_id == bot)
    session.execute(its.values(worker=None, sent_at=None))


def forget(session: Session, bot: int) -> None:
    """Delete the check of a bot that has no program to check. Idempotent."""
    session.execute(delete(ProgramCheck).where(ProgramCheck.bot_id == bot))


def any_waits(session: Session) -> bool:
    """Return whether a check is waiting, or its worker may be gone."""
    return session.scalar(select(ProgramCheck.bot_id).limit(1)) is not None


def leave(session: Session, worker: str | None = None) -> None:
    """Stop counting the slots of a stopping worker, and let its checks run elsewhere.

    Without a name, this applies to all workers, none of which can be running.
    """
    stopped = ProgramCheck.worker.is_not(None) if worker is None else ProgramCheck.worker == worker
    session.execute(update(ProgramCheck).where(stopped).values(worker=None, sent_at=None))
    gone = Heartbeat.role == "worker" if worker is None else Heartbeat.process == worker
    session.execute(update(Heartbeat).where(gone).values(figures={}))


def take_due(session: Session) -> list[int]:
    """Return the ids of the bots whose checks are due, and mark these checks as sent.

    With concurrent callers, each check is returned to only one of them.
    """
    live = [worker.process for worker in workers_of(session)]
    now = session.now()
    due = (
        or_(ProgramCheck.worker.is_(None), ProgramCheck.worker.not_in(live)),
        or_(ProgramCheck.sent_at.is_(None), ProgramCheck.sent_at <= now - SENT_AGAIN),
    )
    change = update(ProgramCheck).where(*due).values(sent_at=now, worker=None)
    return sorted(session.scalars(change.returning(ProgramCheck.bot_id)))
