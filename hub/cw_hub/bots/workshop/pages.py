"""The workshop of a hub: its page, and the files of drafts."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from flask import Blueprint, Response, abort, g, make_response, render_template, request, url_for
from flask.typing import ResponseReturnValue

from cw.errors import UsageError
from cw.kits import LANGUAGES, languages_of
from cw.web.games.game_pages import game_page
from cw.web.games.game_routes import strategies
from cw.web.workshop.workshop_routes import (
    LARGEST_BODY,
    NONCE_BYTES,
    Saved,
    ShownReplay,
    body,
    file_document,
    first_steps,
    fresh,
    replay_in,
    reply,
)
from cw.workshop.building import digest_of
from cw.workshop.folder import ChangedMeanwhile, TextFile
from cw.workshop.project import MAIN, USUAL, seats_of
from cw.workshop.series import FEWEST, MOST
from cw_hub.accounts.access.actor import player, players_only, players_only_json
from cw_hub.bots import pages as bots
from cw_hub.bots import views
from cw_hub.bots.programs import why_off
from cw_hub.bots.versions.own_game import OF_ITS_OWN
from cw_hub.bots.workshop import drafts, tasks
from cw_hub.bots.workshop.drafts import Draft
from cw_hub.bots.workshop.opponents import own_versions
from cw_hub.bots.workshop.replays import known_replays
from cw_hub.pages.request import one_reading, resources

routes = Blueprint("workshop", __name__, url_prefix="/workshop")

USUAL_OPPONENT: Final = "random"
NO_WORKSHOP: Final = "There is no workshop for this game here."


@routes.get("/<game:game>/")
@players_only
def page(game: str) -> ResponseReturnValue:
    """Return the page where the player writes a bot."""
    refuse_unfit(game)
    with one_reading() as reading:
        draft = drafts.files(reading, own_draft(game))
        mine = views.bots_of_user(reading, player().user_id)
        versions = own_versions(reading, own_draft(game))
        has_run = tasks.find(reading, own_draft(game), "run") is not None
    language, opponents = language_of(draft), strategies(game)
    g.style_nonce = secrets.token_urlsafe(NONCE_BYTES)
    main = MAIN[language]
    return fresh(
        make_response(
            render_template(
                "hub/bots/workshop.html",
                game=game,
                page=game_page(game),
                language=language,
                how=LANGUAGES[language],
                main=main,
                nonce=g.style_nonce,
                has_run=has_run,
                replay=replay_in(request.args, shown_replay),
                first=first_steps(next((each.text for each in draft if each.name == main), "")),
                strategies=opponents,
                opponent=opponent_of(opponents),
                own_name=player().username if game == OF_ITS_OWN else "",
                versions=versions,
                seats=range(1, seats_of(game) + 1),
                fewest=FEWEST,
                most=MOST,
                bots=[bot.name for bot in mine if bot.game == game and bot.kind == "program"],
            )
        )
    )


def shown_replay(name: str) -> ShownReplay:
    """Return a replay of this site."""
    known = known_replays()
    return ShownReplay(name, known.address(name), known.page(name))


def opponent_of(opponents: Mapping[str, str]) -> str:
    """Return the opponent named by the query, or the usual one."""
    name = request.args.get("opponent", "")
    usual = USUAL_OPPONENT if USUAL_OPPONENT in opponents else next(iter(opponents))
    return name if name in opponents else usual


def refuse_unfit(game: str) -> None:
    """Answer 404 if a game has no kits or programs, 409 if no programs are run."""
    if not has_workshop(game):
        abort(404, NO_WORKSHOP)
    why = why_off(resources().settings)
    if why:
        abort(409, why)


@lru_cache
def has_workshop(game: str) -> bool:
    """Return whether a game has kits to begin with; cached, as kits do not change."""
    return game in bots.games_of_programs() and bool(languages_of(game))


def written_at(game: str) -> str:
    """Return the address of the page for writing bots of a game, or "" if there is none."""
    is_written = has_workshop(game) and not why_off(resources().settings)
    return url_for("workshop.page", game=game) if is_written else ""


def own_draft(game: str) -> Draft:
    """Return the current user's draft."""
    return Draft(player().user_id, game)


def language_of(draft: list[TextFile]) -> str:
    """Return the language of a draft, or the usual one if unknown."""
    names = {each.name for each in draft}
    return next((language for language, main in MAIN.items() if main in names), USUAL)


@routes.get("/<game:game>/files")
@players_only_json
def files(game: str) -> Response:
    """Return the files of the player's draft, each with text and digest; 304 if unchanged."""
    refuse_unfit(game)
    with one_reading() as reading:
        draft = drafts.files(reading, own_draft(game))
    main = MAIN[language_of(draft)]
    draft.sort(key=lambda each: (each.name != main, each.name))
    answer = reply({"files": [file_document(each) for each in draft]})
    answer.set_etag(digest_of(draft))
    answer.make_conditional(request)
    return answer


@routes.put("/<game:game>/files/<name>")
@players_only_json
def save(game: str, name: str) -> ResponseReturnValue:
    """Save a file; 409 with its present content if another window has changed it, 422 if unfit."""
    refuse_unfit(game)
    request.max_content_length = LARGEST_BODY
    hub = resources()
    try:
        sent: Saved = body(Saved)
        file = drafts.text_file(name, sent.text)
        with hub.database.writing() as writing:
            drafts.save(writing, hub.clock, own_draft(game), file, sent.base)
    except ChangedMeanwhile as changed:
        now = None if changed.now is None else file_document(changed.now)
        return reply({"error": str(changed), "now": now}, 409)
    except UsageError as error:
        return reply({"error": str(error)}, 422)
    return reply(file_document(file))
