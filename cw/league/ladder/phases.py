"""The events of a tournament in rounds: which one applies next, and the resulting phase."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

EventKind: TypeAlias = Literal["start", "boards", "pause", "resume", "final", "end", "note"]
Phase: TypeAlias = Literal["waiting", "running", "paused", "closing", "over"]

STOPS: Final[frozenset[EventKind]] = frozenset({"pause", "resume"})
"""Events that stop a group, or let it continue, at once."""

PASSED_BY: Final[frozenset[EventKind]] = STOPS | {"note"}
"""Events that are applied even while a final waits for earlier rounds."""


@dataclass(frozen=True, slots=True)
class GroupEvent:
    """A due event, for one group or all groups."""

    kind: EventKind
    applied: bool = True
    """False while a final waits for earlier rounds."""


def due_now(kinds: Sequence[EventKind], *, is_final_ready: bool) -> int | None:
    """Return the index of the event to apply next, among those due and not applied, or None.

    A final waits until the earlier rounds are closed, and holds back all later events except those
    in PASSED_BY.
    """
    is_waiting = False
    for index, kind in enumerate(kinds):
        if not is_waiting and (kind != "final" or is_final_ready):
            return index
        if is_waiting and kind in PASSED_BY:
            return index
        is_waiting = True
    return None


def phase(events: Iterable[GroupEvent], *, is_final: bool, is_open: bool) -> Phase:
    """Return the phase of a group, given its events in order.

    `is_final`: it is the group of the final; `is_open`: it has an open round. While a final waits,
    the other groups finish their last round.
    """
    has_begun = has_ended = is_paused = False
    for event in events:
        if event.kind == "final" and is_final:
            has_begun = has_begun or event.applied
        elif event.kind in ("final", "end"):
            has_ended = True
        elif event.kind == "start" and not is_final:
            has_begun = True
        elif event.kind in STOPS:
            is_paused = event.kind == "pause"
    if not has_begun:
        return "over" if has_ended else "waiting"
    if has_ended and not is_open:
        return "over"
    if is_paused:
        return "paused"
    return "closing" if has_ended else "running"
