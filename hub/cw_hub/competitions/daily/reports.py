"""Reports: a bot's first problem in a game, in the form of the End of Codes document."""

from __future__ import annotations

from cw.games.end_of_codes.answers import TEXTS, sanity
from cw.games.rules import Json
from cw_hub.players.messages import SlotResult


def report_of(player: int, gameid: int, slot_result: SlotResult) -> dict[str, Json]:
    """Return a bot's first problem in a game, in the form of the game's document."""
    fault = slot_result.faults[0]
    error = str(fault["detail"]).partition(":")[0]
    request = error.partition("_")[0]
    turn = fault["turn"] if request == "round" else None
    text = str(fault["detail"]).partition(": ")[2]
    if request == "initiate":
        # It was ready at admission, but no longer when the game began.
        text = TEXTS[sanity(error).index(False)]
    more = {"expected": fault.get("expected", ""), "actual": fault.get("actual", "")}
    return report(player, gameid, turn, request, fault["kind"], error, text=text, **more)


def report(  # noqa: PLR0913, PLR0917 - its members
    userid: int,
    gameid: int,
    turn: int | None,
    request: str,
    kind: str,
    error: str,
    text: str = "",
    expected: str = "",
    actual: str = "",
) -> dict[str, Json]:
    """Return a report with all its members."""
    about = {"userid": userid, "gameid": gameid, "round": turn, "request": request}
    return {
        **about,
        "kind": kind,
        "error": error,
        "text": text,
        "expected": expected,
        "actual": actual,
    }
