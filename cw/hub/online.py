"""Matches that people play by hand on a hub: with the training bot, and with their team's own."""

from __future__ import annotations

import secrets
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final

from flask import abort, request, url_for

from cw.arena.bots import SECRET_SETTINGS, BotSpec
from cw.arena.sandbox import bubblewrap
from cw.errors import UsageError
from cw.games.registry import load_protocol
from cw.hub.jobs.checks import isolation_of
from cw.hub.jobs.play import bot_of
from cw.hub.jobs.programs import unpacked
from cw.hub.pages.actor import actor, one_reading, tournaments_of_browser
from cw.hub.pages.ladder_bar import NO_TOURNAMENT, tournament_of
from cw.hub.resources import Resources
from cw.hub.services import team_bots, tournament_views
from cw.hub.services.matches import ClaimedSeat
from cw.hub.services.team_bots import NO_BOT, NO_PROGRAMS, TeamBot
from cw.hub.services.team_names import is_slug
from cw.hub.services.tournament_settings import ladder_of
from cw.hub.services.tournament_views import TournamentView
from cw.web.live_matches import Guest
from cw.web.own_bots import OWN, Link, Offer, Opponents, OwnBot

INVITATION: Final = "Enter your login token to play with your own bot."
ELSEWHERE: Final = (
    "Your bot is an uploaded program, which this server does not run: it plays its rounds and"
    " practice matches on another machine."
)
NO_WALLS: Final = (
    "Your bot is an uploaded program, and nobody plays with those by hand on this server, as it"
    " has no bubblewrap to run them in."
)


@dataclass(frozen=True, slots=True)
class BotsOfTeams:
    """Knows the bots of the teams for which a browser acts (see `own_bots.OwnBots`)."""

    resources: Resources
    runs_programs: bool
    """Whether this process may run what teams have uploaded."""

    def opponents(self, game: str) -> Opponents:
        """Return who is offered; on the page of a tournament its own bots alone.

        Answers 404 for a tournament that is not there, or is of another game.
        """
        tournament = tournament_asked_for(game)
        own = own_bots(game, tournament.slug if tournament else None)
        offers = tuple(
            Offer(f"{OWN}{bot.tournament}", words_of(bot, own), self.problem_of(bot)) for bot in own
        )
        is_wanted = bool(offers) and request.args.get("bot") == "own"
        return Opponents(
            tournament.settings.training if tournament else ladder_of(game).training,
            offers,
            offers[0].choice if is_wanted else "",
            None if own else invitation(game, tournament),
            tournament.slug if tournament else "",
            Link(tournament.title, page_of(tournament)) if tournament else None,
        )

    def ready(self, game: str, choice: str, room: ExitStack) -> OwnBot:
        """Return the bot of a team as it plays its matches that count; raise UsageError."""
        own = own_bots(game, choice.removeprefix(OWN))
        if not own:
            raise UsageError(INVITATION)
        (team,) = own
        if problem := self.problem_of(team):
            raise UsageError(problem)
        with one_reading() as reading:
            seat = team_bots.seated(reading, team)
        return OwnBot(
            self.bot_at(seat, team, room),
            isolation_of(self.resources.settings.bots_may_be),
            self.secrets_of(seat),
            Guest(f"team {team.team_id}", seat.name, team.team),
        )

    def bot_at(self, seat: ClaimedSeat, team: TeamBot, room: ExitStack) -> BotSpec:
        """Return who sits at a seat, for the arena; a program is unpacked into the room."""
        if team.kind == "program":
            held = unpacked(self.resources.objects, team.game, [seat], team.hosting)
            return room.enter_context(held)[seat.name]
        is_signed = load_protocol(team.game).signed_with is not None
        return bot_of(seat, f"m_{secrets.token_hex(4)}", is_signed=is_signed)

    def secrets_of(self, seat: ClaimedSeat) -> dict[str, str]:
        """Return the settings of a bot that nobody else may read."""
        if seat.secret is None:
            return {}
        secret = self.resources.sealer.open(seat.secret, seat.secret_row).decode()
        return dict.fromkeys(SECRET_SETTINGS, secret)

    def problem_of(self, bot: TeamBot) -> str:
        """Say why a bot cannot be played with here now; "" if it can."""
        if not bot.is_set:
            return NO_BOT
        if bot.kind != "program":
            return ""
        if bot.hosting == "off":
            return f"{NO_PROGRAMS}."
        if not self.runs_programs:
            return ELSEWHERE
        return NO_WALLS if bubblewrap.problem() else ""


def tournament_asked_for(game: str) -> TournamentView | None:
    """Return the tournament on whose page people want to play, None for none; answer 404."""
    slug = request.args.get("tournament")
    if slug is None:
        return None
    if not is_slug(slug):
        abort(404, NO_TOURNAMENT)
    with one_reading() as reading:
        tournament = tournament_of(reading, slug)
    if tournament.game != game:
        abort(404, NO_TOURNAMENT)
    return tournament


def own_bots(game: str, slug: str | None) -> list[TeamBot]:
    """Return the bots of the teams for which this browser acts, of all tournaments or of one."""
    slugs = tournaments_of_browser() if slug is None else [slug]
    holders = [actor().team(one) for one in slugs if is_slug(one)]
    with one_reading() as reading:
        found = [team_bots.find(reading, holder.team_id) for holder in holders if holder]
    return [bot for bot in found if bot is not None and bot.game == game]


def words_of(bot: TeamBot, own: list[TeamBot]) -> str:
    """Return how a form names a bot; those of several teams are told apart."""
    return "my own bot" if len(own) == 1 else f"my own bot, {bot.team} of {bot.tournament}"


def invitation(game: str, tournament: TournamentView | None) -> Link | None:
    """Return where a login token is entered, None if no tournament of the game is known."""
    if tournament is not None:
        return Link(INVITATION, page_of(tournament))
    with one_reading() as reading:
        is_played = any(one.game == game for one in tournament_views.listing(reading))
    return Link(INVITATION, url_for("tournaments.index")) if is_played else None


def page_of(tournament: TournamentView) -> str:
    """Return the address of a tournament."""
    return url_for("tournaments.choose", slug=tournament.slug)
