"""What a workshop sends its page about a run, a turn, a series and a check: JSON, shown as text."""

from __future__ import annotations

from collections.abc import Collection, Container, Sequence
from dataclasses import asdict
from typing import Final

import msgspec

from cw.arena.program import ERROR_OUTPUT
from cw.arena.referee import MatchRecord
from cw.arena.seats.heard import Exchange
from cw.games.registry import load_endings
from cw.games.rules import Json, Player
from cw.lab.asked import AskedAnswer
from cw.matches.fault_words import did
from cw.matches.verdict import verdict
from cw.replays.outputs import Output
from cw.visible import visible
from cw.web.live.live_match import LiveMatch
from cw.web.workshop.run import Run, player_of
from cw.web.workshop.tasks import Work
from cw.workshop.building import BuildFailed
from cw.workshop.checking import Check
from cw.workshop.marks import SearchedParts
from cw.workshop.project import MINE
from cw.workshop.series import Series

LONGEST_TEXT: Final = 20_000
"""Most characters shown of a query or a problem."""


def run_document(run: Run, files: Collection[str]) -> dict[str, Json]:
    """Return the state of a run: in words, its output by turn, and the code lines that it names."""
    match, error = run.match, failure_of(run.match)
    parts = with_questions(
        output_of(match) if match.over else run.exchanges.output(),
        load_endings(match.spec.game).first,
    )
    compiler = error.output if isinstance(error, BuildFailed) else ""
    shown = [(turn, visible(text)) for turn, text in [(0, compiler), *parts]]
    return {
        "goes_on": not match.over,
        "ready": match.progress is not None,
        "failed": error is not None,
        "words": words_of(match),
        "protection": run.protection,
        "player": None if match.progress is None else str(player_of(match)),
        "compiler": shown[0][1],
        "output": list(map(list, shown[1:])),
        "fault": fault_of(match),
        "marks": list(map(asdict, run.searched.marks(shown, files))),
    }


def with_questions(parts: Sequence[tuple[int, str]], first: int) -> list[tuple[int, str]]:
    """Return the parts of an output by the turns under which the viewer shows them.

    >>> with_questions([(0, "begins "), (1, "goes north"), (2, "stays")], 0)
    [(0, 'begins goes north'), (1, 'stays')]
    """
    texts: dict[int, str] = {}
    for turn, text in parts:
        number = max(0, turn - 1 + first)
        texts[number] = texts.get(number, "") + text
    return list(texts.items())


def failure_of(match: LiveMatch) -> BaseException | None:
    """Return why a finished match has no result, or None."""
    return match.result.exception() if match.over else None


def words_of(match: LiveMatch) -> str:
    """Return who won and how, or why nobody did; "" while the match is played."""
    if not match.over:
        return ""
    error = match.result.exception()
    if isinstance(error, BuildFailed):
        return visible(f"{error}.")
    return visible(match.trouble or verdict(match.spec, match.result.result()))


def fault_of(match: LiveMatch) -> dict[str, Json] | None:
    """Return the first fault of the bot and its place; None if it made none, or plays on."""
    if not match.over or failure_of(match) is not None:
        return None
    result, number = match.result.result(), [bot.name for bot in match.spec.bots].index(MINE)
    fault = next(iter(result.faults_of(number)), None)
    if fault is None:
        return None
    endings = load_endings(match.spec.game)
    turn = min(fault.turn + endings.first, result.turns)
    place = "at the start" if fault.kind == "startup" else endings.turn_after(fault.turn)
    detail = fault.detail.partition(ERROR_OUTPUT)[0]
    words = f"{did(fault)}: {detail}" if detail else did(fault)
    return {"turn": turn, "place": place.capitalize(), "words": cut(words)}


def output_of(match: LiveMatch) -> list[tuple[int, str]]:
    """Return the bot's standard error by turn; empty before the match is over."""
    if match.progress is None:
        return []
    record, player = match.progress.record, player_of(match)
    output = Output(record.stderr.get(player, ""), record.stderr_turns.get(player, ()))
    return output.parts or ([(0, output.text)] if output.text else [])


def turn_document(run: Run, turn: int) -> dict[str, Json]:
    """Return what the bot was asked in a turn, what it answered, and its faults.

    Turns are numbered as in sentences; queries before the first one belong to 0.
    """
    if run.match.progress is None:
        return {"turn": turn, "exchanges": [], "faults": [], "action": None}
    record, player = run.match.progress.record, player_of(run.match)
    turns = run.match.progress.recorder.turns
    number = turn - load_endings(run.match.spec.game).first + 1
    numbers = range(number if turn else 0, number + 1)
    action = turns[number - 1]["actions"] if 0 < number <= len(turns) else {}
    return {
        "turn": turn,
        "exchanges": [exchange_document(each) for n in numbers for each in run.exchanges.of(n)],
        "faults": faults_of(record, player, numbers),
        "action": action.get(str(player)) if isinstance(action, dict) else None,
    }


def exchange_document(exchange: Exchange) -> dict[str, Json]:
    """Return a query and its answer, for pages."""
    fault = exchange.fault
    return {
        "question": cut(exchange.question),
        "answer": cut(exchange.answer),
        "ms": round(exchange.seconds * 1000, 3),
        "fault": "" if fault is None else cut(f"{fault.kind}: {fault.sentence}"),
    }


def faults_of(record: MatchRecord, player: Player, turns: Container[int]) -> list[Json]:
    """Return a player's faults in some turns, counted from 1, and what was expected."""
    return [
        {
            "kind": noted.fault.kind,
            "words": cut(noted.fault.sentence),
            "expected": cut(noted.fault.expected),
            "actual": cut(noted.fault.actual),
        }
        for noted in list(record.faults)
        if noted.player == player and noted.turn + 1 in turns
    ]


def ask_document(
    work: Work, answer: AskedAnswer | None, files: Collection[str], searched: SearchedParts
) -> dict[str, Json]:
    """Return the result of a repeated query; `searched` is its output."""
    return {
        "answer": answer and answer_document(answer, files, searched),
        "goes_on": work.goes_on,
        "trouble": visible(work.trouble),
    }


def answer_document(
    answer: AskedAnswer, files: Collection[str], searched: SearchedParts
) -> dict[str, Json]:
    """Return an answer given now, beside that of the match."""
    document = msgspec.json.decode(msgspec.json.encode(answer.to_json()))
    texts = {name: cut(document[name]) for name in ("question", "verdict", "verdict_before")}
    marks = searched.marks([(answer.turn, visible(answer.stderr))], files)
    return {
        **document,
        **texts,
        "stderr": visible(answer.stderr),
        "marks": list(map(asdict, marks)),
    }


def series_document(work: Work, series: Series | None) -> dict[str, Json]:
    """Return the state of the series."""
    begun = {"total": 0, "matches": [], "tally": None} if series is None else series.to_json()
    return {**begun, "goes_on": work.goes_on, "trouble": visible(work.trouble)}


def check_document(work: Work, check: Check | None) -> dict[str, Json]:
    """Return the state of the check."""
    steps = [] if check is None else list(check.steps)
    return {
        "steps": [
            {
                "step": visible(step.step),
                "ok": step.ok,
                "problem": cut(step.problem),
                "fix": visible(step.fix),
                "warning": step.warning,
            }
            for step in steps
        ],
        "goes_on": work.goes_on,
        "trouble": visible(work.trouble),
    }


def cut(text: str) -> str:
    """Return text as it is shown: control characters visible, and cut if it is long."""
    more = len(text) - LONGEST_TEXT
    rest = f"\n... cut: {more} more characters" if more > 0 else ""
    return visible(text[:LONGEST_TEXT]) + rest
