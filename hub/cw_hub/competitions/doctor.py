"""Checks that the games played by competitions are installed on this machine."""

from __future__ import annotations

from contextlib import closing

from cw.games.registry import GAMES, game_entries, games_left_out, installed_games
from cw_hub.competitions import verbs as competitions
from cw_hub.operation.health.doctor import Finding
from cw_hub.operation.settings import HubSettings
from cw_hub.store.database import Database


def look_at_games(settings: HubSettings) -> Finding:
    """List the games of other packages, and games that are played but not installed here."""
    with closing(Database(settings.database)) as database, database.reading() as session:
        everything = competitions.everything(session)
    games = game_entries()
    unplayable = [one for one in everything if one.state != "over" and one.game not in games]
    if unplayable:
        names = ", ".join(sorted({one.game for one in unplayable}))
        text = f"this machine plays no matches of {names}: {competitions.paths_of(unplayable)}"
        why = " ".join(left.sentence for left in games_left_out() if left.name in names.split(", "))
        advice = why or "install the packages of these games here, or let other workers play them"
        return Finding("games", False, True, text, advice)
    others = [f"{game.name} ({game.package} {game.version})" for game in installed_games()]
    return Finding("games", True, True, ", ".join([f"{len(GAMES)} of the arena", *others]))
