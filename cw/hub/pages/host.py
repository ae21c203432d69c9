"""HOST: what the host of a tournament sees and does, at `/t/<slug>/host`."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import wraps
from tempfile import SpooledTemporaryFile
from typing import Any, Concatenate, Final, ParamSpec, TypeAlias, cast

from flask import (
    Blueprint,
    Response,
    abort,
    make_response,
    render_template,
    request,
    send_file,
    url_for,
)
from flask.typing import ResponseReturnValue

from cw.errors import UsageError
from cw.hub.clock import Clock
from cw.hub.pages import card_sheet
from cw.hub.pages.account import go
from cw.hub.pages.actor import actor, one_reading, resources
from cw.hub.pages.ladder_bar import NO_TOURNAMENT, bar_of, tournament_of
from cw.hub.pages.layout import notice
from cw.hub.services import (
    competitions,
    ladder,
    ladder_decisions,
    team_bots,
    tournament_cards,
    tournament_export,
    tournament_host,
    tournaments,
)
from cw.hub.services.competitions import CompetitionFacts
from cw.hub.services.tournament_config import team_lines
from cw.hub.services.tournament_settings import CHANGEABLE, FORMAT, HOSTINGS, settings_of
from cw.hub.services.tournaments import NO_TIME, BadLines, EventKind, NewEvent, NewGroup
from cw.hub.store.database import Writing

routes = Blueprint("host", __name__, url_prefix="/t/<slug>/host")

P = ParamSpec("P")

FOR_HOSTS: Final = "This page is for the host of the tournament."
MOST_TICKED: Final = 1000
LONGEST_REASON: Final = 200
NONCE: Final = re.compile("[0-9a-f]{32}")
IN_MEMORY: Final = 1_000_000

AT_ONCE: Final[Mapping[str, tuple[EventKind, str]]] = {
    "start": ("start", "Start"),
    "pause": ("pause", "Pause"),
    "resume": ("resume", "Resume"),
    "end": ("end", "End"),
}
"""The buttons that are events at now, each with its title."""

FITTING: Final[Mapping[str, tuple[str, ...]]] = {
    "start": ("draft",),
    "pause": ("running",),
    "resume": ("paused",),
    "end": ("running", "paused"),
}
"""How the tournament stands where such a button is there."""

EVENT_KINDS: Final[Mapping[EventKind, str]] = {
    "note": "Note: only told",
    "boards": "Boards: new types of game fields",
    "start": "Start: the rounds begin",
    "pause": "Pause: waiting matches are held",
    "resume": "Resume: they go on",
    "final": "Final: the strongest teams go to the final sandbox",
    "end": "End: the last round is played out",
}

NUMBERS: Final = ("parallel", "per_bot", "round_every", "finalists", "tokens_per_team")


class Wrong(UsageError):
    """A field of a form that cannot be taken."""

    def __init__(self, field: str, sentence: str) -> None:
        """Say which, and what is wrong with it."""
        super().__init__(sentence)
        self.field = field


def hosts_only(
    view: Callable[Concatenate[CompetitionFacts, P], ResponseReturnValue],
) -> Callable[..., ResponseReturnValue]:
    """Let hosts alone see a page; others are told so, and whether there is such a tournament."""

    @wraps(view)
    def seen(slug: str, *args: P.args, **kwargs: P.kwargs) -> ResponseReturnValue:
        with one_reading() as reading:
            of = competitions.find(reading, FORMAT, slug)
        if of is None:
            abort(404, NO_TOURNAMENT)
        if not actor().is_host(slug):
            abort(403, FOR_HOSTS)
        return view(of, *args, **kwargs)

    return seen


def who() -> str:
    """Return how the audit names who asks."""
    user = actor().user
    return "host" if user is None else user.username


# Pages


@routes.get("")
@hosts_only
def page(of: CompetitionFacts) -> ResponseReturnValue:
    """Show how the tournament stands, and what is set."""
    return start_page(of)


def start_page(of: CompetitionFacts, errors: Mapping[str, str] | None = None) -> str:
    """Return the first page, with what is wrong in a form."""
    with one_reading() as reading:
        groups = tournament_host.groups(reading, of.id)
        waiting = tournament_host.matches(reading, of.id)
    return show(
        "host.html",
        of,
        "",
        groups=groups,
        failed=sum(one.state == "failed" for one in waiting),
        settings=settings_of(of.game, of.settings),
        hostings=HOSTINGS,
        numbers=NUMBERS,
        changeable=CHANGEABLE,
        errors=errors or {},
    )


def show(template: str, of: CompetitionFacts, here: str, **values: Any) -> str:
    """Return a page of the host."""
    with one_reading() as reading:
        bar = bar_of(reading, tournament_of(reading, of.slug), here="host")
    told = {"of": of, "bar": bar, "here": here, "given": request.form}
    return render_template(f"hub/{template}", **told, **values)


@routes.get("/teams")
@hosts_only
def teams(of: CompetitionFacts) -> ResponseReturnValue:
    """Show the teams, and what can be done to them."""
    return teams_page(of)


def teams_page(
    of: CompetitionFacts, errors: Mapping[str, str] | None = None, problems: tuple[str, ...] = ()
) -> str:
    """Return the page of teams, with what is wrong in a form."""
    with one_reading() as reading:
        found = tournament_host.teams(reading, of.id)
        groups = tournament_host.groups(reading, of.id)
    ticked = set(request.form.getlist("team"))
    more = {"teams": found, "groups": groups, "ticked": ticked, "nonce": secrets.token_hex(16)}
    return show("host_teams.html", of, "teams", **more, errors=errors or {}, problems=problems)


@routes.get("/events")
@hosts_only
def events(of: CompetitionFacts) -> ResponseReturnValue:
    """Show the events, and let others be planned."""
    return events_page(of)


def events_page(of: CompetitionFacts, errors: Mapping[str, str] | None = None) -> str:
    """Return the page of events, with what is wrong in the form."""
    with one_reading() as reading:
        found = tournament_host.events(reading, of.id)
        groups = tournament_host.groups(reading, of.id)
    more = {"events": found, "groups": groups, "kinds": EVENT_KINDS}
    return show("host_events.html", of, "events", **more, errors=errors or {})


@routes.get("/rounds")
@hosts_only
def rounds(of: CompetitionFacts) -> ResponseReturnValue:
    """Show the matches that run, wait, or could not be played."""
    return rounds_page(of)


def rounds_page(of: CompetitionFacts, errors: Mapping[str, str] | None = None) -> str:
    """Return the page of rounds, with what is wrong in a form."""
    with one_reading() as reading:
        found = tournament_host.matches(reading, of.id)
        groups = tournament_host.groups(reading, of.id)
    return show("host_rounds.html", of, "rounds", found=found, groups=groups, errors=errors or {})


@routes.get("/log")
@hosts_only
def log(of: CompetitionFacts) -> ResponseReturnValue:
    """Show what was done, and by whom."""
    with one_reading() as reading:
        found = tournament_host.log(reading, of.id)
    return show("host_log.html", of, "log", log=found)


@routes.get("/export.zip")
@hosts_only
def export(of: CompetitionFacts) -> ResponseReturnValue:
    """Send all that the tournament is and was; with `?replays=1` its replays too."""
    # It is closed by the server, when it has been sent.
    file = SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115
    with one_reading() as reading:
        tournament_export.write_zip(reading, resources().clock, of.id, cast(Any, file))
        if request.args.get("replays"):
            held = resources().objects
            tournament_export.add_replays(reading, held, of.id, cast(Any, file))
    file.seek(0)
    name = f"{of.slug}.zip"
    sent = send_file(
        cast(Any, file), "application/zip", as_attachment=True, download_name=name, max_age=0
    )
    sent.headers["Cache-Control"] = "no-store"
    return sent


# What is posted


Verb: TypeAlias = Callable[[Writing, Clock, CompetitionFacts, str], "str | None"]
"""Does something in a transaction; returns what is told of it."""


def ticked() -> list[int]:
    """Return the teams that were ticked; raise Wrong for none and for too many."""
    said = request.form.getlist("team")
    if len(said) > MOST_TICKED:
        raise Wrong("team", f"Please choose at most {MOST_TICKED} teams")
    found = [int(one) for one in said if one.isascii() and one.isdigit() and len(one) < 10]
    if not found:
        raise Wrong("team", "Please choose a team")
    return found


def text(name: str, longest: int = LONGEST_REASON) -> str:
    """Return what was typed in a field."""
    return request.form.get(name, "").strip()[: longest + 1]


def reason() -> str:
    """Return the reason that was typed; raise Wrong for none."""
    said = text("reason")[:LONGEST_REASON]
    if not said:
        raise Wrong("reason", tournament_host.NO_REASON)
    return said


def at_once(kind: str) -> Verb:
    """Return what adds an event at now."""

    def act(session: Writing, clock: Clock, of: CompetitionFacts, who: str) -> str:
        of_kind, title = AT_ONCE[kind]
        if competitions.held(session, of.id).state not in FITTING[kind]:
            raise UsageError("The tournament is not as you saw it.")
        event = NewEvent(of_kind, clock(), title, text("text", 2000), announced=True)
        # A moment later it lies in the past already.
        tournaments.add_event(session, clock, of.id, event, who, is_late=True)
        return f"{title}: done."

    return act


def add_sandbox(session: Writing, clock: Clock, of: CompetitionFacts, who: str) -> str:
    """Add a sandbox."""
    kind = request.form.get("kind", "")
    if kind not in ("", "public", "internal", "final"):
        raise Wrong("kind", "Please choose a kind")
    name = text("name", 100)
    try:
        tournaments.add_group(session, clock, of.id, NewGroup(name, cast(Any, kind or None)), who)
    except UsageError as error:
        raise Wrong("name", str(error)) from None
    return "The sandbox is added."


def save_settings(session: Writing, clock: Clock, of: CompetitionFacts, who: str) -> str:
    """Keep settings."""
    given: dict[str, Any] = {}
    for name in NUMBERS:
        said = text(name, 20)
        if said:
            given[name] = int(said) if re.fullmatch("[0-9]{1,9}", said) else said
    if "hosting" in request.form:
        given["hosting"] = request.form["hosting"]
    if "settings" in request.form:
        given["stores"] = "stores" in request.form
    try:
        tournament_host.change_settings(session, clock, of.id, given, actor=who)
    except UsageError as error:
        raise Wrong("settings", str(error)) from None
    return "The settings are saved."


def carry_over(session: Writing, clock: Clock, of: CompetitionFacts, who: str) -> str:
    """Let the final begin."""
    if not request.form.get("confirm"):
        raise Wrong("carry-over", "Please confirm that the strongest teams go to the final")
    if not ladder_decisions.carry_over(session, clock, of.id, who):
        return "The final was begun already."
    return "The final begins when the open rounds are over."


def add_teams(session: Writing, clock: Clock, of: CompetitionFacts, who: str) -> str:
    """Add the teams of a list."""
    listed = list(team_lines(request.form.get("lines", "")))
    if not listed:
        raise Wrong("lines", "Please enter a name")
    made = tournaments.add_teams(session, clock, of.id, listed, who)
    return f"{len(made)} teams are added." if len(made) > 1 else "The team is added."


def revoke(session: Writing, clock: Clock, of: CompetitionFacts, who: str) -> str:
    """End tokens."""
    tournament_host.revoke_tokens(session, clock, of.id, ticked(), actor=who)
    return "The tokens are revoked."


def move(session: Writing, clock: Clock, of: CompetitionFacts, who: str) -> str:
    """Move teams to another sandbox."""
    tournament_host.move(session, clock, of.id, ticked(), text("group", 40), actor=who)
    return "The teams are moved."


def guests(session: Writing, clock: Clock, of: CompetitionFacts, who: str) -> str:
    """Let teams play out of competition."""
    tournament_host.set_out_of_competition(session, clock, of.id, ticked(), actor=who)
    return "The teams play out of competition."


def compete(session: Writing, clock: Clock, of: CompetitionFacts, who: str) -> str:
    """Let teams compete that played out of competition."""
    tournament_host.compete(session, clock, of.id, ticked(), text("group", 40), actor=who)
    return "The teams compete."


def set_bot(session: Writing, clock: Clock, of: CompetitionFacts, who: str) -> str:
    """Set the bot of teams."""
    ids, bot = ticked(), text("bot", team_bots.LONGEST_URL)
    try:
        has_secrets = tournament_host.set_bot(session, clock, of.id, ids, bot, actor=who)
    except UsageError as error:
        raise Wrong("bot", str(error)) from None
    return f"The bot is set. {team_bots.WHERE_SECRET}" if has_secrets else "The bot is set."


def machine(session: Writing, clock: Clock, of: CompetitionFacts, who: str) -> str:
    """Say where the machine of teams is."""
    ids, said = ticked(), text("machine", tournaments.LONGEST_MACHINE)
    try:
        tournament_host.set_machine(session, clock, of.id, ids, said, actor=who)
    except UsageError as error:
        raise Wrong("machine", str(error)) from None
    return "The machine is set."


def disqualify(session: Writing, clock: Clock, of: CompetitionFacts, who: str) -> str:
    """Disqualify teams."""
    ids, why = ticked(), reason()
    for team in tournament_host.chosen(session, of.id, ids):
        ladder_decisions.disqualify(session, clock, of.id, team.id, why, actor=who)
    return "The teams are disqualified."


def reinstate(session: Writing, clock: Clock, of: CompetitionFacts, who: str) -> str:
    """Let disqualified teams play again."""
    for team in tournament_host.chosen(session, of.id, ticked()):
        ladder_decisions.reinstate(session, clock, of.id, team.id, who)
    return "The teams play from the next round on."


def remove(session: Writing, clock: Clock, of: CompetitionFacts, who: str) -> str:
    """Remove teams."""
    tournament_host.remove(session, clock, of.id, ticked(), actor=who)
    return "The teams are removed."


def add_event(session: Writing, clock: Clock, of: CompetitionFacts, who: str) -> str:
    """Plan an event."""
    kind = request.form.get("kind", "note")
    if kind not in EVENT_KINDS:
        raise Wrong("kind", "Please choose what happens")
    at = read_time(text("at", 40))
    if at < clock():
        raise Wrong("at", tournaments.PAST)
    if not text("title"):
        raise Wrong("title", tournaments.NO_TITLE)
    said = request.form.get("boards", "")
    boards = read_boards(said) if kind in ("boards", "final") and said.strip() else []
    mode = "replace" if request.form.get("mode") == "replace" else "add"
    texts = (text("title"), text("text", 2000), text("group", 40))
    announced = "announced" in request.form
    event = NewEvent(cast(EventKind, kind), at, *texts, boards, mode, announced)  # type: ignore[arg-type]
    try:
        tournaments.add_event(session, clock, of.id, event, who)
    except UsageError as error:
        raise Wrong("boards" if boards or kind == "boards" else "title", str(error)) from None
    return "The event is planned."


def read_time(said: str) -> datetime:
    """Return a moment as browsers and people write it, in UTC unless it says a zone."""
    try:
        at = datetime.fromisoformat(said)
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise Wrong("at", NO_TIME) from None


def read_boards(said: str) -> list[dict[str, Any]]:
    """Return types of boards: a line each, `NAME: option=value, option=value x FACTOR`, or JSON.

    Name and factor may be left out.
    """
    if said.lstrip().startswith("["):
        try:
            return cast(list[dict[str, Any]], json.loads(said))
        except (ValueError, RecursionError):
            raise Wrong("boards", "This is no JSON list of boards") from None
    return [read_board(line.strip()) for line in said.splitlines() if line.strip()]


LINE: Final = re.compile(r"(?:(?P<name>[^:=]+):)?(?P<options>.*?)(?:\sx\s*(?P<factor>\d{1,4}))?")


def read_board(line: str) -> dict[str, Any]:
    """Return the type of boards that a line says."""
    found = LINE.fullmatch(line[:500])
    board: dict[str, Any] = {"options": {}}
    for part in (found["options"] if found else "").split(","):
        name, equals, value = part.partition("=")
        if part.strip() and not equals:
            raise Wrong("boards", f"{part.strip()[:40]!r} is no option: write size=5")
        if part.strip():
            board["options"][name.strip()] = read_value(value.strip())
    if found and found["name"]:
        board["name"] = found["name"].strip()
    if found and found["factor"]:
        board["factor"] = int(found["factor"])
    return board


def read_value(said: str) -> Any:
    """Return the value of an option: a number or a word of JSON, else the text itself."""
    try:
        return json.loads(said)
    except (ValueError, RecursionError):
        return said


def remove_event(session: Writing, clock: Clock, of: CompetitionFacts, who: str) -> str:
    """Call an event off."""
    said = text("event", 20)
    number = int(said) if re.fullmatch("[0-9]{1,9}", said) else 0
    tournaments.remove_event(session, clock, of.id, number, who)
    return "The event is called off."


def void(session: Writing, clock: Clock, of: CompetitionFacts, who: str) -> str:
    """Call a match off."""
    match, why = text("match", 10), reason()
    tournament_host.void(session, clock, of.id, match, why, actor=who)
    return "The match is void."


def play_again(session: Writing, clock: Clock, of: CompetitionFacts, who: str) -> str:
    """Let a match be played again."""
    tournament_host.play_again(session, clock, of.id, text("match", 10), actor=who)
    return "The match is played again."


def void_round(session: Writing, clock: Clock, of: CompetitionFacts, who: str) -> str:
    """Call a round off."""
    said = text("round", 20)
    number = int(said) if re.fullmatch("[0-9]{1,9}", said) else 0
    tournament_host.void_round(session, clock, of.id, number, reason(), actor=who)
    return "The round is void."


Page: TypeAlias = Callable[..., str]

VERBS: Final[Mapping[str, tuple[Verb, Page, str]]] = {
    **{name: (at_once(name), start_page, "host.page") for name in AT_ONCE},
    "add-sandbox": (add_sandbox, start_page, "host.page"),
    "settings": (save_settings, start_page, "host.page"),
    "carry-over": (carry_over, start_page, "host.page"),
    "add-teams": (add_teams, teams_page, "host.teams"),
    "revoke-tokens": (revoke, teams_page, "host.teams"),
    "move": (move, teams_page, "host.teams"),
    "out-of-competition": (guests, teams_page, "host.teams"),
    "compete": (compete, teams_page, "host.teams"),
    "set-bot": (set_bot, teams_page, "host.teams"),
    "machine": (machine, teams_page, "host.teams"),
    "disqualify": (disqualify, teams_page, "host.teams"),
    "reinstate": (reinstate, teams_page, "host.teams"),
    "remove": (remove, teams_page, "host.teams"),
    "add-event": (add_event, events_page, "host.events"),
    "remove-event": (remove_event, events_page, "host.events"),
    "void": (void, rounds_page, "host.rounds"),
    "play-again": (play_again, rounds_page, "host.rounds"),
    "void-round": (void_round, rounds_page, "host.rounds"),
}
"""What is posted: what it does, the page that tells what is wrong, and where it leads."""


@routes.post("/<verb>")
@hosts_only
def post(of: CompetitionFacts, verb: str) -> ResponseReturnValue:
    """Do what a form of the host asks for; what cannot be is said on its page, and not done."""
    if verb == "issue-tokens":
        return issue_tokens(of)
    if verb not in VERBS:
        abort(404)
    act, page_of, leads_to = VERBS[verb]
    held = resources()
    try:
        with held.database.writing() as session:
            done = act(session, held.clock, of, who())
            ladder.advance(session, held.clock, of.id)
    except BadLines as error:
        return page_of(of, {"lines": str(error)}, error.problems), 422
    except UsageError as error:
        field = error.field if isinstance(error, Wrong) else verb
        return page_of(of, {field: str(error)}), 422
    if done:
        notice(done)
    return go(url_for(leads_to, slug=of.slug))


def issue_tokens(of: CompetitionFacts) -> ResponseReturnValue:
    """Answer with the cards of teams, which are shown this once."""
    held, nonce = resources(), request.form.get("nonce", "")
    try:
        ids = ticked()
        if nonce and not NONCE.fullmatch(nonce):
            raise Wrong("team", "This form is broken: please load the page again")
        with held.database.writing() as session:
            cards = tournament_cards.issue(
                session, held.clock, of.id, ids, nonce=nonce, actor=who()
            )
    except UsageError as error:
        return teams_page(of, {"team": str(error)}), 422
    address = f"{held.settings.address}/t/{of.slug}/"
    back = url_for("host.teams", slug=of.slug)
    values = card_sheet.values_of(of.title, address, cards)
    sheet: Response = make_response(
        render_template("hub/card_sheet.html", **values, style="", back=back)
    )
    sheet.headers["Cache-Control"] = "no-store"
    return sheet
