"""Program versions in the API: only their author can save, read and choose them."""

from __future__ import annotations

from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from typing import Final

from flask import abort

from cw.errors import UsageError
from cw_hub.accounts.access.actor import actor
from cw_hub.accounts.pages import must_confirm
from cw_hub.api.documents import List, document
from cw_hub.api.operations import Routes
from cw_hub.api.problems import Invalid
from cw_hub.bots import programs
from cw_hub.bots import verbs as bots
from cw_hub.bots import views as bot_views
from cw_hub.bots.checks import check_requests
from cw_hub.bots.checks.check_requests import UNCONFIRMED
from cw_hub.bots.versions import uploads, views
from cw_hub.bots.versions.answers import NO_VERSION
from cw_hub.bots.versions.views import Version
from cw_hub.bots.views import BotView
from cw_hub.pages.limiter import note_done
from cw_hub.pages.queries import whole_number
from cw_hub.pages.request import one_reading, resources
from cw_hub.players.packages import Package
from cw_hub.site.api import facts
from cw_hub.site.api.conflicts import conflicts
from cw_hub.site.api.documents import VersionFacts, VersionFile
from cw_hub.site.api.queries import ProgramFile

routes: Final = Routes()

NO_BASE64: Final = "This must be a file, encoded as base64."


def find_own(bot_id: str) -> BotView:
    """Return a program of the requester; answer 404 to anyone else, admins included."""
    with one_reading() as reading:
        bot = bot_views.find_by_id(reading, bot_id)
    if bot is None or not actor().is_user(bot.user_id) or bot.status == "RETIRED":
        abort(404, NO_VERSION)
    return bot


def find(bot: BotView, number: str) -> Version:
    """Return a version of a bot; answer 404 if there is none."""
    at = whole_number(number, least=1)
    with one_reading() as reading:
        version = None if at is None else views.find(reading, bot.id, at)
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
    """Return an uploaded program and its note; refuse it if invalid."""
    why = programs.why_off(resources().settings)
    if why:
        abort(409, why)
    try:
        data = b64decode(program.data, validate=True)
        return uploads.packed(program.file, data, game), uploads.line_of(program.note)
    except (NotBase64, ValueError) as error:
        words = str(error) if isinstance(error, UsageError) else NO_BASE64
        raise Invalid({"data": words}) from None
    except UsageError as error:
        raise Invalid({"data": str(error)}) from None


@routes.add("GET", "/bots/<bot_id>/versions", scope="read")
def bot_versions(bot_id: str) -> List[VersionFacts]:
    """Return the last fifty versions of a program, the latest first, for its author only."""
    bot = find_own(bot_id)
    with one_reading() as reading:
        rows = views.versions_of(reading, bot.id)
    return List(items=[version_facts(bot, version) for version in rows], next=None)


@routes.add("POST", "/bots/<bot_id>/versions", scope="bots", code=201)
def save_version(bot_id: str, body: ProgramFile) -> VersionFacts:
    """Save a version of a program, which is checked at once and plays if it passes."""
    bot, hub = find_own(bot_id), resources()
    if must_confirm():
        abort(403, UNCONFIRMED)
    package, note = packed(body, bot.game)
    with conflicts():
        number = uploads.save(hub, bot.id, bot.bot_id, package, note)
    note_done()
    check_requests.send(bot.id, is_program=True)
    return version_facts(bot, find(bot, str(number)))


@routes.add("GET", "/bots/<bot_id>/versions/<number>", scope="read")
def bot_version(bot_id: str, number: str) -> VersionFile:
    """Return a version with its zip as base64, for its author only."""
    bot = find_own(bot_id)
    version = find(bot, number)
    data = programs.fetched(resources().objects, bot.bot_id, version.sha256)
    return VersionFile(version=version_facts(bot, version), data=b64encode(data).decode())


@routes.add("POST", "/bots/<bot_id>/versions/<number>/use", scope="bots")
def use_version(bot_id: str, number: str) -> VersionFacts:
    """Activate an earlier version that has passed its check, from the next match on."""
    bot, hub = find_own(bot_id), resources()
    version = find(bot, number)
    with conflicts(), hub.database.writing() as writing:
        bots.use_version(writing, hub.clock, bot, version.number)
    if version.number != bot.version:
        note_done()
    bot = find_own(bot_id)
    return version_facts(bot, find(bot, number))
