"""The page of a match, its status for polling, and its replay."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Final, cast
from zlib import crc32

from flask import (
    Blueprint,
    Flask,
    Response,
    abort,
    current_app,
    get_template_attribute,
    make_response,
    redirect,
    render_template,
    request,
    url_for,
)
from flask.typing import ResponseReturnValue
from markupsafe import Markup

from cw.web.games import game_page
from cw.web.games import picture as picture_of
from cw_hub.accounts.actor import actor
from cw_hub.bots import house
from cw_hub.bots.pages import written_at
from cw_hub.bots.shares import Used, why_match_waits
from cw_hub.matches import lookup
from cw_hub.matches.link_previews import Cards
from cw_hub.matches.match_types import MatchType, MatchTypes, MatchView, SeatView
from cw_hub.matches.object_links import link_to
from cw_hub.matches.results import NOBODY
from cw_hub.matches.stored_replays import own_key, viewed_key
from cw_hub.pages import polls
from cw_hub.pages.layout import address_of
from cw_hub.pages.polls import Polled
from cw_hub.pages.request import one_reading, resources
from cw_hub.pages.security import EMBEDDED
from cw_hub.players.playing import is_shown
from cw_hub.store.objects import file_at

routes = Blueprint("match", __name__)

SENTENCES: Final[Mapping[str, str]] = {
    "queued": "This match is waiting for a worker.",
    "in_progress": "This match is being played: turn {turn}. You can watch it when it is over.",
    "interrupted": "The machine that played this match was lost. The match will be played again.",
    "void": "This match was called off: {reason}.",
    "failed": "This match could not be played.",
    "done": (
        "Replays are kept for {days} days, those of the 100 strongest matches of each month "
        "permanently. This one has been deleted."
    ),
}
"""Status texts of matches that cannot be watched, by state."""

OWN_SHARE: Final = (
    "This match is waiting: the programs of one player already use {used} of {places} places, the "
    "limit while others wait. It starts when one of their matches ends."
)

LIVE_EVERY: Final = 1000
"""Milliseconds between two polls of a viewer of a live match."""

SECOND: Final = "-b2"
"""Suffix of the name of a second battle's replay."""

NO_MATCH: Final = "There is no such match."
UNPLAYED: Final = "No bot was ready to play this game."


def install(app: Flask, kinds: MatchTypes) -> None:
    """Register the match kinds of an app."""
    app.extensions["kinds"] = kinds


def shown_kinds() -> MatchTypes:
    """Return the match kinds of this app."""
    return cast(MatchTypes, current_app.extensions["kinds"])


def kind_of(match: MatchView) -> MatchType:
    """Return the kind of a match, with the hooks of its format."""
    return shown_kinds().of(match.kind.name)


def find(match_id: str, *, whole: bool = False, battle: int = 0) -> MatchView:
    """Return a match that the current user may see; abort with 404 for any other.

    A finished match in which all bots play comes with the current user's seats only, unless the
    whole is requested. `battle` is the number of a battle, 0 for the one in the URL.
    """
    user = actor().user
    with one_reading() as reading:
        viewer, battle = user.user_id if user else None, battle or wanted_battle()
        match = lookup.find(reading, shown_kinds(), match_id, viewer, whole=whole, battle=battle)
    if match is None or not may_see(match):
        abort(404, NO_MATCH)
    if battle > match.kind.battles:
        abort(404, NO_MATCH)
    return match


def wanted_battle() -> int:
    """Return the requested battle number; abort with 404 if invalid."""
    text = request.args.get("battle", "1")
    if text not in ("1", "2"):
        abort(404, NO_MATCH)
    return int(text)


def may_see(match: MatchView) -> bool:
    """Return whether the current user may see a match.

    Some matches are for participants and admins only.
    """
    return match.kind.is_public or any(sees(seat) for seat in match.seats)


def sees(seat: SeatView) -> bool:
    """Return whether the current user sees all of a seat, as owner, team, host and admins do."""
    if actor().sees(seat.user_id):
        return True
    if seat.tournament is None:
        return False
    team = actor().team(seat.tournament)
    return (team is not None and team.team_id == seat.team_id) or actor().is_host(seat.tournament)


def sentence(match: MatchView) -> str:
    """Return the status text of a match that cannot be watched."""
    kind = kind_of(match)
    words = kind.words(match)
    if words is not None:
        return words
    if match.state == "done" and match.reason == NOBODY:
        return UNPLAYED
    share = share_of(match)
    if share is not None:
        return OWN_SHARE.format(used=share.used, places=share.places)
    days = resources().settings.replay_days
    return SENTENCES[match.state].format(turn=match.turn, reason=match.reason, days=days)


def share_of(match: MatchView) -> Used | None:
    """Return the slot usage of the player whose share delays a match, or None.

    Also returns None if the players are hidden.
    """
    if match.state != "queued" or match.is_hidden:
        return None
    with one_reading() as reading:
        experiments = shown_kinds().experiments
        return why_match_waits(reading, match.match_id, experiments)


@routes.get("/match/<match_id>")
def page(match_id: str) -> ResponseReturnValue:
    """Show a match, or its status."""
    match, battle = find(match_id), wanted_battle()
    with one_reading() as reading:
        (match,) = lookup.with_ratings(reading, [match])
        kind = kind_of(match)
        part = kind.part(reading, match, battle)
    viewer = viewer_or_nothing(match, part.people, plays=match.kind.plays_at_once)
    return render_template(
        "hub/matches/match.html",
        match=match,
        part=part,
        viewer=viewer,
        battle=battle,
        title=title_of(match.game),
        sentence=sentence(match),
        own=own_slots(match),
        workshop=workshop_of(match, battle),
    )


def workshop_of(match: MatchView, battle: int) -> str:
    """Return the workshop URL for trying a bot in a position of a match, or "".

    "" if the workshop does not support the game. The opponent is the built-in bot that did best in
    the match. Users' bots are never opponents here: without a built-in one, the page chooses the
    opponent.
    """
    if not written_at(match.game):
        return ""
    built_in = house.strategies_by_name(match.game)
    seats = (seat for seat in match.by_place if seat.team is None and seat.name in built_in)
    opponent = next((built_in[seat.name] for seat in seats), None)
    replay = replay_name(match, battle)
    return url_for("workshop.page", game=match.game, opponent=opponent, replay=replay)


@lru_cache
def title_of(game: str) -> str:
    """Return the title of a game; cached, as it does not change while a process runs."""
    return game_page(game).title


def viewer_or_nothing(match: MatchView, people: str | None = None, *, plays: bool) -> Markup | str:
    """Return the HTML of the viewer of a finished or live match; "" for any other."""
    is_live = match.state == "in_progress" and is_shown(match.game)
    if not (is_live or match.replay_key):
        return ""
    root, battle = request.script_root, 1 if is_live else wanted_battle()
    return viewer_of(root, match.match_id, people, plays=plays, battle=battle, is_live=is_live)


@lru_cache(maxsize=256)
def viewer_of(
    _root: str, match_id: str, people: str | None, *, plays: bool, battle: int, is_live: bool
) -> Markup:
    """Return the cached HTML of a match viewer: only its URLs differ."""
    viewer = get_template_attribute("viewer.html", "viewer")
    if is_live:
        live = url_for("live.document", match_id=match_id)
        return cast(Markup, viewer(people=people, live=live, every=LIVE_EVERY))
    part: Markup = viewer(
        url_for("match.document", match_id=match_id, battle=battle if battle > 1 else None),
        f"{match_id}-b{battle}.json" if battle > 1 else f"{match_id}.json",
        people=people,
        plays=plays,
    )
    return part


def own_slots(match: MatchView) -> set[int]:
    """Return the slots of the current user's bots, as fault messages are for owners only."""
    return {seat.slot for seat in match.seats if sees(seat)}


@routes.get("/match/<match_id>/state")
def state(match_id: str) -> Response:
    """Return the status of a match to its page's script; 304 if nothing has changed."""
    return polls.answer(f"match {match_id}", lambda: polled(find(match_id)))


def polled(match: MatchView) -> Polled:
    """Return what the page of a match polls."""
    watched = match.state == "in_progress" and is_shown(match.game)
    words = sentence(match)
    payload = {"state": match.state, "sentence": words, "watched": watched}
    # The reason for waiting can change while the row does not.
    return Polled(f"{match.tag}-{crc32(words.encode())}", payload, match.kind.is_public)


@routes.get("/replay/<match_id>")
def replay(match_id: str) -> ResponseReturnValue:
    """Show only the replay of a match, for shared links; other sites may embed it.

    Without a replay, before or after the end, a message explains why.
    """
    match = find(match_id)
    embedded, plays = (request.args.get(name) == "1" for name in ("embed", "play"))
    answer = make_response(
        render_template(
            "hub/matches/replay.html",
            match=match,
            embedded=embedded,
            viewer=viewer_or_nothing(match, plays=plays),
            sentence=sentence(match),
        )
    )
    if embedded:
        answer.headers["Content-Security-Policy"] = EMBEDDED
    return answer


@routes.get("/match/<match_id>/replay")
def document(match_id: str) -> ResponseReturnValue:
    """Redirect to the replay for the viewer, by a link created for users who may see it."""
    match = find(match_id)
    if match.replay_key is None:
        abort(404, sentence(match))
    return lead_to(viewed_key(match.game, match.replay_key))


@routes.get("/match/<match_id>/download")
def download(match_id: str) -> ResponseReturnValue:
    """Redirect to the replay in the format of its game, or the arena's if it has none."""
    match = find(match_id)
    if match.replay_key is None:
        abort(404, sentence(match))
    return lead_to(own_key(match.replay_key))


def replay_name(match: MatchView, battle: int) -> str | None:
    """Return the name of a battle's replay in the workshop, or None."""
    if match.replay_key is None:
        return None
    return f"{match.match_id}{SECOND if battle > 1 else ''}"


def replay_key(name: str) -> str:
    """Return the key of the viewer's replay; abort with 404 if the user may not see it."""
    match = find(name.removesuffix(SECOND), battle=1 + name.endswith(SECOND))
    if match.replay_key is None:
        abort(404, sentence(match))
    return viewed_key(match.game, match.replay_key)


def replay_address(name: str) -> str:
    """Return the URL from which the viewer reads a replay."""
    battle = 2 if name.endswith(SECOND) else None
    return url_for("match.document", match_id=name.removesuffix(SECOND), battle=battle)


def lead_to(key: str) -> ResponseReturnValue:
    """Redirect to an object by a link that expires, so the redirect must not be cached."""
    answer = redirect(link_to(key), 302)
    answer.headers["Cache-Control"] = "no-store"
    return answer


card_pages_routes = Blueprint("cards", __name__)

LASTS: Final = "public, max-age=86400"


def card_pages_install(app: Flask) -> None:
    """Set up the preview image cache of an app."""
    app.extensions["cards"] = Cards()


@card_pages_routes.app_template_global("card_of")
def address(match_id: str | None, game: str) -> str:
    """Return the URL of a match's preview image, or without a match that of its game's image."""
    return address_of("cards.picture", match_id=match_id) if match_id else picture_of(game)


@card_pages_routes.get("/match/<match_id>/picture.png")
def picture(match_id: str) -> ResponseReturnValue:
    """Return an image of a finished match's last turn; otherwise redirect to its game's image."""
    match = find(match_id)
    image: bytes | None = b""
    if match.state == "done" and match.replay_key and match.kind.is_public:
        key = viewed_key(match.game, match.replay_key)
        cards = cast(Cards, current_app.extensions["cards"])
        image = cards.find(key, partial(file_at, resources().objects, key))
    if not image:
        answer = redirect(picture_of(match.game), 302)
        answer.headers["Cache-Control"] = "no-store"
        return answer
    answer = Response(image, mimetype="image/png")
    answer.headers["Cache-Control"] = LASTS
    return answer
