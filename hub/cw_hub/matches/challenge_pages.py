"""Pages where players challenge a public bot, follow the challenge, and stop it."""

from __future__ import annotations

from typing import Final

from flask import Blueprint, abort, request, url_for
from flask import render_template as render
from flask.typing import ResponseReturnValue
from markupsafe import Markup

from cw.errors import CapacityError, UsageError
from cw_hub.accounts.actor import actor, one_writing, player, players_only, players_only_json
from cw_hub.accounts.pages import go
from cw_hub.bots import service as bots_service
from cw_hub.bots.pages import address
from cw_hub.bots.service import OF_ITS_OWN, BotView
from cw_hub.matches import challenges
from cw_hub.matches.challenges import LENGTHS, NAME, SERIES, ChallengeView
from cw_hub.matches.match_types import NO_PART, MatchPart, MatchType, MatchView
from cw_hub.matches.pages import shown_kinds
from cw_hub.pages import polls
from cw_hub.pages.layout import notice, part_of_page
from cw_hub.pages.polls import Polled
from cw_hub.pages.request import one_reading, resources, whole_number
from cw_hub.store.database import Reading

routes = Blueprint("challenges", __name__)

NO_CHALLENGE: Final = "There is no such challenge."
NO_BOT: Final = "There is no such bot."
NO_LENGTH: Final = f"Please choose one match, or a series of {SERIES}."
NO_OWN: Final = "Please choose a bot of yours that plays this game."


def part(bot: BotView) -> Markup:
    """Return the form on a bot's page that starts a challenge against it."""
    user = actor().user
    if bot.status != "ACTIVE" or bot.game == OF_ITS_OWN:
        return Markup()
    own: list[BotView] = []
    left = None
    if user is not None:
        with one_reading() as reading:
            own = challengers(bots_service.bots_of_user(reading, user.user_id), bot)
        left = challenges.allowance(resources(), user.user_id)
        if not own and user.user_id == bot.user_id:
            return Markup()
    return part_of_page(
        "hub/matches/challenge_form.html",
        bot=bot,
        own=own,
        allowance=left,
        series=SERIES,
        most=resources().settings.challenges,
    )


def challengers(own: list[BotView], bot: BotView) -> list[BotView]:
    """Return the bots among `own` that can challenge a bot."""
    return [
        one for one in own if one.game == bot.game and one.status == "ACTIVE" and one.id != bot.id
    ]


def own_part(bot: BotView) -> Markup:
    """Return the list of a bot's challenges, shown to its owner."""
    with one_reading() as reading:
        of_bot = challenges.of_bot(reading, bot.id)
    if not of_bot:
        return Markup()
    return part_of_page("hub/matches/own_challenges.html", challenges=of_bot)


@routes.post("/bot/<name>/challenge")
@players_only
def begin(name: str) -> ResponseReturnValue:
    """Challenge a public bot with the player's bot; redirect to the match or the series."""
    with one_reading() as reading:
        bot = bots_service.find(reading, request.form.get("game") or None, name)
        challenger = bot and bots_service.find(reading, bot.game, request.form.get("own", ""))
    if bot is None or bot.game == OF_ITS_OWN:
        abort(404, NO_BOT)
    matches = whole_number(request.form.get("matches", ""), 1) or 0
    try:
        if challenger is None or challenger.user_id != player().user_id:
            raise UsageError(NO_OWN)
        challenge = begin_between(challenger, bot, matches)
    except (UsageError, CapacityError) as error:
        notice(str(error), "bad")
        return go(address(bot))
    view = read_challenge(challenge)
    if len(view.matches) == 1:
        return go(url_for("match.page", match_id=view.matches[0].match_id))
    return go(url_for("challenges.page", challenge=challenge))


def begin_between(own: BotView, bot: BotView, matches: int) -> str:
    """Start a challenge by a player's bot; return its id.

    Raises the errors of `challenges.begin`, and NoneLeft; in both cases nothing is counted.
    """
    if matches not in LENGTHS:
        raise UsageError(NO_LENGTH)
    hub, user_id = resources(), player().user_id
    with challenges.counting(hub, user_id, matches), one_writing() as writing:
        return challenges.begin(writing, own.id, bot.id, matches)


def read_challenge(challenge: str) -> ChallengeView:
    """Return a challenge, whoever the current user is; abort with 404 if there is none."""
    with one_reading() as reading:
        return challenges.find(reading, shown_kinds(), challenge) or abort(404, NO_CHALLENGE)


def find_challenge(challenge: str) -> ChallengeView:
    """Return a challenge in which the current user's bot plays; abort with 404 for any other."""
    view = read_challenge(challenge)
    if not any(actor().sees(side.user_id) for side in (view.challenger, view.challenged)):
        abort(404, NO_CHALLENGE)
    return view


def own_challenge(challenge: str) -> ChallengeView:
    """Return a challenge started by the current user; abort with 404 for any other."""
    view = read_challenge(challenge)
    return view if is_challenger(view) else abort(404, NO_CHALLENGE)


def is_challenger(view: ChallengeView) -> bool:
    """Return whether the current user owns the challenger."""
    user_id = view.challenger.user_id
    return user_id is not None and actor().is_user(user_id)


@routes.get("/challenge/<challenge>")
@players_only
def page(challenge: str) -> ResponseReturnValue:
    """Show a challenge to the owners of both bots."""
    view = find_challenge(challenge)
    return render(
        "hub/matches/challenge.html",
        challenge=view,
        standing=standing(view),
        may_stop=is_challenger(view) and not view.is_over,
    )


def standing(view: ChallengeView) -> Markup:
    """Return the part of the page that changes while a challenge is running."""
    return part_of_page("hub/matches/challenge_standing.html", challenge=view)


@routes.get("/challenge/<challenge>/state")
@players_only_json
def state(challenge: str) -> ResponseReturnValue:
    """Return the status of a challenge to its page's script; 304 if nothing has changed."""
    return polls.answer(f"challenge {challenge}", lambda: polled(find_challenge(challenge)))


def polled(view: ChallengeView) -> Polled:
    """Return what the page of a running challenge polls."""
    payload = {"isOver": view.is_over, "standing": standing(view)}
    return Polled(view.tag, payload, is_public=False)


@routes.post("/challenge/<challenge>/stop")
@players_only
def stop(challenge: str) -> ResponseReturnValue:
    """Cancel the remaining matches."""
    own_challenge(challenge)
    with one_writing() as writing:
        challenges.stop(writing, challenge)
    return go(url_for("challenges.page", challenge=challenge))


TRAIL: Final = Markup('<p class="trail"><a href="{}">The series</a></p>')


def challenge_part(reading: Reading, match: MatchView, _battle: int) -> MatchPart:
    """Return the link to a match's series, or nothing for a single match."""
    series = challenges.series_of(reading, match.match_id)
    if series is None:
        return NO_PART
    return MatchPart(top=TRAIL.format(url_for("challenges.page", challenge=series)))


class ChallengeType(MatchType):
    """A match of a challenge: one's own bot against another player's."""

    name = NAME
    is_public = False
    plays_at_once = True
    keeps = "none"
    is_of_value = True
    sends_itself = True
    waits_for_ticks = True
    send = staticmethod(challenges.to_send)
    part = staticmethod(challenge_part)


CHALLENGE: Final = ChallengeType()
