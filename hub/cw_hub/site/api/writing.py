"""API operations that change data, for bot owners and for admins."""

from __future__ import annotations

from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Annotated, Final, Literal

from flask import abort
from msgspec import Meta, Struct
from werkzeug.datastructures import MultiDict
from wtforms import Form

from cw.errors import CapacityError, UsageError
from cw.games.registry import load_strategies
from cw_hub.accounts.actor import actor, must_confirm, one_writing, player
from cw_hub.accounts.forms import first_errors
from cw_hub.api import Invalid, List, Routes, document
from cw_hub.bots import check_requests, programs, version_pages, versions
from cw_hub.bots import service as bots_service
from cw_hub.bots.check_requests import CONFIRM, UNCONFIRMED
from cw_hub.bots.pages import DescriptionForm, EditForm, add, new_form, new_program_form
from cw_hub.bots.service import OF_ITS_OWN, BotView
from cw_hub.bots.version_pages import NO_VERSION
from cw_hub.bots.versions import NotReady, Version
from cw_hub.matches import friendly, friendly_pages, lookup
from cw_hub.matches.friendly import ChallengeView, NoneLeft
from cw_hub.matches.friendly_pages import begin_practice
from cw_hub.matches.pages import shown_kinds
from cw_hub.pages import request_counts
from cw_hub.pages.request import one_reading, resources, whole_number
from cw_hub.pages.request_counts import note_done
from cw_hub.players.packages import Package
from cw_hub.site.api import facts
from cw_hub.site.api.documents import (
    BotChange,
    BotFacts,
    BotWithSecret,
    ChallengeFacts,
    MatchesLeft,
    NewBot,
    Planned,
    ProgramFile,
    Retirement,
    Suspension,
    TestMatch,
    VersionFacts,
    VersionFile,
)
from cw_hub.site.api.reading import NO_BOT, find_bot


@contextmanager
def conflicts() -> Iterator[None]:
    """Abort with 409 if a bot, or its owner, cannot do something in their current state."""
    try:
        yield
    except (bots_service.WrongStatus, CapacityError, NotReady) as error:
        abort(409, str(error))


routes: Final = Routes()

NO_BASE64: Final = "This must be a file, encoded as base64."


def find_program(bot_id: str) -> BotView:
    """Return a program of the current user; abort with 404 for anyone else, admins included."""
    with one_reading() as reading:
        bot = bots_service.find_by_id(reading, bot_id)
    if bot is None or not actor().is_user(bot.user_id) or bot.status == "RETIRED":
        abort(404, NO_VERSION)
    return bot


def find(bot: BotView, number: str) -> Version:
    """Return a version of a bot; abort with 404 if there is none."""
    at = whole_number(number, least=1)
    with one_reading() as reading:
        version = None if at is None else versions.find_version(reading, bot.id, at)
    return version or abort(404, NO_VERSION)


def version_facts(bot: BotView, version: Version) -> VersionFacts:
    """Return a version for its author, if the token has the scope `read`."""
    is_active = version.number == bot.version
    if not actor().may("read"):
        return VersionFacts(number=version.number, is_active=is_active, state=version.state)
    return document(
        VersionFacts,
        version,
        is_active=is_active,
        files=version.log.split("\n"),
        checks=None if version.checks is None else [facts.step(entry) for entry in version.checks],
    )


def packed(program: ProgramFile, game: str) -> tuple[Package, str]:
    """Return an uploaded program and its note; raise Invalid if they are malformed."""
    why = programs.why_off(resources().settings)
    if why:
        abort(409, why)
    try:
        data = b64decode(program.data, validate=True)
        return version_pages.packed(program.file, data, game), version_pages.line_of(program.note)
    except (NotBase64, ValueError) as error:
        words = str(error) if isinstance(error, UsageError) else NO_BASE64
        raise Invalid({"data": words}) from None
    except UsageError as error:
        raise Invalid({"data": str(error)}) from None


@routes.add("GET", "/bots/<bot_id>/versions", scope="read")
def bot_versions(bot_id: str) -> List[VersionFacts]:
    """Return the last fifty versions of a program, the latest first, for its author only."""
    bot = find_program(bot_id)
    with one_reading() as reading:
        rows = versions.versions_of(reading, bot.id)
    return List(items=[version_facts(bot, version) for version in rows], next=None)


@routes.add("POST", "/bots/<bot_id>/versions", scope="bots", code=201)
def save_version(bot_id: str, body: ProgramFile) -> VersionFacts:
    """Save a version of a program, which is checked at once and plays if it passes."""
    bot, hub = find_program(bot_id), resources()
    if must_confirm():
        abort(403, UNCONFIRMED)
    package, note = packed(body, bot.game)
    with conflicts():
        number = version_pages.save(hub, bot.id, bot.bot_id, package, note)
    note_done()
    check_requests.send_check(bot.id, is_program=True)
    return version_facts(bot, find(bot, str(number)))


@routes.add("GET", "/bots/<bot_id>/versions/<number>", scope="read")
def bot_version(bot_id: str, number: str) -> VersionFile:
    """Return a version with its zip as base64, for its author only."""
    bot = find_program(bot_id)
    version = find(bot, number)
    data = programs.fetched(resources().objects, bot.bot_id, version.sha256)
    return VersionFile(version=version_facts(bot, version), data=b64encode(data).decode())


@routes.add("POST", "/bots/<bot_id>/versions/<number>/use", scope="bots")
def use_version(bot_id: str, number: str) -> VersionFacts:
    """Activate an earlier version that has passed its check, from the next match on."""
    bot = find_program(bot_id)
    version = find(bot, number)
    with conflicts(), one_writing() as writing:
        bots_service.use_version(writing, bot, version.number)
    if version.number != bot.version:
        note_done()
    bot = find_program(bot_id)
    return version_facts(bot, find(bot, number))


NOT_YOURS: Final = "This is not your bot."
ON_ITS_PAGE: Final = "Bots of End of Codes are set up on their page, /bots/end-of-codes."
ONE_KIND: Final = "A bot is a web service or a program, not both."
NO_ADDRESS: Final = "The bot is a program, which has no address."
NO_OPPONENT: Final = "There is no such strategy; there are: {names}."
OTHER_NAME: Final = "To retire the bot, confirm with its name, {name}."
NO_CHECKS: Final = "Bots cannot be checked right now. Please try again soon."


def find_own(bot_id: str) -> BotView:
    """Return a bot of the current user; abort with 403 for anyone else."""
    bot = find_bot(bot_id)
    if not actor().is_user(bot.user_id):
        abort(403, NOT_YOURS)
    if bot.game == OF_ITS_OWN:
        abort(409, ON_ITS_PAGE)
    return bot


def find_changeable(bot_id: str) -> BotView:
    """Return a bot of the current user; abort with 409 if it is suspended or retired."""
    bot = find_own(bot_id)
    if bot.status not in bots_service.ASKED:
        abort(409, bots_service.cannot(bot.status))
    return bot


def check_form(form: Form) -> None:
    """Raise Invalid for input that the page's form would reject, with the same messages."""
    form.validate()
    errors = first_errors(form)
    if errors:
        raise Invalid(errors)


def as_it_is(bot_id: str) -> BotFacts:
    """Return a bot in its current state, after a change."""
    bot = find_bot(bot_id)
    with one_reading() as reading:
        return facts.bot_facts(reading, bot)


@routes.add("POST", "/bots", scope="bots", code=201)
def register_bot(body: NewBot) -> BotWithSecret:
    """Register a bot, which is checked at once; a web service's secret is shown only once."""
    if must_confirm():
        abort(403, CONFIRM)
    new = bots_service.NewBot(body.game, body.name, body.endpoint.strip(), body.description)
    if body.program is not None:
        return register_program(new, body.program)
    check_form(new_form(form_of(new)))
    check_requests.claim_check(new.endpoint)
    bot = registered(new)
    return BotWithSecret(bot=as_it_is(bot.bot_id), shared_secret=bot.secret)


def register_program(new: bots_service.NewBot, program: ProgramFile) -> BotWithSecret:
    """Register a bot that is a program; raise Invalid if it also has a URL."""
    if new.endpoint:
        raise Invalid({"endpoint": ONE_KIND})
    if new.game == OF_ITS_OWN:
        raise Invalid({"game": ON_ITS_PAGE})
    check_form(new_program_form(form_of(new)))
    package, note = packed(program, new.game)
    bot = registered(new, is_program=True)
    version_pages.save(resources(), bot.id, bot.bot_id, package, note)
    check_requests.send_check(bot.id, is_program=True)
    return BotWithSecret(bot=as_it_is(bot.bot_id), shared_secret=None)


def form_of(new: bots_service.NewBot) -> MultiDict[str, str]:
    """Return a bot's data as the page's form would submit it."""
    return MultiDict({name: str(value) for name, value in asdict(new).items()})


def registered(new: bots_service.NewBot, *, is_program: bool = False) -> bots_service.Registered:
    """Create a bot; raise Invalid if the name is taken."""
    try:
        with conflicts():
            return add(new, is_program=is_program)
    except bots_service.NameTaken as error:
        raise Invalid({"name": str(error)}) from None


@routes.add("PATCH", "/bots/<bot_id>", scope="bots")
def change_bot(bot_id: str, body: BotChange) -> BotFacts:
    """Change the endpoint or description of a bot; a new endpoint is checked at once."""
    bot = find_changeable(bot_id)
    endpoint = (bot.endpoint if body.endpoint is None else body.endpoint).strip()
    description = bot.description if body.description is None else body.description
    if bot.kind != "url" and endpoint:
        abort(409, NO_ADDRESS)
    form = EditForm if bot.kind == "url" else DescriptionForm
    check_form(form(MultiDict({"endpoint": endpoint, "description": description})))
    if endpoint != bot.endpoint:
        check_requests.claim_check(endpoint)
    with conflicts(), one_writing() as writing:
        is_new = bots_service.edit(writing, bot, endpoint, description)
    if (endpoint, description) != (bot.endpoint, bot.description):
        note_done()
    if is_new:
        check_requests.send_check(bot.id)
    return as_it_is(bot_id)


@routes.add("POST", "/bots/<bot_id>/check", scope="bots", code=202)
def check_bot(bot_id: str) -> BotFacts:
    """Start a check of a bot; its checks soon show the result."""
    bot = find_changeable(bot_id)
    check_requests.claim_bot(bot)
    if not check_requests.send_check(bot.id, is_program=bot.kind == "program"):
        abort(503, NO_CHECKS)
    note_done()
    return as_it_is(bot_id)


@routes.add("POST", "/bots/<bot_id>/rotate", scope="bots")
def rotate_secret(bot_id: str) -> BotWithSecret:
    """Give a bot a new secret, shown only once; the old one stops working at once."""
    bot, hub = find_own(bot_id), resources()
    check_requests.claim_bot(bot)
    with conflicts(), one_writing() as writing:
        secret = bots_service.rotate(writing, hub.sealer, bot)
    note_done()
    check_requests.send_check(bot.id)
    return BotWithSecret(bot=as_it_is(bot_id), shared_secret=secret)


@routes.add("POST", "/bots/<bot_id>/test-match", scope="bots", code=201)
def test_match(bot_id: str, body: TestMatch) -> Planned:
    """Play a practice match of a bot against a built-in strategy."""
    bot = find_own(bot_id)
    strategies = list(load_strategies(bot.game))
    if body.opponent not in strategies:
        raise Invalid({"opponent": NO_OPPONENT.format(names=", ".join(strategies))})
    with conflicts():
        match_id = begin_practice(bot, body.opponent)
    with one_reading() as reading:
        match = lookup.find(reading, shown_kinds(), match_id) or abort(404)
    return Planned(match=facts.match_facts(match))


@routes.add("POST", "/bots/<bot_id>/retire", scope="bots")
def retire_bot(bot_id: str, body: Retirement) -> BotFacts:
    """Permanently retire a bot; the request must repeat its name as confirmation."""
    bot = find_own(bot_id)
    if body.name != bot.name:
        raise Invalid({"name": OTHER_NAME.format(name=bot.name)})
    with one_writing() as writing:
        done = bots_service.retire(writing, bot.id)
    if not done:
        abort(409, bots_service.cannot("RETIRED"))
    return as_it_is(bot_id)


@routes.add("POST", "/bots/<bot_id>/suspend", scope="admin")
def suspend_bot(bot_id: str, body: Suspension) -> BotFacts:
    """Suspend a bot until it is restored; its owner sees the reason."""
    try:
        with conflicts(), one_writing() as writing:
            bots_service.suspend(writing, bot_id, body.reason.strip())
    except UsageError:
        abort(404, NO_BOT)
    return as_it_is(bot_id)


@routes.add("POST", "/bots/<bot_id>/restore", scope="admin")
def restore_bot(bot_id: str) -> BotFacts:
    """Lift a suspension: the bot is checked again."""
    hub = resources()
    try:
        with conflicts(), one_writing() as writing:
            bot = bots_service.restore(writing, bot_id)
    except UsageError:
        abort(404, NO_BOT)
    check_requests.send_unasked(hub, bot)
    return as_it_is(bot_id)


class Challenge(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A challenge: the bot to play against, and how often."""

    opponent: Annotated[str, Meta(pattern="^b_[0-9a-f]{8}$", description="Its `bot_id`.")]
    matches: Literal[1, 10] = 1
    """Ten matches play five seeds from both seats."""


def challenge_facts(view: ChallengeView) -> ChallengeFacts:
    """Return the status of a challenge, and the current user's remaining allowance."""
    left, results = friendly.allowance(resources(), player().user_id), view.results
    return document(
        ChallengeFacts,
        view,
        challenge_id=view.id,
        bot_id=view.challenger.bot_id,
        opponent=view.challenged.bot_id,
        won=results["won"],
        drawn=results["drawn"],
        lost=results["lost"],
        matches=[facts.match_facts(match) for match in view.matches],
        left=None if left is None else MatchesLeft(matches=left.left, more_at=left.more_at),
    )


@routes.add("POST", "/bots/<bot_id>/challenges", scope="bots", code=201)
def begin_challenge(bot_id: str, body: Challenge) -> ChallengeFacts:
    """Challenge a public bot with one of your bots, in practice."""
    own, opponent = find_own(bot_id), find_bot(body.opponent)
    try:
        challenge = friendly.begin_challenge(
            resources(), player().user_id, own.id, opponent.id, body.matches
        )
    except NoneLeft as error:
        request_counts.refuse(error.limit, error.until)
    except (UsageError, CapacityError) as error:
        abort(409, str(error))
    return challenge_facts(friendly_pages.read_challenge(challenge))


@routes.add("GET", "/challenges/<challenge_id>", is_owners=True)
def challenge(challenge_id: str) -> ChallengeFacts:
    """Return the status of a challenge, to the owners of both bots and to admins."""
    return challenge_facts(friendly_pages.find_challenge(challenge_id))


@routes.add("POST", "/challenges/<challenge_id>/stop", scope="bots")
def stop_challenge(challenge_id: str) -> ChallengeFacts:
    """Cancel the remaining matches of a challenge."""
    friendly_pages.stop_own_challenge(challenge_id)
    return challenge_facts(friendly_pages.read_challenge(challenge_id))
