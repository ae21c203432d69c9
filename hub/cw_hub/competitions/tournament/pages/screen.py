"""The big screen of a tournament: its groups and matches in turn, without controls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from flask import render_template, request, url_for

from cw.league.ladder.phases import Phase
from cw_hub.competitions.tournament import timeline, words
from cw_hub.competitions.tournament.pages.header import Header
from cw_hub.competitions.tournament.pages.ladder_view import LadderView
from cw_hub.competitions.tournament.pages.table import competing_rows
from cw_hub.competitions.tournament.rounds.matches import RoundMatch
from cw_hub.competitions.tournament.standings import GroupStandings
from cw_hub.competitions.tournament.views import GroupView, TournamentView
from cw_hub.pages.request import resources
from cw_hub.players.spectating import is_shown

MOST_MATCHES: Final = 6
"""Maximum number of matches shown in turn."""

MOST_TEAMS: Final = 50
"""Maximum number of teams shown, ten at a time."""


def is_wanted() -> bool:
    """Return whether a request asks for the big screen."""
    return request.args.get("screen") == "1"


def groups_in_turn(groups: Sequence[GroupView], phases: Mapping[int, Phase]) -> Sequence[GroupView]:
    """Return the groups to show: only the final once it has begun, otherwise the public groups."""
    final = [group for group in groups if group.kind == "final" and phases[group.id] != "waiting"]
    public = [group for group in groups if group.kind == "public"]
    return final or public or groups


def matches_in_turn(standings: GroupStandings) -> list[RoundMatch]:
    """Return the matches to watch: live ones first, then the latest finished ones."""
    live = [
        match
        for match in standings.matches
        if match.state == "in_progress" and is_shown(standings.tournament.game)
    ]
    over = [match for match in standings.matches if match.counts]
    return [*live, *reversed(over)][:MOST_MATCHES]


def match_words(standings: GroupStandings, match: RoundMatch) -> str:
    """Return the caption of a match: its result, or its number if it has more than two teams."""
    if len(match.teams) == 2:
        return words.result_words(standings, match)
    return f"Match {match.sequence or 1} of this round"


def first_address(tournament: TournamentView, header: Header) -> str:
    """Return the address of the screen that cycles through a tournament's groups."""
    groups = groups_in_turn(tournament.groups, phases_of(header))
    return address_of(tournament, groups[0], turn=True)


def phases_of(header: Header) -> dict[int, Phase]:
    """Return the phases of a tournament's groups, by id."""
    now = resources().clock()
    groups = header.tournament.groups
    return {group.id: timeline.phase_of(group, header.events, now) for group in groups}


def address_of(tournament: TournamentView, group: GroupView, *, turn: bool) -> str:
    """Return the address of a group's screen; with `turn`, it moves on to the next group."""
    more = 1 if turn else None
    return url_for(
        "tournaments.ladder", slug=tournament.slug, group=group.slug, screen=1, turn=more
    )


def screen_page(view: LadderView, poll: str) -> str:
    """Return the big screen of a group; `poll` is the address that scripts poll for its ladder."""
    tournament, turn = view.standings.tournament, request.args.get("turn") == "1"
    return render_template(
        "hub/competitions/tournament/screen.html",
        embedded=True,
        header=view.header,
        view=view,
        rows=competing_rows(view.standings)[:MOST_TEAMS],
        matches=[
            (match.match_id, match_words(view.standings, match))
            for match in matches_in_turn(view.standings)
        ],
        address=address_of(tournament, view.group, turn=turn),
        following=following(view) if turn else "",
        poll=poll,
        tag=view.polled().tag,
        words=words,
    )


def following(view: LadderView) -> str:
    """Return the address of the next group's screen."""
    tournament = view.standings.tournament
    groups = groups_in_turn(tournament.groups, phases_of(view.header))
    slugs = [group.slug for group in groups]
    index = slugs.index(view.group.slug) + 1 if view.group.slug in slugs else 0
    return address_of(tournament, groups[index % len(groups)], turn=True)
