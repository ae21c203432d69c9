"""Pages where a bot's owner starts, watches and stops comparisons of its versions."""

from __future__ import annotations

from typing import Final

from flask import abort, render_template, request
from flask.typing import ResponseReturnValue
from markupsafe import Markup

from cw.errors import UsageError
from cw_hub.accounts.actor import one_writing, players_only, players_only_json
from cw_hub.accounts.pages import go, must_confirm
from cw_hub.bots import versions
from cw_hub.bots.check_requests import UNCONFIRMED
from cw_hub.bots.pages import address, find, routes, strategies_of
from cw_hub.bots.programs import why_off
from cw_hub.bots.service import BotView, Busy
from cw_hub.bots.version_pages import url
from cw_hub.matches import comparisons as matches_comparisons
from cw_hub.matches.comparisons import ComparisonView, Opponent
from cw_hub.matches.pages import shown_kinds
from cw_hub.pages import polls
from cw_hub.pages.layout import notice, part_of_page
from cw_hub.pages.limiter import note_done
from cw_hub.pages.polls import Polled
from cw_hub.pages.request import one_reading, resources, whole_number

NO_COMPARISON: Final = "There is no such comparison."
BY_OWNER: Final = "its owner wished"


def find_comparison(bot: BotView, number: int) -> ComparisonView:
    """Return a comparison of a bot; abort with 404 if there is none."""
    with one_reading() as reading:
        comparison = matches_comparisons.find(reading, bot.id, number)
    return comparison or abort(404, NO_COMPARISON)


def part(bot: BotView) -> Markup:
    """Return the part of a bot's page with its comparisons, shown to its owner."""
    with one_reading() as reading:
        ready = [one for one in versions.versions_of(reading, bot.id) if one.state == "ready"]
        comparisons = matches_comparisons.of_bot(reading, bot.id)
    if not ready and not comparisons:
        return Markup()
    return part_of_page(
        "hub/matches/own_comparisons.html",
        bot=bot,
        url=url,
        ready=ready,
        comparisons=comparisons,
        strategies=list(reversed(strategies_of({bot.game})[bot.game])),
        can_begin=not why_off(resources().settings),
    )


@routes.post("/bot/<name>/comparisons")
@players_only
def begin_comparison(name: str) -> ResponseReturnValue:
    """Start a comparison of two versions, or with a built-in strategy; redirect to its page."""
    bot, hub = find(name), resources()
    why = why_off(hub.settings) or (UNCONFIRMED if must_confirm() else "")
    if why:
        abort(409, why)
    new = whole_number(request.form.get("new", ""), least=1) or 0
    try:
        with one_writing() as writing:
            number = matches_comparisons.begin(writing, bot, new, opponent_sent())
    except (UsageError, Busy) as error:
        notice(str(error), "bad")
        return go(address(bot))
    note_done()
    return go(url(bot, "comparison", number=number))


def opponent_sent() -> Opponent:
    """Return the opponent chosen in the form: a version number or a strategy."""
    text = request.form.get("against", "")
    number = whole_number(text, least=1)
    return Opponent(strategy=text) if number is None else Opponent(number)


@routes.get("/bot/<name>/comparisons/<int:number>")
@players_only
def comparison(name: str, number: int) -> ResponseReturnValue:
    """Show a comparison to the bot's owner only."""
    bot = find(name)
    view = find_comparison(bot, number)
    with one_reading() as reading:
        matches = matches_comparisons.matches_of(reading, shown_kinds(), view)
    return render_template(
        "hub/matches/comparison.html",
        bot=bot,
        back=address(bot),
        url=url,
        comparison=view,
        matches=matches,
    )


@routes.get("/bot/<name>/comparisons/<int:number>/state")
@players_only_json
def comparison_state(name: str, number: int) -> ResponseReturnValue:
    """Return the status of a comparison to its page's script; 304 if nothing has changed."""
    game = request.args.get("game", "")
    key = f"comparison {game} {name} {number}"
    return polls.answer(key, lambda: polled(find_comparison(find(name), number)))


def polled(view: ComparisonView) -> Polled:
    """Return what the page of a running comparison polls."""
    state = {
        "state": view.state,
        "sentence": view.sentence,
        "planned": view.planned,
    }
    return Polled(view.tag, state, is_public=False)


@routes.post("/bot/<name>/comparisons/<int:number>/stop")
@players_only
def stop_comparison(name: str, number: int) -> ResponseReturnValue:
    """Stop a comparison."""
    bot = find(name)
    find_comparison(bot, number)
    with one_writing() as writing:
        matches_comparisons.stop(writing, number, BY_OWNER)
    return go(url(bot, "comparison", number=number))
