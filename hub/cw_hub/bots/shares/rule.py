"""Who may begin: the one rule for everything that runs programs of strangers.

A place is one of the matches, checks or workshop tasks that the workers with `--programs` run at
the same time. While others wait, an account uses at most half of the places. Everything but matches
also uses at most half of them, as long as a match waits or a competition may plan one at any
moment; so a match never waits for the end of a long run. If there is only one place, accounts and
kinds take turns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

Kind: TypeAlias = Literal["match", "test"]
"""A match, or any test of a program: checks, runs, series, questions."""

Refusal: TypeAlias = Literal["account", "kind", "idle"]
"""The share that is used up; `idle` if it only begins while nothing else waits."""


class Use(NamedTuple):
    """Something that uses a place, or waits for one."""

    kind: Kind
    accounts: frozenset[int] = frozenset()
    """The ids of the users whose programs it runs."""


@dataclass(frozen=True, slots=True)
class Load:
    """What uses the places of a site, and what waits for one."""

    places: int
    """0 if no worker has reported any: then nothing is refused."""
    running: Sequence[Use] = ()
    waiting: Sequence[Use] = ()
    expects_matches: bool = False
    """Whether a match may have to be played at any moment."""
    last: Use | None = None
    """What began last, whether or not it still runs."""

    @property
    def counted(self) -> Sequence[Use]:
        """The uses that count; with a single place only the last one, so that others take turns."""
        if self.places > 1:
            return self.running
        return () if self.last is None else (self.last,)

    def used(self, kind: Kind) -> int:
        """Return how many places one kind uses."""
        return sum(use.kind == kind for use in self.counted)

    def used_by(self, account: int) -> int:
        """Return how many places an account uses."""
        return sum(account in use.accounts for use in self.counted)

    @property
    def share(self) -> int:
        """The maximum places of an account while others wait, and of tests beside matches."""
        return max(1, self.places // 2)

    def most(self, kind: Kind) -> int:
        """Return the maximum places of one kind while the other one waits."""
        return self.share if kind == "test" else max(1, self.places - self.share)


def refusal(wanted: Use, load: Load, *, is_experiment: bool = False) -> Refusal | None:
    """Return why something may not begin now, or None if it may."""
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
    """Return whether the other kind needs its share: tests leave it free in advance."""
    if wanted.kind == "test" and load.places > 1 and load.expects_matches:
        return True
    return any(use.kind != wanted.kind for use in load.waiting)
