"""The language of a draft: one that live workers run; replacing a draft needs confirmation."""

from __future__ import annotations

from typing import Final

from flask import render_template, request, url_for
from flask.typing import ResponseReturnValue

from cw.errors import UsageError
from cw.kits import LANGUAGES, languages_of
from cw.web.games.game_pages import game_page
from cw.workshop.building import digest_of
from cw.workshop.folder import ChangedMeanwhile
from cw_hub.accounts.access.actor import players_only
from cw_hub.accounts.pages import go
from cw_hub.bots.versions import languages
from cw_hub.bots.workshop import drafts
from cw_hub.bots.workshop import pages as workshop
from cw_hub.bots.workshop.pages import language_of, own_draft, refuse_unfit
from cw_hub.pages.parts import notice
from cw_hub.pages.request import one_reading, resources

routes: Final = workshop.routes
"""These pages belong to the workshop's."""

NOT_HERE: Final = "Choose one of the languages that run here."
CHANGED: Final = (
    "Another window has changed your draft since you were asked. Nothing was replaced: look at the"
    " draft, and choose again."
)
BEGUN: Final = "Your draft begins with the kit for {}."


@routes.get("/<game:game>/language")
@players_only
def choose_language(game: str) -> ResponseReturnValue:
    """Show the languages that a draft may be written in, and whether the draft would be lost."""
    refuse_unfit(game)
    return language_page(game)


def language_page(game: str, error: str = "") -> str:
    """Return the page for choosing a language, with an error if any."""
    with one_reading() as reading:
        draft = drafts.files(reading, own_draft(game))
        versions = running(game)
    return render_template(
        "hub/bots/language.html",
        game=game,
        page=game_page(game),
        versions={name: (LANGUAGES[name].title, number) for name, number in versions.items()},
        present=language_of(draft),
        is_touched=not drafts.is_untouched(game, draft),
        base=digest_of(draft),
        error=error,
    )


def running(game: str) -> dict[str, str]:
    """Return the languages with a kit for a game that live workers run, with their versions."""
    with one_reading() as reading:
        versions = languages.offered(reading, resources().clock)
    return {name: versions[name] for name in languages_of(game) if name in versions}


@routes.post("/<game:game>/language")
@players_only
def set_language(game: str) -> ResponseReturnValue:
    """Replace the draft with the kit of a language; 409 if it was changed meanwhile."""
    refuse_unfit(game)
    hub, language = resources(), request.form.get("language", "")
    if language not in running(game):
        return language_page(game, NOT_HERE), 422
    base = request.form.get("base", "")
    try:
        with hub.database.writing() as writing:
            drafts.begin_again(writing, hub.clock, own_draft(game), language, base)
    except ChangedMeanwhile:
        return language_page(game, CHANGED), 409
    except UsageError as error:
        return language_page(game, str(error)), 422
    notice(BEGUN.format(LANGUAGES[language].title))
    return go(url_for("workshop.page", game=game))
