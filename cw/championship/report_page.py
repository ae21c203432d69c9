"""What the pages of a championship add to its report: headline, podium, running matches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

from cw.championship import pace
from cw.championship.journal import Progress, stem_of
from cw.championship.report_document import stage_words
from cw.championship.words import TIES, number
from cw.games.rules import Json
from cw.league.stage_tables import ADVANCING

Phase: TypeAlias = Literal["running", "stopped", "over"]

PODIUM: Final = 3
"""Places shown at the top."""

SHORT: Final = 3
"""Longest name of a table that is taken for a group's letter."""


def page_document(
    document: Mapping[str, Any], progress: Progress, *, running: bool
) -> dict[str, Json]:
    """Return what a page shows of a report; `running` says whether it is being played."""
    phase = phase_of(document, running=running)
    left = progress.seconds_left
    return {
        "phase": phase,
        "headline": headline(document, phase),
        "final": final_words(document),
        "game_title": title_of(document["game"]),
        "names": [table_name(standing["name"]) for standing in document["standings"]],
        "advancing": ADVANCING if document["title"] == "championship" else 0,
        "podium": list(podium(document)) if phase == "over" else [],
        "is_ranked_apart": len(document["standings"]) != 1 or bool(document["bracket"]),
        "running": running_documents(progress) if phase == "running" else [],
        "time_left": pace.in_words(left) if phase == "running" and left else None,
    }


def phase_of(document: Mapping[str, Any], *, running: bool) -> Phase:
    """Return the phase of a championship."""
    if document["over"]:
        return "over"
    return "running" if running else "stopped"


def headline(document: Mapping[str, Any], phase: Phase) -> str:
    """Return a one-line summary of the championship."""
    if phase != "over":
        return f"{document['played']} of {document['expected']} matches played"
    champions = [document["team_names"][team] for team in (document["order"] or [[]])[0]]
    if len(champions) == 1:
        return f"{champions[0]} is the champion"
    return f"{' and '.join(champions)} share first place"


def final_words(document: Mapping[str, Any]) -> str:
    """Return the result of the final, or the lead in the only table."""
    final = document["bracket"][-1]["ties"][0] if document["bracket"] else None
    if final is None:
        return lead_words(document["standings"], document["team_names"])
    if final["winner"] is None:
        return ""
    winner, loser = sorted(final["teams"], key=final["winner"].__ne__)
    scores = [dict(zip((g["first"], g["second"]), g["score"], strict=True)) for g in final["games"]]
    legs = ", ".join(f"{number(score[winner])} : {number(score[loser])}" for score in scores)
    names = document["team_names"]
    return f"{names[winner]} beat {names[loser]} in the final {TIES[final['reason']]}: {legs}"


def lead_words(standings: Sequence[Mapping[str, Any]], names: Mapping[str, str]) -> str:
    """Return the lead of the first team; "" if there are several tables."""
    if len(standings) != 1:
        return ""
    first, second = standings[0]["rows"][:2]
    leader, next_one = names[first["team"]], names[second["team"]]
    noise = "; the lead is within noise" if first["noise"] else ""
    return (
        f"{leader} has a win rate of {first['win_rate']:.0%}, {next_one} one of"
        f" {second['win_rate']:.0%}{noise}"
    )


def podium(document: Mapping[str, Any]) -> Iterator[dict[str, Json]]:
    """Yield the first places, each with its teams and what they have won."""
    records = {team["id"]: team["record"] for team in document["teams"]}
    rank = 1
    for teams in document["order"]:
        if rank > PODIUM:
            return
        yield {"rank": rank, "teams": teams, "words": merits(teams, records, document)}
        rank += len(teams)


def merits(
    teams: Sequence[str], records: Mapping[str, Mapping[str, int]], document: Mapping[str, Any]
) -> list[str]:
    """Return the wins and bonus points of the teams of a place."""
    words = []
    for team in teams:
        merit = f"won {records[team].get('won', 0)} of {sum(records[team].values())}"
        points = document["bonus"].get(team, 0)
        merit += f", {points} bonus point{'s' * (points > 1)}" if points else ""
        words.append(merit if len(teams) == 1 else f"{document['team_names'][team]}: {merit}")
    return words


def title_of(game: str) -> str:
    """Return the title of a game."""
    return game.replace("-", " ").title().replace(" Of ", " of ")


def table_name(name: str) -> str:
    """Return the heading of a table, for a group or for the whole contest."""
    return f"Group {name}" if len(name) <= SHORT else name.replace("-", " ").capitalize()


def running_documents(progress: Progress) -> list[dict[str, Json]]:
    """Return the matches in flight."""
    return [
        {
            "players": list(match.players),
            "stage": stage_words(match),
            "stem": stem_of(match),
            "watch": url,
        }
        for match, url in progress.running.items()
    ]
