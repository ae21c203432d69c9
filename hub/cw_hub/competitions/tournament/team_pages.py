"""Pages where a team manages its bot, and plays against it or the training bot by hand."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from flask import Blueprint, Flask, Response, abort, render_template, request, url_for
from flask.typing import ResponseReturnValue

from cw import kits
from cw.arena.bots import SECRET_SETTINGS, BotSpec
from cw.errors import CapacityError, UsageError
from cw.games.registry import load_protocol
from cw.web.live_match import Guest
from cw.web.live_matches import OWN, Link, Offer, Opponents, OwnBot
from cw_hub.accounts.actor import actor, one_writing, tournaments_of_browser
from cw_hub.accounts.pages import redirect_to
from cw_hub.bots import check_requests, checks, programs, version_pages
from cw_hub.bots.addresses import ClaimedSeat, check_address, isolation_of
from cw_hub.bots.programs import NO_PROGRAMS, problem_here
from cw_hub.bots.version_pages import Author
from cw_hub.competitions.tournament import standings, team_bots, views
from cw_hub.competitions.tournament.ladder import NO_TOURNAMENT, header_of, tournament_or_404
from cw_hub.competitions.tournament.people import code_of, members_of
from cw_hub.competitions.tournament.settings import defaults_of
from cw_hub.competitions.tournament.team_bots import (
    NO_BOT,
    OwnProgram,
    TeamBot,
    find,
    last_faults,
    plan_practice,
    read_url,
    seated,
)
from cw_hub.competitions.tournament.teams import PRIVATE_KEY, read_ssh_key
from cw_hub.competitions.tournament.views import TournamentView, home_group, listing
from cw_hub.matches import planning
from cw_hub.matches.friendly import PRACTICE, must_be_free, practice_of
from cw_hub.matches.jobs import bot_of
from cw_hub.matches.pages import shown_kinds
from cw_hub.operation.resources import Resources
from cw_hub.pages.forms import is_slug
from cw_hub.pages.layout import notice, show_once
from cw_hub.pages.request import one_reading, resources
from cw_hub.pages.request_counts import allowance, note_done
from cw_hub.players import packages
from cw_hub.players.programs import Room
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
        abort(redirect_to(url_for("tournaments.choose", slug=tournament.slug)))
    return bot


def page_of(bot: TeamBot) -> str:
    """Return the URL of the bot's page."""
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
            phase = views.phase_of(group, header.events, resources().clock())
            row = standings.of_group(reading, tournament, group, phase).by_slug.get(bot.slug)
            place = row and row.place
        faults = last_faults(reading, bot.id)
        people = members_of(reading, bot.team_id)
        code = code_of(reading, bot.team_id)
        practice = practice_of(reading, shown_kinds(), bot.id, most=5)
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
    """Set the URL of the bot, and request a check."""
    own, hub = own_bot(slug), resources()
    typed = request.form.get("endpoint", "")
    try:
        url = read_url(typed)
        check_address(url, hub.settings)
        check_requests.claim_for(owner_of(own), url)
        with one_writing() as writing:
            secret = team_bots.set_url(writing, hub.sealer, own, url)
    except UsageError as error:
        return render(own, {"endpoint": str(error)}, endpoint=typed[:1000])
    if url != own.endpoint:
        note_done()
    send_check(own)
    if secret is None:
        notice(SAVED)
        return redirect_to(page_of(own))
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
        with one_writing() as writing:
            secret = team_bots.rotate(writing, hub.sealer, own)
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
        return redirect_to(page_of(own))
    if own.kind == "url":
        check_requests.claim_for(owner_of(own), own.endpoint)
    if not send_check(own):
        notice(NO_CHECKS, "bad")
        return redirect_to(page_of(own))
    notice(CHECKING, "plain")
    # The page then polls for the result of the check.
    return redirect_to(url_for("my_team.page", slug=own.tournament, checking=1))


def send_check(own: TeamBot) -> bool:
    """Request a check on the queue for the bot's kind; return False if it could not be queued."""
    return check_requests.send_for(owner_of(own), own.id, is_program=own.kind == "program")


def owner_of(own: TeamBot) -> str:
    """Return the name under which rate limits count a team."""
    return checks.owner_named(None, own.team_id)


@routes.post("/t/<slug>/my-team/upload")
def upload(slug: str) -> ResponseReturnValue:
    """Add a version of a program, which plays from the next match."""
    own, hub = own_bot(slug), resources()
    try:
        if "program" not in own.kinds:
            raise UsageError(NO_PROGRAMS)
        package, note = version_pages.sent(own.game)
        new = version_pages.stored(hub.objects, own.bot_id, package, note)
        with one_writing() as writing:
            number = team_bots.add_version(writing, own, new)
    except (CapacityError, UsageError) as error:
        return render(own, {"program": str(error)})
    return checked(own, f"version {number} ready, {PLAYS_NEXT}")


def checked(own: TeamBot, sentence: str) -> ResponseReturnValue:
    """Request a check of a bot whose version has changed; show a notice on its page."""
    note_done()
    notice(sentence)
    send_check(own_bot(own.tournament))
    return redirect_to(page_of(own))


def programs_of_player(reading: Reading, bot: TeamBot) -> Sequence[OwnProgram]:
    """Return the current user's programs that could play for a team."""
    user = actor().user
    if user is None or "program" not in bot.kinds:
        return ()
    return team_bots.own_programs(reading, user.user_id, bot.game)


@routes.post("/t/<slug>/my-team/own-program")
def own_program(slug: str) -> ResponseReturnValue:
    """Copy the playing version of one of the user's bots to the team."""
    own, hub, user = own_bot(slug), resources(), actor().user
    if "program" not in own.kinds:
        abort(409, f"{NO_PROGRAMS}.")
    try:
        if user is None:
            raise UsageError(team_bots.LOG_IN)
        with one_reading() as reading:
            wanted = request.form.get("bot", "")
            program = team_bots.own_program(reading, user.user_id, own.game, wanted)
        new = team_bots.copy(hub.objects, program, own.bot_id)
        with one_writing() as writing:
            number = team_bots.add_version(writing, own, new)
    except (CapacityError, UsageError) as error:
        return render(own, {"own-program": str(error)})
    return checked(own, f"version {number} is {new.note}, and {PLAYS_NEXT}")


@routes.post("/t/<slug>/my-team/use-version")
def use_version(slug: str) -> ResponseReturnValue:
    """Switch to an earlier version."""
    own = own_bot(slug)
    try:
        number = version_pages.number_sent()
        with one_writing() as writing:
            team_bots.use_version(writing, own, number)
    except UsageError as error:
        return render(own, {"version": str(error)})
    if number != own.version:
        note_done()
    notice(f"version {number} {PLAYS_NEXT}")
    send_check(own_bot(slug))
    return redirect_to(page_of(own))


@routes.get("/t/<slug>/my-team/version/<int:number>.zip")
def version_file(slug: str, number: int) -> ResponseReturnValue:
    """Return a version of a program, only to its team."""
    return version_pages.file(author_of(member_bot(slug)), number)


@routes.get("/t/<slug>/my-team/compare")
def compare(slug: str) -> ResponseReturnValue:
    """Show the difference between two versions of a program, only to its team."""
    return version_pages.comparison(author_of(member_bot(slug)))


def member_bot(slug: str) -> TeamBot:
    """Return the current team's bot; abort with 404 for others."""
    if actor().team(slug) is None:
        abort(404, version_pages.NO_VERSION)
    return own_bot(slug)


def author_of(bot: TeamBot) -> Author:
    """Return the Author of the versions of a team's bot."""
    return Author(bot.id, bot.bot_id, bot.slug, partial(url, bot), page_of(bot))


def url(bot: TeamBot, name: str, **more: Any) -> str:
    """Return the URL of a team's action on versions."""
    return url_for(f"my_team.{name}", slug=bot.tournament, **more)


@routes.post("/t/<slug>/my-team/ssh-key")
def ssh_key(slug: str) -> ResponseReturnValue:
    """Set the team's public deployment key."""
    own = own_bot(slug)
    typed = request.form.get("key", "")
    try:
        key = read_ssh_key(typed)
        with one_writing() as writing:
            team_bots.set_ssh_key(writing, own, key)
    except UsageError as error:
        # Do not send a private key back: it has already been exposed once too often.
        is_private = str(error) == PRIVATE_KEY
        return render(own, {"key": str(error)}, key="" if is_private else typed[:5000])
    if key != (own.ssh_key or ""):
        note_done()
    notice("Your public SSH key was saved" if key else "Your public SSH key was removed")
    return redirect_to(page_of(own))


@routes.post("/t/<slug>/my-team/practice")
def practice(slug: str) -> ResponseReturnValue:
    """Play a match with the training bot; redirect to its page."""
    own, hub = own_bot(slug), resources()
    try:
        if own.kind == "url" and own.is_set and own.status != "ACTIVE":
            with one_reading() as reading:
                must_be_free(reading, own.id)
            check_requests.claim_for(owner_of(own), own.endpoint, checks.PRACTICE)
        with one_writing() as writing:
            match, match_id = plan_practice(writing, own)
    except (CapacityError, UsageError) as error:
        notice(str(error), "bad")
        return redirect_to(page_of(own))
    note_done()
    planning.send_now(hub, match, PRACTICE)
    return redirect_to(url_for("match.page", match_id=match_id))


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


INVITATION: Final = "Enter your login token to play with your own bot."
ELSEWHERE: Final = (
    "Your bot is an uploaded program, which this server does not run: it plays its rounds and"
    " practice matches on another machine."
)
NO_WALLS: Final = (
    "Your bot is an uploaded program, and this server lacks a sandbox with all limits to run it "
    "in: you cannot play against people with it here."
)


@dataclass(frozen=True, slots=True)
class BotsOfTeams:
    """The bots of the teams that a browser is logged in for (see `own_bots.OwnBots`)."""

    resources: Resources
    runs_programs: bool
    """Whether this process may run uploaded programs."""

    def opponents(self, game: str) -> Opponents:
        """Return the available opponents; on a tournament's page, those of its team.

        Aborts with 404 if the tournament is unknown or has another game.
        """
        tournament = tournament_of_request(game)
        bots = own_bots(game, tournament.slug if tournament else None)
        offers = tuple(
            Offer(f"{OWN}{bot.tournament}", label_of(bot, bots), self.problem_of(bot))
            for bot in bots
        )
        prefers_own = bool(offers) and request.args.get("bot") == "own"
        return Opponents(
            tournament.settings.training if tournament else defaults_of(game).training,
            offers,
            offers[0].choice if prefers_own else "",
            None if bots else invitation(game, tournament),
            tournament.slug if tournament else "",
            Link(tournament.title, tournament_address(tournament)) if tournament else None,
        )

    def ready(self, game: str, choice: str, room: ExitStack) -> OwnBot:
        """Return a team's bot as it plays in rounds; raise UsageError if it cannot play."""
        bots = own_bots(game, choice.removeprefix(OWN))
        if not bots:
            raise UsageError(INVITATION)
        (bot,) = bots
        if problem := self.problem_of(bot):
            raise UsageError(problem)
        with one_reading() as reading:
            seat = seated(reading, bot)
        return OwnBot(
            self.bot_at(seat, bot, room),
            isolation_of(self.resources.settings),
            self.secrets_of(seat),
            Guest(f"team {bot.team_id}", seat.name, bot.team),
        )

    def bot_at(self, seat: ClaimedSeat, bot: TeamBot, room: ExitStack) -> BotSpec:
        """Return a seat's bot for the arena; a program is unpacked until the room closes."""
        if bot.kind == "program":
            objects, seats = self.resources.objects, [seat]
            unpacked = room.enter_context(Room(partial(programs.store_built, objects, seats)))
            for program in programs.sent(objects, seats, bot.hosting):
                unpacked.add(program)
            return unpacked.bots(bot.game)[seat.name]
        is_signed = load_protocol(bot.game).signed_with is not None
        return bot_of(seat, f"m_{secrets.token_hex(4)}", is_signed=is_signed)

    def secrets_of(self, seat: ClaimedSeat) -> dict[str, str]:
        """Return the secret settings of a bot."""
        if seat.secret is None:
            return {}
        secret = self.resources.sealer.open(seat.secret, seat.secret_row).decode()
        return dict.fromkeys(SECRET_SETTINGS, secret)

    def problem_of(self, bot: TeamBot) -> str:
        """Return why a bot cannot be played against here now, or ""."""
        if not bot.is_set:
            return NO_BOT
        if bot.kind != "program":
            return ""
        if bot.hosting == "off":
            return f"{NO_PROGRAMS}."
        if not self.runs_programs:
            return ELSEWHERE
        return NO_WALLS if problem_here(self.resources.settings) else ""


def install(app: Flask) -> None:
    """Allow users to play by hand against their teams' bots."""
    app.extensions["own_bots"] = BotsOfTeams(app.extensions["hub"], app.extensions["runs_programs"])


def tournament_of_request(game: str) -> TournamentView | None:
    """Return the tournament in the query, or None; abort with 404 if it is unknown."""
    slug = request.args.get("tournament")
    if slug is None:
        return None
    if not is_slug(slug):
        abort(404, NO_TOURNAMENT)
    with one_reading() as reading:
        tournament = tournament_or_404(reading, slug)
    if tournament.game != game:
        abort(404, NO_TOURNAMENT)
    return tournament


def own_bots(game: str, slug: str | None) -> list[TeamBot]:
    """Return the bots of the teams this browser is logged in for, optionally of one tournament."""
    slugs = tournaments_of_browser() if slug is None else [slug]
    holders = [actor().team(name) for name in slugs if is_slug(name)]
    with one_reading() as reading:
        bots = [find(reading, holder.team_id) for holder in holders if holder]
    return [bot for bot in bots if bot is not None and bot.game == game]


def label_of(bot: TeamBot, bots: list[TeamBot]) -> str:
    """Return the label of a bot in a form; with several teams, it names the team."""
    return "my own bot" if len(bots) == 1 else f"my own bot, {bot.team} of {bot.tournament}"


def invitation(game: str, tournament: TournamentView | None) -> Link | None:
    """Return a link for entering a login token, or None if no tournament plays the game."""
    if tournament is not None:
        return Link(INVITATION, tournament_address(tournament))
    with one_reading() as reading:
        is_played = any(row.game == game for row in listing(reading))
    return Link(INVITATION, url_for("tournaments.index")) if is_played else None


def tournament_address(tournament: TournamentView) -> str:
    """Return a tournament's URL."""
    return url_for("tournaments.choose", slug=tournament.slug)
