"""Challenges in the API: started with a bot of the requester, read, and stopped."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from flask import abort
from msgspec import Meta, Struct

from cw.errors import CapacityError, UsageError
from cw_hub.accounts.access.actor import player
from cw_hub.api.operations import Routes
from cw_hub.matches.challenges import allowance, pages, verbs
from cw_hub.matches.challenges.allowance import NoneLeft
from cw_hub.matches.challenges.views import ChallengeView
from cw_hub.pages import limiter
from cw_hub.pages.request import resources
from cw_hub.site.api import facts
from cw_hub.site.api.documents import ChallengeFacts, MatchesLeft
from cw_hub.site.api.reading import find_bot
from cw_hub.site.api.writing import find_own

routes: Final = Routes()


class Challenge(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A challenge: the bot to play against, and how often."""

    opponent: Annotated[str, Meta(pattern="^b_[0-9a-f]{8}$", description="Its `bot_id`.")]
    matches: Literal[1, 10] = 1
    """Ten matches play five seeds from both seats."""


def challenge_facts(view: ChallengeView) -> ChallengeFacts:
    """Return the status of a challenge, and the requester's remaining allowance."""
    left = allowance.allowance(resources(), player().user_id)
    return ChallengeFacts(
        challenge_id=view.id,
        game=view.game,
        bot_id=view.challenger.bot_id,
        opponent=view.challenged.bot_id,
        is_over=view.is_over,
        won=view.won,
        drawn=view.drawn,
        lost=view.lost,
        matches=[facts.match_facts(match) for match in view.matches],
        left=None if left is None else MatchesLeft(matches=left.left, more_at=left.more_at),
    )


@routes.add("POST", "/bots/<bot_id>/challenges", scope="bots", code=201)
def begin_challenge(bot_id: str, body: Challenge) -> ChallengeFacts:
    """Challenge a public bot with one of your bots, in practice."""
    own, opponent = find_own(bot_id), find_bot(body.opponent)
    try:
        challenge = pages.begin_between(own, opponent, body.matches)
    except NoneLeft as error:
        limiter.refuse(error.limit, error.until)
    except (UsageError, CapacityError) as error:
        abort(409, str(error))
    return challenge_facts(pages.read_challenge(challenge))


@routes.add("GET", "/challenges/<challenge_id>", is_owners=True)
def challenge(challenge_id: str) -> ChallengeFacts:
    """Return the status of a challenge, to the owners of both bots and to admins."""
    return challenge_facts(pages.find_challenge(challenge_id))


@routes.add("POST", "/challenges/<challenge_id>/stop", scope="bots")
def stop_challenge(challenge_id: str) -> ChallengeFacts:
    """Cancel the remaining matches of a challenge."""
    hub = resources()
    pages.own_challenge(challenge_id)
    with hub.database.writing() as writing:
        verbs.stop(writing, hub.clock, challenge_id)
    return challenge_facts(pages.read_challenge(challenge_id))
