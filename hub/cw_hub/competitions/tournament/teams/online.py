"""Matches played by hand on a hub: against the training bot, or the team's own bot."""

from __future__ import annotations

import secrets
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Final

from flask import Flask, abort, request, url_for

from cw.arena.bot_settings import SECRET_SETTINGS
from cw.arena.bots import BotSpec
from cw.errors import UsageError
from cw.games.registry import load_protocol
from cw.web.live.live_match import Guest
from cw.web.live.own_bots import OWN, Link, Offer, Opponents, OwnBot
from cw_hub.accounts.access.actor import actor, tournaments_of_browser
from cw_hub.bots import programs
from cw_hub.bots.addresses import isolation_of
from cw_hub.bots.limits import problem_here
from cw_hub.bots.programs import NO_PROGRAMS
from cw_hub.bots.seats import ClaimedSeat
from cw_hub.competitions.tournament.listing import listing
from cw_hub.competitions.tournament.pages.header import NO_TOURNAMENT, tournament_or_404
from cw_hub.competitions.tournament.settings import defaults_of
from cw_hub.competitions.tournament.teams.bots import (
    NO_BOT,
    TeamBot,
    find,
    seated,
)
from cw_hub.competitions.tournament.views import TournamentView
from cw_hub.matches.playing.specs import bot_of
from cw_hub.operation.resources import Resources
from cw_hub.pages.names import is_slug
from cw_hub.pages.request import one_reading
from cw_hub.players.programs import Room

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
            Link(tournament.title, page_of(tournament)) if tournament else None,
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
    """Return a link for entering a login token, or None if the game has no tournament."""
    if tournament is not None:
        return Link(INVITATION, page_of(tournament))
    with one_reading() as reading:
        is_played = any(row.game == game for row in listing(reading))
    return Link(INVITATION, url_for("tournaments.index")) if is_played else None


def page_of(tournament: TournamentView) -> str:
    """Return the address of a tournament."""
    return url_for("tournaments.choose", slug=tournament.slug)
