"""Pages of friendly matches: they are started, watched and stopped by the owners of bots."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from flask import Blueprint, abort, render_template, request, url_for
from flask.typing import ResponseReturnValue
from markupsafe import Markup

from cw.errors import CapacityError, UsageError
from cw.games.registry import load_strategies
from cw_hub.accounts.actor import (
    actor,
    must_confirm,
    one_writing,
    player,
    players_only,
    players_only_json,
)
from cw_hub.accounts.pages import redirect_to
from cw_hub.bots import check_requests, checks, versions
from cw_hub.bots import pages as bots_pages
from cw_hub.bots import service as bots_service
from cw_hub.bots.pages import address
from cw_hub.bots.programs import why_off
from cw_hub.bots.service import OF_ITS_OWN, BotView
from cw_hub.bots.version_pages import url
from cw_hub.matches import friendly, friendly_ticks, planning
from cw_hub.matches.friendly import CHALLENGE, COMPARISON, PRACTICE, ChallengeView, ComparisonView
from cw_hub.matches.match_types import NO_PART, MatchPart, MatchType, MatchView
from cw_hub.matches.pages import shown_kinds
from cw_hub.pages import polls
from cw_hub.pages.layout import notice, part_of_page
from cw_hub.pages.polls import Polled
from cw_hub.pages.request import one_reading, resources, whole_number
from cw_hub.pages.request_counts import allowance, note_done
from cw_hub.store.database import Reading

challenge_routes = Blueprint("challenges", __name__)

bot_routes: Final = bots_pages.routes
"""Practice and comparisons extend the blueprint with a player's bot pages."""

NO_BOT: Final = "There is no such bot."
NO_CHALLENGE: Final = "There is no such challenge."
NO_COMPARISON: Final = "There is no such comparison."
NO_OWN: Final = "Please choose a bot of yours that plays this game."


def begun(bot: BotView, begin: Callable[[], str]) -> ResponseReturnValue:
    """Redirect to the URL of what a function begins; if it is refused, to the bot's page."""
    try:
        return redirect_to(begin())
    except (UsageError, CapacityError) as error:
        notice(str(error), "bad")
        return redirect_to(address(bot))


# Practice


def practice_part(bot: BotView) -> Markup:
    """Return the part of a bot's page with its practice matches, shown to its owner."""
    if bot.status not in bots_service.ASKED:
        return Markup()
    with one_reading() as reading:
        matches = friendly.practice_of(reading, shown_kinds(), bot.id)
    return part_of_page(
        "hub/matches/own_practice.html",
        bot=bot,
        strategies=list(load_strategies(bot.game)),
        allowance=allowance("test-match"),
        matches=matches,
    )


@bot_routes.post("/bot/<name>/test-match")
@players_only
def practise(name: str) -> ResponseReturnValue:
    """Play a practice match against a built-in strategy; redirect to its page."""
    bot, strategy = bots_pages.find(name), request.form.get("opponent", "")
    return begun(bot, lambda: page_of(begin_practice(bot, strategy)))


def page_of(match_id: str) -> str:
    """Return the URL of the page of a match."""
    return url_for("match.page", match_id=match_id)


def begin_practice(bot: BotView, strategy: str) -> str:
    """Start a practice match of a player's bot; return its public id.

    Raises the errors of `friendly.practise` before anything is counted; aborts with 422 if there is
    no such strategy, and with 403 and 429 like `check_requests.claim_bot`.
    """
    hub = resources()
    if strategy not in load_strategies(bot.game):
        abort(422, friendly.NO_OPPONENT)
    if bot.status != "ACTIVE":
        with one_reading() as reading:
            friendly.must_be_free(reading, bot.id)
        check_requests.claim_bot(bot, checks.PRACTICE)
    with one_writing() as writing:
        match, match_id = friendly.practise(writing, bot.id, strategy)
    note_done()
    planning.send_now(hub, match, PRACTICE)
    return match_id


# Challenges


def challenge_part(bot: BotView) -> Markup:
    """Return the form on a bot's page that starts a challenge against it."""
    user = actor().user
    if bot.status != "ACTIVE" or bot.game == OF_ITS_OWN:
        return Markup()
    own: list[BotView] = []
    left = None
    if user is not None:
        with one_reading() as reading:
            mine = bots_service.bots_of_user(reading, user.user_id)
        of_game = [one for one in mine if one.game == bot.game and one.status == "ACTIVE"]
        own = [one for one in of_game if one.id != bot.id]
        left = friendly.allowance(resources(), user.user_id)
        if not own and user.user_id == bot.user_id:
            return Markup()
    return part_of_page(
        "hub/matches/challenge_form.html",
        bot=bot,
        own=own,
        allowance=left,
        series=friendly.SERIES,
    )


def own_challenges_part(bot: BotView) -> Markup:
    """Return the list of a bot's challenges, shown to its owner."""
    with one_reading() as reading:
        rows = friendly.challenges_of(reading, bot.id)
    return part_of_page("hub/matches/own_challenges.html", challenges=rows) if rows else Markup()


@challenge_routes.post("/bot/<name>/challenge", endpoint="begin")
@players_only
def begin_challenge(name: str) -> ResponseReturnValue:
    """Challenge a public bot with the player's bot; redirect to the match or the series."""
    with one_reading() as reading:
        bot = bots_service.find(reading, request.form.get("game") or None, name)
        own = bot and bots_service.find(reading, bot.game, request.form.get("own", ""))
    if bot is None or bot.game == OF_ITS_OWN:
        abort(404, NO_BOT)
    matches = whole_number(request.form.get("matches", ""), 1) or 0

    def begin() -> str:
        user_id = player().user_id
        if own is None or own.user_id != user_id:
            raise UsageError(NO_OWN)
        challenge = friendly.begin_challenge(resources(), user_id, own.id, bot.id, matches)
        if matches == 1:
            return page_of(read_challenge(challenge).matches[0].match_id)
        return url_for("challenges.page", challenge=challenge)

    return begun(bot, begin)


def read_challenge(challenge: str) -> ChallengeView:
    """Return a challenge, whoever the current user is; abort with 404 if there is none."""
    with one_reading() as reading:
        view = friendly.find_challenge(reading, shown_kinds(), challenge)
    return view or abort(404, NO_CHALLENGE)


def find_challenge(challenge: str) -> ChallengeView:
    """Return a challenge in which the current user's bot plays; abort with 404 for any other."""
    view = read_challenge(challenge)
    if not any(actor().sees(side.user_id) for side in (view.challenger, view.challenged)):
        abort(404, NO_CHALLENGE)
    return view


def stop_own_challenge(challenge: str) -> None:
    """Stop a challenge started by the current user; abort with 404 for any other."""
    if not actor().is_user(read_challenge(challenge).challenger.user_id or 0):
        abort(404, NO_CHALLENGE)
    with one_writing() as writing:
        friendly.stop_challenge(writing, challenge)


@challenge_routes.get("/challenge/<challenge>", endpoint="page")
@players_only
def challenge_page(challenge: str) -> ResponseReturnValue:
    """Show a challenge to the owners of both bots."""
    view = find_challenge(challenge)
    return render_template(
        "hub/matches/challenge.html",
        challenge=view,
        standing=standing(view),
        may_stop=actor().is_user(view.challenger.user_id or 0) and not view.is_over,
    )


def standing(view: ChallengeView) -> Markup:
    """Return the part of the page that changes while a challenge is running."""
    return part_of_page("hub/matches/challenge_standing.html", challenge=view)


@challenge_routes.get("/challenge/<challenge>/state", endpoint="state")
@players_only_json
def challenge_state(challenge: str) -> ResponseReturnValue:
    """Return the status of a challenge to its page's script; 304 if nothing has changed."""

    def look() -> Polled:
        view = find_challenge(challenge)
        payload = {"isOver": view.is_over, "standing": standing(view)}
        return Polled(view.tag, payload, is_public=False)

    return polls.answer(f"challenge {challenge}", look)


@challenge_routes.post("/challenge/<challenge>/stop", endpoint="stop")
@players_only
def stop_challenge(challenge: str) -> ResponseReturnValue:
    """Cancel the remaining matches."""
    stop_own_challenge(challenge)
    return redirect_to(url_for("challenges.page", challenge=challenge))


TRAIL: Final = Markup('<p class="trail"><a href="{}">The series</a></p>')


def match_part(reading: Reading, match: MatchView, _battle: int) -> MatchPart:
    """Return the link to a match's series, or nothing for a single match."""
    series = friendly.series_of(reading, match.match_id)
    if series is None:
        return NO_PART
    return MatchPart(top=TRAIL.format(url_for("challenges.page", challenge=series)))


# Comparisons


def comparisons_part(bot: BotView) -> Markup:
    """Return the part of a bot's page with its comparisons, shown to its owner."""
    with one_reading() as reading:
        ready = [one for one in versions.versions_of(reading, bot.id) if one.state == "ready"]
        comparisons = friendly.comparisons_of(reading, bot.id)
    if not ready and not comparisons:
        return Markup()
    return part_of_page(
        "hub/matches/own_comparisons.html",
        bot=bot,
        url=url,
        ready=ready,
        comparisons=comparisons,
        strategies=list(load_strategies(bot.game))[::-1],
        can_begin=not why_off(resources().settings),
    )


@bot_routes.post("/bot/<name>/comparisons")
@players_only
def begin_comparison(name: str) -> ResponseReturnValue:
    """Start a comparison of two versions, or with a built-in strategy; redirect to its page."""
    bot, hub = bots_pages.find(name), resources()
    why = why_off(hub.settings) or (check_requests.UNCONFIRMED if must_confirm() else "")
    if why:
        abort(409, why)
    new = whole_number(request.form.get("new", ""), least=1) or 0
    against = request.form.get("against", "")

    def begin() -> str:
        version = whole_number(against, least=1)
        with one_writing() as writing:
            number = friendly.begin_comparison(writing, bot, new, version or against)
        note_done()
        return url(bot, "comparison", number=number)

    return begun(bot, begin)


def find_comparison(name: str, number: int) -> tuple[BotView, ComparisonView]:
    """Return a player's bot, and a comparison of it; abort with 404 if there is none."""
    bot = bots_pages.find(name)
    with one_reading() as reading:
        view = friendly.find_comparison(reading, bot.id, number)
    return bot, view or abort(404, NO_COMPARISON)


@bot_routes.get("/bot/<name>/comparisons/<int:number>", endpoint="comparison")
@players_only
def comparison_page(name: str, number: int) -> ResponseReturnValue:
    """Show a comparison to the bot's owner only."""
    bot, view = find_comparison(name, number)
    with one_reading() as reading:
        matches = friendly.last_pairs(reading, shown_kinds(), view.row)
    return render_template(
        "hub/matches/comparison.html",
        bot=bot,
        back=address(bot),
        url=url,
        comparison=view,
        matches=matches,
    )


@bot_routes.get("/bot/<name>/comparisons/<int:number>/state")
@players_only_json
def comparison_state(name: str, number: int) -> ResponseReturnValue:
    """Return the status of a comparison to its page's script; 304 if nothing has changed."""

    def look() -> Polled:
        _, view = find_comparison(name, number)
        payload = {
            "state": view.row.state,
            "sentence": view.sentence,
            "planned": view.row.planned,
        }
        return Polled(view.tag, payload, is_public=False)

    return polls.answer(f"comparison {request.args.get('game', '')} {name} {number}", look)


@bot_routes.post("/bot/<name>/comparisons/<int:number>/stop")
@players_only
def stop_comparison(name: str, number: int) -> ResponseReturnValue:
    """Stop a comparison."""
    bot, _ = find_comparison(name, number)
    with one_writing() as writing:
        friendly.stop_comparison(writing, number)
    return redirect_to(url(bot, "comparison", number=number))


class PracticeType(MatchType):
    """A match of one's own bot against a built-in strategy."""

    name = PRACTICE
    is_public = False
    battles = 2
    plays_as_competition = True
    plays_at_once = True
    keeps = "none"


class ChallengeType(MatchType):
    """A match of one's own bot against another player's."""

    name = CHALLENGE
    is_public = False
    plays_at_once = True
    keeps = "none"
    is_of_value = True
    sends_itself = True
    waits_for_ticks = True
    send = staticmethod(friendly_ticks.to_send)
    part = staticmethod(match_part)


class ComparisonType(MatchType):
    """A pair of games of two versions of a bot, or of a version and a strategy."""

    name = COMPARISON
    is_public = False
    is_experiment = True
    battles = friendly.GAMES
    plays_at_once = True
    keeps = "none"
    claim = staticmethod(friendly.claim_versions)
    external_bots = staticmethod(friendly.older_version)


MATCH_TYPES: Final = (PracticeType(), ChallengeType(), ComparisonType())
