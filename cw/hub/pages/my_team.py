"""The page of a team on its own bot, how to deploy one, and the kits that bots begin with."""

from __future__ import annotations

from typing import Any, Final

from flask import Blueprint, Response, abort, render_template, request, url_for
from flask.typing import ResponseReturnValue

from cw import kits
from cw.errors import CapacityError, UsageError
from cw.games.registry import load_protocol
from cw.hub.pages.account import go
from cw.hub.pages.actor import actor, one_reading, resources
from cw.hub.pages.ladder_bar import bar_of, tournament_of
from cw.hub.pages.layout import notice, show_once
from cw.hub.services import bots, ladder_standings, matches, packages, team_bots, tournament_views
from cw.hub.services.packages import LARGEST, NO_FILE
from cw.hub.services.team_bots import TeamBot, Upload

routes = Blueprint("my_team", __name__)

NOT_JOINED: Final = "Enter your login token to see your team."
NO_KIT: Final = "There is no such kit."
CHECKING: Final = "Your bot is being checked."
NO_CHECKS: Final = "Checks cannot be made right now. Please try again soon."
SAVED: Final = "Your bot settings were saved"


def own_bot(slug: str) -> TeamBot:
    """Return the bot of the team that asks; answer 404 for an unknown tournament.

    Who has not joined is led to where that is done.
    """
    with one_reading() as reading:
        tournament = tournament_of(reading, slug)
        holder = actor().team(slug)
        bot = team_bots.find(reading, holder.team_id) if holder else None
    if bot is None:
        notice(NOT_JOINED, "plain")
        abort(go(url_for("tournaments.choose", slug=tournament.slug)))
    return bot


def home(bot: TeamBot) -> str:
    """Return the address of the page."""
    return url_for("my_team.page", slug=bot.tournament)


@routes.get("/t/<slug>/my-team")
def page(slug: str) -> ResponseReturnValue:
    """Show a team its bot, and how to deploy one."""
    return shown(own_bot(slug))


def shown(bot: TeamBot, errors: dict[str, str] | None = None, **typed: str) -> ResponseReturnValue:
    """Return the page; with errors 422, and what was typed."""
    with one_reading() as reading:
        tournament = tournament_of(reading, bot.tournament)
        group = tournament.by_id(tournament_views.group_of_team(reading, bot.team_id) or None)
        bar = bar_of(reading, tournament, group, "my-team")
        phase = group and tournament_views.phase_of(group, bar.events, resources().clock())
        standings = (
            ladder_standings.of_group(reading, tournament, group, phase)
            if group and phase
            else None
        )
        said: dict[str, Any] = {
            "bar": bar,
            "faults": team_bots.last_faults(reading, bot.id),
            "practice": team_bots.practice_matches(reading, bot.id),
        }
    entry = standings.by_slug.get(bot.slug) if standings else None
    text = render_template(
        "hub/my_team.html",
        bot=bot,
        place=entry.place if entry else None,
        errors=errors or {},
        typed=typed,
        is_service="http" in load_protocol(bot.game).transports,
        **said,
    )
    return text, 422 if errors else 200


# What a team does


@routes.post("/t/<slug>/my-team/bot")
def bot(slug: str) -> ResponseReturnValue:
    """Let the bot be at an address, and have it checked."""
    own, held = own_bot(slug), resources()
    typed = request.form.get("endpoint", "")
    try:
        url = team_bots.read_url(typed)
        with held.database.writing() as writing:
            secret = team_bots.set_url(writing, held.clock, held.sealer, own, url)
    except UsageError as error:
        return shown(own, {"endpoint": str(error)}, endpoint=typed[:1000])
    held.queue.send(bots.CHECK, own.id)
    if secret is None:
        notice(SAVED)
        return go(home(own))
    return secret_page(own, secret, "Your bot has a secret")


def secret_page(own: TeamBot, secret: str, heading: str) -> Response:
    """Show a secret, which nobody is told again."""
    if own.game == "end-of-codes":
        heading = f"Your bot plays as {own.slug.replace('-', '_')}"
        return show_once(heading, "API key", secret, home(own))
    return show_once(heading, "Shared secret", secret, home(own))


@routes.post("/t/<slug>/my-team/rotate")
def rotate(slug: str) -> ResponseReturnValue:
    """Give the bot a new secret, show it once, and have the bot checked."""
    own, held = own_bot(slug), resources()
    try:
        with held.database.writing() as writing:
            secret = team_bots.rotate(writing, held.clock, held.sealer, own)
    except UsageError as error:
        abort(409, str(error))
    held.queue.send(bots.CHECK, own.id)
    return secret_page(own, secret, "Your bot has a new secret")


@routes.post("/t/<slug>/my-team/check")
def check(slug: str) -> ResponseReturnValue:
    """Let the bot be checked."""
    own = own_bot(slug)
    if not own.is_set:
        notice(team_bots.NO_BOT, "bad")
    elif send_check(own):
        notice(CHECKING, "plain")
    else:
        notice(NO_CHECKS, "bad")
    return go(home(own))


def send_check(own: TeamBot) -> bool:
    """Ask for a check, where programs are run if the bot is one."""
    queue = matches.PROGRAMS if own.kind == "program" else "jobs"
    return resources().queue.send(bots.CHECK, own.id, queue=queue)


@routes.post("/t/<slug>/my-team/upload")
def upload(slug: str) -> ResponseReturnValue:
    """Take in a program, which plays from the next match."""
    own, held = own_bot(slug), resources()
    sent = request.files.get("program")
    try:
        if sent is None or not sent.filename:
            raise UsageError(NO_FILE)
        if "program" not in own.kinds:
            raise UsageError(team_bots.NO_PROGRAMS)
        data = sent.stream.read(LARGEST + 1)
        with packages.empty_folder() as folder:
            package = packages.package(sent.filename, data, own.game, folder)
        team_bots.keep(held.objects, own, package.data, package.sha256)
        log = "\n".join(package.files)
        taken = Upload(package.sha256, len(package.data), log)
        with held.database.writing() as writing:
            number = team_bots.add_version(writing, held.clock, own, taken)
    except UsageError as error:
        return shown(own, {"program": str(error)})
    notice(f"version {number} ready, plays from the next match")
    send_check(own_bot(slug))
    return go(home(own))


@routes.post("/t/<slug>/my-team/use-version")
def use_version(slug: str) -> ResponseReturnValue:
    """Let an earlier version play."""
    own, held = own_bot(slug), resources()
    try:
        number = team_bots.read_version(request.form.get("version", ""))
        with held.database.writing() as writing:
            team_bots.use_version(writing, held.clock, own, number)
    except UsageError as error:
        return shown(own, {"version": str(error)})
    notice(f"version {number} plays from the next match")
    send_check(own_bot(slug))
    return go(home(own))


@routes.post("/t/<slug>/my-team/ssh-key")
def ssh_key(slug: str) -> ResponseReturnValue:
    """Keep the public key with which the team deploys."""
    own, held = own_bot(slug), resources()
    typed = request.form.get("key", "")
    try:
        key = team_bots.read_ssh_key(typed)
        with held.database.writing() as writing:
            team_bots.set_ssh_key(writing, held.clock, own, key)
    except UsageError as error:
        # A private key is not sent back: it has travelled once too often already.
        is_private = str(error) == team_bots.PRIVATE_KEY
        return shown(own, {"key": str(error)}, key="" if is_private else typed[:5000])
    notice("Your public SSH key was saved" if key else "Your public SSH key was removed")
    return go(home(own))


@routes.post("/t/<slug>/my-team/practice")
def practice(slug: str) -> ResponseReturnValue:
    """Play a match with the training bot; lead to its page."""
    own, held = own_bot(slug), resources()
    try:
        with held.database.writing() as writing:
            match, match_id = team_bots.practise(writing, held.clock, own)
    except (CapacityError, UsageError) as error:
        notice(str(error), "bad")
        return go(home(own))
    queue = matches.PROGRAMS if own.kind == "program" else "practice"
    held.queue.send(matches.PLAY, match, queue=queue)
    return go(url_for("match.page", match_id=match_id))


# Kits


@routes.get("/t/<slug>/kit/<language>.zip")
def kit_of_tournament(slug: str, language: str) -> ResponseReturnValue:
    """Return the kit of a tournament's game."""
    with one_reading() as reading:
        game = tournament_of(reading, slug).game
    return kit(game, language)


@routes.get("/games/<game>/kit/<language>.zip")
def kit(game: str, language: str) -> ResponseReturnValue:
    """Return what `cw new-bot` writes, as a zip of one folder."""
    try:
        folder = kits.folder(game, language)
    except UsageError:
        abort(404, NO_KIT)
    name = f"{game}-{language}"
    files = {f"{name}/{file.name}": file.read_bytes() for file in kits.sources(folder)}
    answer = Response(packages.pack(files), content_type="application/zip")
    answer.headers["Content-Disposition"] = f'attachment; filename="{name}.zip"'
    answer.add_etag()
    return answer.make_conditional(request)
