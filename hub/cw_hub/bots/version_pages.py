"""Pages where authors upload, choose, download and compare versions of their programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from io import BytesIO
from typing import Any, Final

from flask import Response, abort, redirect, render_template, request, send_file, url_for
from flask.typing import ResponseReturnValue
from markupsafe import Markup

from cw.errors import CapacityError, UsageError
from cw_hub.accounts.actor import must_confirm, one_writing, players_only
from cw_hub.accounts.forms import first_errors
from cw_hub.accounts.pages import redirect_to
from cw_hub.bots import check_requests, programs, versions
from cw_hub.bots import service as bots_service
from cw_hub.bots.check_requests import CONFIRM, UNCONFIRMED
from cw_hub.bots.pages import (
    ProgramForm,
    add,
    address,
    find,
    new_program_form,
    program_page,
    routes,
)
from cw_hub.bots.programs import why_off
from cw_hub.bots.service import OF_ITS_OWN, BotView, NewBot
from cw_hub.bots.versions import Upload, Version
from cw_hub.operation.resources import Resources
from cw_hub.pages.layout import notice, part_of_page
from cw_hub.pages.request import one_reading, resources, whole_number
from cw_hub.pages.request_counts import note_done
from cw_hub.players import packages
from cw_hub.players.packages import LARGEST, NO_FILE, Package
from cw_hub.store.objects import ObjectStore

NO_VERSION: Final = "There is no such version."


@dataclass(frozen=True, slots=True)
class Author:
    """The bot whose versions are requested; the current user is verified to be its author."""

    id: int
    bot_id: str
    name: str
    url: Callable[..., str]
    """Returns the URL of an action on versions, by its name."""
    back: str
    """The URL of the bot's page."""
    asked: Mapping[str, str] = field(default_factory=dict)
    """The form fields that are sent in addition to the path of such a URL."""


def find_or_404(author: Author, number: int | None) -> Version:
    """Return a version of an author's bot; abort with 404 if it does not exist."""
    with one_reading() as reading:
        version = None if number is None else versions.find_version(reading, author.id, number)
    return version or abort(404, NO_VERSION)


def data_of(author: Author, version: Version) -> bytes:
    """Return the stored zip of a version."""
    return programs.fetched(resources().objects, author.bot_id, version.sha256)


def file(author: Author, number: int) -> Response:
    """Return a version as a zip download."""
    data = data_of(author, find_or_404(author, number))
    name = f"{author.name}-{number}.zip"
    answer = send_file(BytesIO(data), "application/zip", as_attachment=True, download_name=name)
    answer.headers["Cache-Control"] = "private, no-store"
    return answer


def comparison(author: Author) -> str:
    """Return the page that compares the two versions given in the query, the older one first."""
    asked = sorted(whole_number(request.args.get(name, ""), least=1) or 0 for name in ("a", "b"))
    old, new = (find_or_404(author, number) for number in asked)
    files = [packages.files_of(data_of(author, version)) for version in (old, new)]
    return render_template(
        "hub/bots/compare.html", author=author, old=old, new=new, compared=versions.compare(*files)
    )


LONGEST_NOTE: Final = 120
"""Maximum length of a note in characters."""

LONG_NOTE: Final = f"The note must be at most {LONGEST_NOTE} characters long"


def sent(game: str) -> tuple[Package, str]:
    """Return the program and the note from a form; raise UsageError if invalid."""
    file = request.files.get("program")
    if file is None or not file.filename:
        raise UsageError(NO_FILE)
    note = line_of(request.form.get("note", ""))
    return packed(file.filename, file.stream.read(LARGEST + 1), game), note


def packed(name: str, data: bytes, game: str) -> Package:
    """Return an uploaded file as a package; raise UnfitUpload if it is not a program of a game."""
    with packages.empty_folder() as folder:
        return packages.package(name, data, game, folder)


def line_of(text: str) -> str:
    """Return a note as one line; raise UsageError if it is too long."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    if len(line) > LONGEST_NOTE:
        raise UsageError(LONG_NOTE)
    return line


def number_sent() -> int:
    """Return the version number from a form; raise UsageError if invalid."""
    number = whole_number(request.form.get("version", ""), least=1)
    if number is None:
        raise UsageError(versions.NO_VERSION)
    return number


def stored(objects: ObjectStore, bot_id: str, package: Package, note: str) -> Upload:
    """Put a program into the object store; return it as an upload of the bot."""
    versions.store(objects, bot_id, package.data, package.sha256)
    names = "\n".join(package.files)
    return Upload(package.sha256, len(package.data), names, package.language, note)


def save(hub: Resources, bot: int, bot_id: str, package: Package, note: str) -> int:
    """Save a version of a user's bot, which waits for its check; return its number.

    Raises WrongStatus and CapacityError as `service.save_version` does.
    """
    upload = stored(hub.objects, bot_id, package, note)
    with hub.database.writing() as writing:
        return bots_service.save_version(writing, bot, upload)


CHECKED_NEXT: Final = "version {} is saved; it plays once it has passed its check"
PLAYS_NEXT: Final = "version {} plays from the next match on"


def author_of(bot: BotView) -> Author:
    """Return a bot of the current user in the form that the version pages need."""
    return Author(bot.id, bot.bot_id, bot.name, partial(url, bot), address(bot), {"game": bot.game})


def url(bot: BotView, name: str, **more: Any) -> str:
    """Return the URL of an author's action on a bot's versions."""
    return url_for(f"bots.{name}", name=bot.name, game=bot.game, **more)


@routes.post("/bots/new/program")
@players_only
def register_program() -> ResponseReturnValue:
    """Register a bot with an uploaded program, and have it checked."""
    form, why = new_program_form(request.form), why_off(resources().settings)
    if why or must_confirm():
        return refused(form, {"": why or CONFIRM})
    if form.game.data == OF_ITS_OWN:
        # A 307 redirect repeats the request there, with the uploaded file.
        abort(redirect(url_for("bot_settings.upload"), 307))
    form.validate()
    errors = first_errors(form)
    if errors:
        return refused(form, errors)
    values = {name: field.data or "" for name, field in form._fields.items()}
    try:
        package, note = sent(values["game"])
    except UsageError as error:
        return refused(form, {"program": str(error)})
    try:
        bot = add(NewBot(**values, endpoint=""), is_program=True)
    except bots_service.NameTaken as error:
        return refused(form, {"name": str(error)})
    except bots_service.TooManyBots as error:
        return refused(form, {"": str(error)})
    number = save(resources(), bot.id, bot.bot_id, package, note)
    check_requests.send_check(bot.id, is_program=True)
    notice(CHECKED_NEXT.format(number).capitalize())
    return redirect_to(url_for("bots.page", name=values["name"], game=values["game"]))


def refused(form: ProgramForm, errors: dict[str, str]) -> ResponseReturnValue:
    """Show the form again with its errors."""
    return program_page(form, errors), 422


@routes.post("/bot/<name>/upload")
@players_only
def upload(name: str) -> ResponseReturnValue:
    """Save a version of a program, which becomes active once it has passed its check."""
    bot, hub = find(name), resources()
    why = why_off(hub.settings) or (UNCONFIRMED if must_confirm() else "")
    if why:
        abort(409, why)
    try:
        package, note = sent(bot.game)
        number = save(hub, bot.id, bot.bot_id, package, note)
    except (CapacityError, UsageError) as error:
        notice(str(error), "bad")
        return redirect_to(address(bot))
    note_done()
    check_requests.send_check(bot.id, is_program=True)
    notice(CHECKED_NEXT.format(number).capitalize())
    return redirect_to(address(bot))


@routes.post("/bot/<name>/use-version")
@players_only
def use_version(name: str) -> ResponseReturnValue:
    """Activate an earlier version."""
    bot = find(name)
    try:
        number = number_sent()
        with one_writing() as writing:
            bots_service.use_version(writing, bot, number)
    except UsageError as error:
        notice(str(error), "bad")
        return redirect_to(address(bot))
    if number != bot.version:
        note_done()
    notice(PLAYS_NEXT.format(number).capitalize())
    return redirect_to(address(bot))


@routes.get("/bot/<name>/version/<int:number>.zip")
@players_only
def version_file(name: str, number: int) -> Response:
    """Return a version of a program to its author only."""
    return file(author_of(find(name)), number)


@routes.get("/bot/<name>/compare")
@players_only
def compare(name: str) -> ResponseReturnValue:
    """Show the differences between two versions of a program to its author only."""
    return comparison(author_of(find(name)))


def part(bot: BotView) -> Markup:
    """Return the part of a bot's page that shows the versions to their author."""
    with one_reading() as reading:
        own_versions = versions.versions_of(reading, bot.id)
    return part_of_page(
        "hub/bots/own_versions.html",
        author=author_of(bot),
        bot=bot,
        versions=own_versions,
        why_off=why_off(resources().settings),
    )
