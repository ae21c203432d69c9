"""The result of a match, written once by the attempt that played it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from statistics import median
from typing import Any, Final, Literal, TypeAlias

from sqlalchemy import and_, bindparam, insert, null, select, update
from sqlalchemy.orm import Session

from cw_hub.bots.checks import health
from cw_hub.clock import Clock
from cw_hub.matches.claims import Claim, hits, mine
from cw_hub.players.messages import OUTPUTS, SlotResult
from cw_hub.store.tables import Battle, Match, MatchParticipant

LONGEST_REASON: Final = 40


@dataclass(frozen=True, slots=True)
class BattleResult:
    """How one game of a match ended, and where its replay is."""

    reason: str
    slots: tuple[SlotResult, ...]
    turns: int
    replay_key: str | None
    bytes: int
    started_at: datetime
    ended_at: datetime
    options: Mapping[str, Any] = field(default_factory=dict)
    first_slot: int = 0


NOBODY: Final = "no_players"
"""The reason of a match that ended because nobody was ready to play."""


def unplayed(now: datetime) -> BattleResult:
    """Return the result of a match for which nobody was ready."""
    return BattleResult(NOBODY, (), 0, None, 0, now, now)


Finish: TypeAlias = Literal["done", "already", "lost"]
"""Finished now; finished before by this attempt, whose answer was lost; taken from this attempt."""


def finish(session: Session, clock: Clock, claim: Claim, battles: Sequence[BattleResult]) -> Finish:
    """Write the result of an attempt; only one call returns `done`.

    Repeated: `already`, as the first answer may have been lost. Late, or beside another attempt:
    `lost`; nothing is written, and its replays should be deleted.
    """
    last = battles[-1]
    changed = {
        "state": "done",
        "finished_at": clock(),
        "reason": last.reason[:LONGEST_REASON],
        "turn": sum(battle.turns for battle in battles),
        "worker": None,
        "lease_until": None,
    }
    if not hits(session, update(Match).where(mine(claim)).values(changed)):
        done = and_(Match.id == claim.id, Match.attempt == claim.attempt, Match.state == "done")
        return "already" if session.scalar(select(Match.id).where(done)) else "lost"
    rows = [battle_row(claim, number, battle) for number, battle in enumerate(battles, 1)]
    session.execute(insert(_BATTLES), rows)
    results = combined(battles)
    if slots := [slot_after(claim, *slot) for slot in enumerate(results)]:
        session.execute(SLOTS_AFTER, slots)
        note_unreachable(session, clock, claim, results)
    return "done"


def note_unreachable(
    session: Session, clock: Clock, claim: Claim, results: Sequence[SlotResult]
) -> None:
    """Schedule checks of the bots that did not answer."""
    silent = [slot for slot, result in enumerate(results) if result.is_unreachable]
    if silent:
        seats = (_SLOTS.c.match_id == claim.id, _SLOTS.c.slot.in_(silent))
        bots = session.scalars(select(_SLOTS.c.bot_id).where(*seats, _SLOTS.c.bot_id.is_not(None)))
        health.note_match(session, clock, bots.all())


def combined(battles: Sequence[BattleResult]) -> Sequence[SlotResult]:
    """Return the result of every slot over all games of a match.

    Ranks are summed, so that of two bots the one with more wins is first; each fault says in which
    game it occurred.
    """
    if len(battles) == 1:
        return battles[0].slots
    slots = list(zip(*(battle.slots for battle in battles), strict=True))
    sums = [rank_sum(results) for results in slots]
    ranked = sorted(ranks for ranks in sums if ranks is not None)
    return tuple(
        SlotResult(
            None if ranks is None else 1 + ranked.index(ranks),
            score_sum(results),
            numbered_faults(results),
            combined_stats([result.stats for result in results]),
        )
        for ranks, results in zip(sums, slots, strict=True)
    )


def rank_sum(results: Sequence[SlotResult]) -> int | None:
    """Return the sum of a slot's ranks, or None if a game has not ranked it."""
    ranks = [result.rank for result in results if result.rank is not None]
    return sum(ranks) if len(ranks) == len(results) else None


def score_sum(results: Sequence[SlotResult]) -> float | None:
    """Return the sum of a slot's scores, or None if no game has scored it."""
    scores = [result.score for result in results if result.score is not None]
    return sum(scores) if scores else None


def numbered_faults(results: Sequence[SlotResult]) -> list[dict[str, Any]]:
    """Return a slot's faults in all games, each with the number of its game from 1."""
    return [
        {**fault, "battle": number}
        for number, result in enumerate(results, 1)
        for fault in result.faults
    ]


def combined_stats(games: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a bot's answer statistics over all games; the game's own are those of the last.

    The output of its program is kept for each game.
    """
    answered = [game for game in games if game.get("answers")]
    stats = {**games[-1], "answers": sum(game["answers"] for game in answered)}
    if any(OUTPUTS in game for game in games):
        stats[OUTPUTS] = [text for game in games for text in game.get(OUTPUTS, [""])]
    if answered:
        stats["median_ms"] = round(median(game["median_ms"] for game in answered), 3)
        stats["most_ms"] = max(game["most_ms"] for game in answered)
    return stats


_BATTLES: Final[Any] = Battle.__table__

_SLOTS: Final[Any] = MatchParticipant.__table__

SLOTS_AFTER: Final = (
    update(_SLOTS)
    .where(_SLOTS.c.match_id == bindparam("of_match"), _SLOTS.c.slot == bindparam("of_slot"))
    .values(
        {name: bindparam(f"new_{name}") for name in ("rank", "score", "crashed", "faults", "stats")}
        # The address is kept only as long as it is needed.
        | {"endpoint": null()}
    )
)
"""Updates the result of each slot, in one statement for all of them."""


def slot_after(claim: Claim, slot: int, result: SlotResult) -> dict[str, Any]:
    """Return a slot's result for its row."""
    return {
        "of_match": claim.id,
        "of_slot": slot,
        "new_rank": result.rank,
        "new_score": result.score,
        "new_crashed": result.crashed,
        "new_faults": [dict(fault) for fault in result.faults],
        "new_stats": dict(result.stats),
    }


def battle_row(claim: Claim, number: int, battle: BattleResult) -> dict[str, Any]:
    """Return the row of one game of a match."""
    return {
        "match_id": claim.id,
        "number": number,
        "options": dict(battle.options),
        "first_slot": battle.first_slot,
        "reason": battle.reason[:LONGEST_REASON],
        "ranks": [slot.rank for slot in battle.slots],
        "scores": [slot.score for slot in battle.slots],
        "turns": battle.turns,
        "replay_key": battle.replay_key,
        "bytes": battle.bytes,
        "started_at": battle.started_at,
        "ended_at": battle.ended_at,
    }
