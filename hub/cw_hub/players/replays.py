"""The public replay of a game, in the form in which it is stored."""

from __future__ import annotations

import gzip

from cw.games.registry import game_entry, load_exporter, load_game
from cw.replays.archive import archive_file
from cw.replays.document import Document, encode, parse, states
from cw.replays.public import numbered_replay, public_replay
from cw_hub.players.messages import Match, StoredReplay


def stored_replay(document: Document, match: Match) -> StoredReplay:
    """Return the objects to store for the replay of a game; bots have their public names.

    If names of players are stored separately, those that the game knows by numbers have only these.
    In the format of the game the match has its own name.
    """
    keys = match.keys
    if match.names_apart and match.spec.players:
        document = numbered_replay(document)
    public = public_replay(document, [credit.bot_id for credit in match.credits.players])
    game = public["game"]
    short = archive_file(parse(encode(public, packed=False)), match.credits)
    if short is not None:
        return StoredReplay(keys.archive, ((keys.archive, short),))
    objects = [(keys.viewed, encode(public, packed=True))]
    if game_entry(game).exporter is not None:
        played = list(states(load_game(game), public))
        own = load_exporter(game)(public, played, match.credits)
        objects.insert(0, (keys.own, gzip.compress(own, mtime=0)))
    return StoredReplay(keys.own, tuple(objects))
