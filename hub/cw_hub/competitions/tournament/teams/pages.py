"""MY TEAM: a team's page about its bot and its deployment, and the starter kits."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from flask import Blueprint, Response, abort, render_template, request, url_for
from flask.typing import ResponseReturnValue

from cw import kits
from cw.errors import CapacityError, UsageError
from cw.games.registry import load_protocol
from cw_hub.accounts.access.actor import actor
from cw_hub.accounts.pages import go
from cw_hub.bots.addresses import check_address
from cw_hub.bots.checks import asking, check_requests
from cw_hub.bots.programs import NO_PROGRAMS
from cw_hub.bots.versions import answers, uploads
from cw_hub.bots.versions.answers import Author
from cw_hub.competitions.tournament import standings, timeline
from cw_hub.competitions.tournament.pages.header import header_of, tournament_or_404
from cw_hub.competitions.tournament.people.members import code_of, members_of
from cw_hub.competitions.tournament.teams import bot_setup, own_programs
from cw_hub.competitions.tournament.teams.assigned_bots import read_url
from cw_hub.competitions.tournament.teams.bots import NO_BOT, TeamBot, find
from cw_hub.competitions.tournament.teams.machines import PRIVATE_KEY, read_ssh_key
from cw_hub.competitions.tournament.teams.own_programs import OwnProgram
from cw_hub.competitions.tournament.teams.practice import (
    last_faults,
    plan_practice,
    practice_matches,
)
from cw_hub.competitions.tournament.views import home_group
from cw_hub.matches import sending
from cw_hub.matches.practice import PRACTICE, must_be_free
from cw_hub.pages.limiter import allowance, note_done
from cw_hub.pages.parts import notice, show_once
from cw_hub.pages.request import one_reading, resources
from cw_hub.players import packages
from cw_hub.store.database import Reading

routes = Blueprint("my_team", __name__)

NOT_JOINED: Final = "Enter your login token to see your team."
NO_KIT: Final = "There is no such kit."
CHECKING: Final = "Your bot is being checked."
NO_CHECKS: Final = "Bots cannot be checked right now. Please try again soon."
SAVED: Final = "Your bot settings were saved"
PLAYS_NEXT: Final = "plays from the next match"


def own_bot(slug: str) -> TeamBot:
    """Return the current team's bot; redirect others to the page for joining.

    Aborts with 404 for an unknown tournament.
    """
    with one_reading() as reading:
        tournament = tournament_or_404(reading, slug)
        holder = actor().team(slug)
        bot = find(reading, holder.team_id) if holder else None
    if bot is None:
        notice(NOT_JOINED, "plain")
        abort(go(url_for("tournaments.choose", slug=tournament.slug)))
    return bot


def page_of(bot: TeamBot) -> str:
    """Return the address of the page."""
    return url_for("my_team.page", slug=bot.tournament)


@routes.get("/t/<slug>/my-team")
def page(slug: str) -> ResponseReturnValue:
    """Show a team its bot, and how to deploy it."""
    return render(own_bot(slug))


def render(bot: TeamBot, errors: dict[str, str] | None = None, **typed: str) -> ResponseReturnValue:
    """Return the page; with errors, status 422 and the typed values."""
    with one_reading() as reading:
        tournament = tournament_or_404(reading, bot.tournament)
        group = tournament.by_id(home_group(reading, bot.team_id))
        header = header_of(reading, tournament, group, "my-team")
        place = None
        if group is not None:
            phase = timeline.phase_of(group, header.events, resources().clock())
            row = standings.of_group(reading, tournament, group, phase).by_slug.get(bot.slug)
            place = row and row.place
        faults = last_faults(reading, bot.id)
        people = members_of(reading, bot.team_id)
        code = code_of(reading, bot.team_id)
        practice = practice_matches(reading, bot.id)
        own = programs_of_player(reading, bot)
    text = render_template(
        "hub/competitions/tournament/my_team.html",
        header=header,
        bot=bot,
        author=author_of(bot),
        place=place,
        people=people,
        code=code,
        own_name=user.username if (user := actor().user) else "",
        faults=faults,
        practice=practice,
        own_programs=own,
        allowance=allowance("team-practice"),
        errors=errors or {},
        typed=typed,
        is_service="http" in load_protocol(bot.game).transports,
    )
    return text, 422 if errors else 200


# Actions of a team


@routes.post("/t/<slug>/my-team/bot")
def bot(slug: str) -> ResponseReturnValue:
    """Set the address of the bot, and request a check."""
    own, hub = own_bot(slug), resources()
    typed = request.form.get("endpoint", "")
    try:
        url = read_url(typed)
        check_address(url, hub.settings)
        check_requests.claim_for(owner_of(own), url)
        with hub.database.writing() as writing:
            secret = bot_setup.set_url(writing, hub.clock, hub.sealer, own, url)
    except UsageError as error:
        return render(own, {"endpoint": str(error)}, endpoint=typed[:1000])
    if url != own.endpoint:
        note_done()
    send_check(own)
    if secret is None:
        notice(SAVED)
        return go(page_of(own))
    return secret_page(own, secret, "Your bot has a secret")


def secret_page(own: TeamBot, secret: str, heading: str) -> Response:
    """Show a secret that cannot be read again."""
    if own.game == "end-of-codes":
        heading = f"Your bot plays as {own.slug.replace('-', '_')}"
        return show_once(heading, "API key", secret, page_of(own), variable="API_KEY")
    return show_once(heading, "Shared secret", secret, page_of(own), variable="BOT_SECRET")


@routes.post("/t/<slug>/my-team/rotate")
def rotate(slug: str) -> ResponseReturnValue:
    """Give the bot a new secret, show it once, and request a check."""
    own, hub = own_bot(slug), resources()
    if own.has_secret:
        check_requests.claim_for(owner_of(own), own.endpoint)
    try:
        with hub.database.writing() as writing:
            secret = bot_setup.rotate(writing, hub.clock, hub.sealer, own)
    except UsageError as error:
        abort(409, str(error))
    note_done()
    send_check(own)
    return secret_page(own, secret, "Your bot has a new secret")


@routes.post("/t/<slug>/my-team/check")
def check(slug: str) -> ResponseReturnValue:
    """Request a check of the bot."""
    own = own_bot(slug)
    if not own.is_set:
        notice(NO_BOT, "bad")
        return go(page_of(own))
    if own.kind == "url":
        check_requests.claim_for(owner_of(own), own.endpoint)
    if not send_check(own):
        notice(NO_CHECKS, "bad")
        return go(page_of(own))
    notice(CHECKING, "plain")
    # The page then polls for the result of the check.
    return go(url_for("my_team.page", slug=own.tournament, checking=1))


def send_check(own: TeamBot) -> bool:
    """Enqueue a check, for a program where programs are run; return whether it was queued."""
    return check_requests.send_for(owner_of(own), own.id, is_program=own.kind == "program")


def owner_of(own: TeamBot) -> str:
    """Return the name of a team in rate counts."""
    return asking.owner_named(None, own.team_id)


@routes.post("/t/<slug>/my-team/upload")
def upload(slug: str) -> ResponseReturnValue:
    """Add a version of a program, which plays from the next match."""
    own, hub = own_bot(slug), resources()
    try:
        if "program" not in own.kinds:
            raise UsageError(NO_PROGRAMS)
        package, note = uploads.sent(own.game)
        new = uploads.stored(hub.objects, own.bot_id, package, note)
        with hub.database.writing() as writing:
            number = bot_setup.add_version(writing, hub.clock, own, new)
    except (CapacityError, UsageError) as error:
        return render(own, {"program": str(error)})
    note_done()
    notice(f"version {number} ready, {PLAYS_NEXT}")
    send_check(own_bot(slug))
    return go(page_of(own))


def programs_of_player(reading: Reading, bot: TeamBot) -> Sequence[OwnProgram]:
    """Return the current user's programs that could play for a team."""
    user = actor().user
    if user is None or "program" not in bot.kinds:
        return ()
    return own_programs.own_programs(reading, user.user_id, bot.game)


@routes.post("/t/<slug>/my-team/own-program")
def own_program(slug: str) -> ResponseReturnValue:
    """Copy the playing version of one of the user's bots to the team."""
    own, hub, user = own_bot(slug), resources(), actor().user
    if "program" not in own.kinds:
        abort(409, f"{NO_PROGRAMS}.")
    try:
        if user is None:
            raise UsageError(own_programs.LOG_IN)
        with one_reading() as reading:
            wanted = request.form.get("bot", "")
            program = own_programs.own_program(reading, user.user_id, own.game, wanted)
        new = own_programs.copy(hub.objects, program, own.bot_id)
        with hub.database.writing() as writing:
            number = bot_setup.add_version(writing, hub.clock, own, new)
    except (CapacityError, UsageError) as error:
        return render(own, {"own-program": str(error)})
    note_done()
    notice(f"version {number} is {new.note}, and {PLAYS_NEXT}")
    send_check(own_bot(slug))
    return go(page_of(own))


@routes.post("/t/<slug>/my-team/use-version")
def use_version(slug: str) -> ResponseReturnValue:
    """Switch to an earlier version."""
    own, hub = own_bot(slug), resources()
    try:
        number = uploads.number_sent()
        with hub.database.writing() as writing:
            bot_setup.use_version(writing, hub.clock, own, number)
    except UsageError as error:
        return render(own, {"version": str(error)})
    if number != own.version:
        note_done()
    notice(f"version {number} {PLAYS_NEXT}")
    send_check(own_bot(slug))
    return go(page_of(own))


@routes.get("/t/<slug>/my-team/version/<int:number>.zip")
def version_file(slug: str, number: int) -> ResponseReturnValue:
    """Return a version of a program, only to its team."""
    return answers.file(author_of(member_bot(slug)), number)


@routes.get("/t/<slug>/my-team/compare")
def compare(slug: str) -> ResponseReturnValue:
    """Show the difference between two versions of a program, only to its team."""
    return answers.comparison(author_of(member_bot(slug)))


def member_bot(slug: str) -> TeamBot:
    """Return the current team's bot; abort with 404 for others."""
    if actor().team(slug) is None:
        abort(404, answers.NO_VERSION)
    return own_bot(slug)


def author_of(bot: TeamBot) -> Author:
    """Return a team's bot as the author of its versions."""
    return Author(bot.id, bot.bot_id, bot.slug, partial(url, bot), page_of(bot))


def url(bot: TeamBot, name: str, **more: Any) -> str:
    """Return the address of a team's action on versions."""
    return url_for(f"my_team.{name}", slug=bot.tournament, **more)


@routes.post("/t/<slug>/my-team/ssh-key")
def ssh_key(slug: str) -> ResponseReturnValue:
    """Set the team's public deployment key."""
    own, hub = own_bot(slug), resources()
    typed = request.form.get("key", "")
    try:
        key = read_ssh_key(typed)
        with hub.database.writing() as writing:
            bot_setup.set_ssh_key(writing, hub.clock, own, key)
    except UsageError as error:
        # Do not send a private key back: it has already been exposed once too often.
        is_private = str(error) == PRIVATE_KEY
        return render(own, {"key": str(error)}, key="" if is_private else typed[:5000])
    if key != (own.ssh_key or ""):
        note_done()
    notice("Your public SSH key was saved" if key else "Your public SSH key was removed")
    return go(page_of(own))


@routes.post("/t/<slug>/my-team/practice")
def practice(slug: str) -> ResponseReturnValue:
    """Play a match with the training bot; redirect to its page."""
    own, hub = own_bot(slug), resources()
    try:
        if own.kind == "url" and own.is_set and own.status != "ACTIVE":
            with one_reading() as reading:
                must_be_free(reading, own.id)
            check_requests.claim_for(owner_of(own), own.endpoint, asking.PRACTICE)
        with hub.database.writing() as writing:
            match, match_id = plan_practice(writing, hub.clock, own)
    except (CapacityError, UsageError) as error:
        notice(str(error), "bad")
        return go(page_of(own))
    note_done()
    sending.send_now(hub, match, PRACTICE.name)
    return go(url_for("match.page", match_id=match_id))


# Kits


@routes.get("/t/<slug>/kit/<language>.zip")
def kit_of_tournament(slug: str, language: str) -> ResponseReturnValue:
    """Return the kit for a tournament's game."""
    with one_reading() as reading:
        game = tournament_or_404(reading, slug).game
    return kit(game, language)


@routes.get("/games/<game>/kit/<language>.zip")
def kit(game: str, language: str) -> ResponseReturnValue:
    """Return the output of `cw new-bot` as a zip of one folder."""
    try:
        parts = kits.files(game, language)
    except UsageError:
        abort(404, NO_KIT)
    name = f"{game}-{language}"
    files = {f"{name}/{part}": file.read_bytes() for part, file in parts.items()}
    answer = Response(packages.pack(files), content_type="application/zip")
    answer.headers["Content-Disposition"] = f'attachment; filename="{name}.zip"'
    answer.add_etag()
    return answer.make_conditional(request)
