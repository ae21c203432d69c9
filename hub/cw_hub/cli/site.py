"""`cw hub bot`, `match`, `token` and `user`: manages bots, matches, access tokens and users."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from typing import Any, Concatenate, ParamSpec, TypeVar, get_args

import click
from email_validator import EmailNotValidError, validate_email

from cw.errors import UsageError, visible
from cw_hub.accounts import administration, audit, tickets
from cw_hub.accounts import limits as accounts_limits
from cw_hub.accounts.administration import OPERATOR as ADMINISTRATION_OPERATOR
from cw_hub.accounts.tickets import NewToken, Scope, Token
from cw_hub.bots import house
from cw_hub.bots import service as bots_service
from cw_hub.bots.service import NewBot
from cw_hub.cli.options import as_json, with_settings
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.format import competing
from cw_hub.competitions.service import CompetitionFacts
from cw_hub.matches import results
from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import opened as resources_opened
from cw_hub.operation.settings import HubSettings
from cw_hub.site.formats import FORMATS
from cw_hub.store.database import Database, Session
from cw_hub.store.migrations import prepare
from cw_hub.store.models import Role


@click.group()
def bot() -> None:
    """Add a web service as a bot; suspend or restore a bot."""


@bot.command()
@with_settings
@click.argument("game")
@click.argument("name")
@click.argument("url")
@click.option(
    "--secret",
    envvar="BOT_SECRET",
    default="",
    help="Secret that signs requests to the bot; safer in BOT_SECRET.  [default: a random one]",
)
@as_json
def add(
    settings: HubSettings, game: str, name: str, url: str, secret: str, *, as_json: bool
) -> None:
    """Add the web service at URL as the house bot NAME of GAME; it is checked soon.

    An existing house bot of that name gets the new address, and the new secret if one is given.
    Addresses in CW_HOUSE_NETWORK are allowed, also with http://.

    \b
      cw hub bot add code-battle Rusher-2 http://strategy-rusher:8080
    """
    with (
        resources_opened(settings, CeleryQueue(settings)) as resources,
        resources.database.writing() as session,
    ):
        added = house.add_service(session, resources, NewBot(game, name, url), secret)
        competing(FORMATS).enter(session, added.id)
    if as_json:
        click.echo(json.dumps({"bot_id": added.bot_id, "name": name, "secret": added.secret}))
        return
    click.echo(f"{added.bot_id}: {name} at {url}")
    if added.secret:
        click.echo(f"BOT_SECRET={added.secret}")


@bot.command()
@with_settings
@click.argument("bot_id")
@click.argument("reason")
def suspend(settings: HubSettings, bot_id: str, reason: str) -> None:
    """Suspend the bot BOT_ID; its owner sees the REASON."""
    with (
        resources_opened(settings, CeleryQueue(settings)) as resources,
        resources.database.writing() as session,
    ):
        bots_service.suspend(session, bot_id, reason, ADMINISTRATION_OPERATOR)
    click.echo(f"suspended {bot_id}")


@bot.command()
@with_settings
@click.argument("bot_id")
def restore(settings: HubSettings, bot_id: str) -> None:
    """Restore the suspended bot BOT_ID; the next sweep checks it."""
    with (
        resources_opened(settings, CeleryQueue(settings)) as resources,
        resources.database.writing() as session,
    ):
        bots_service.restore(session, bot_id, ADMINISTRATION_OPERATOR)
    click.echo(f"restored {bot_id}: it will be checked")


OPERATOR = "operator"


@click.group()
def match() -> None:
    """Requeue a failed match, or cancel one."""


@match.command()
@with_settings
@click.argument("match_id")
def requeue(settings: HubSettings, match_id: str) -> None:
    """Give the failed match MATCH_ID another five attempts."""
    with (
        resources_opened(settings, CeleryQueue(settings)) as resources,
        resources.database.writing() as session,
    ):
        if not results.requeue_failed(session, match_id):
            raise UsageError(f"{match_id} is not a failed match")
        audit.note(session, OPERATOR, "requeue", f"match:{match_id}")
    click.echo(f"queued {match_id}")


@match.command()
@with_settings
@click.argument("match_id")
@click.option("--reason", default="by the operator", help="Reason, shown on the page of the match.")
def void(settings: HubSettings, match_id: str, reason: str) -> None:
    """Cancel the match MATCH_ID, which must not have begun."""
    with (
        resources_opened(settings, CeleryQueue(settings)) as resources,
        resources.database.writing() as session,
    ):
        if not results.void(session, match_id, reason):
            raise UsageError(f"{match_id} is not a waiting match")
        audit.note(session, OPERATOR, "void", f"match:{match_id}")
    click.echo(f"cancelled {match_id}")


@click.group()
def user() -> None:
    """Show, lock, delete and change accounts.

    Each change is recorded in the audit log. The site may keep running.
    """


@contextmanager
def opened(settings: HubSettings) -> Iterator[Database]:
    """Open the database of a site that has been started before."""
    if settings.is_sqlite and not settings.data.is_dir():
        raise UsageError(f"there is no data folder {settings.data}; cw hub serve creates it")
    database = Database(settings.database)
    try:
        prepare(database)
        yield database
    finally:
        database.close()


def do(settings: HubSettings, act: Callable[..., Any]) -> Any:
    """Run a function in a separate transaction; return its result."""
    with opened(settings) as database, database.writing() as session:
        return act(session)


def tell(document: dict[str, Any], words: str, *, as_json: bool) -> None:
    """Print a result, as JSON or as text."""
    click.echo(json.dumps(document, default=str) if as_json else visible(words))


@user.command("list")
@with_settings
@as_json
def list_users(settings: HubSettings, *, as_json: bool) -> None:
    """Print all accounts, one per line."""
    with opened(settings) as database, database.reading() as session:
        people = administration.everybody(session)
    for facts in people:
        tell(asdict(facts), line_of(facts), as_json=as_json)


def line_of(facts: administration.Facts) -> str:
    """Return an account as one line, without the email address."""
    marks = [facts.role, *(["locked"] if facts.locked_at else [])]
    return f"{facts.username}  {', '.join(marks)}  since {facts.created_at:%Y-%m-%d}"


@user.command()
@click.argument("name")
@with_settings
@as_json
def show(settings: HubSettings, name: str, *, as_json: bool) -> None:
    """Print the details of an account."""
    with opened(settings) as database, database.reading() as session:
        document = asdict(administration.find(session, name))
    words = "\n".join(
        f"{key}: {'-' if value is None else value}" for key, value in document.items()
    )
    tell(document, words, as_json=as_json)


@user.command()
@click.argument("name")
@click.option("--off", is_flag=True, help="Make the user a player again.")
@with_settings
@as_json
def admin(settings: HubSettings, name: str, *, off: bool, as_json: bool) -> None:
    """Make a user an admin."""
    role: Role = "player" if off else "admin"
    do(settings, partial(administration.set_role, username=name, role=role))
    tell({"user": name, "role": role}, f"{name} is now {role}", as_json=as_json)


@user.command()
@click.argument("name")
@with_settings
@as_json
def lock(settings: HubSettings, name: str, *, as_json: bool) -> None:
    """Lock an account; open sessions end at once."""
    do(settings, partial(administration.lock, username=name))
    tell({"user": name, "locked": True}, f"locked {name}", as_json=as_json)


@user.command()
@click.argument("name")
@with_settings
@as_json
def unlock(settings: HubSettings, name: str, *, as_json: bool) -> None:
    """Unlock an account."""
    do(settings, partial(administration.unlock, username=name))
    tell({"user": name, "locked": False}, f"unlocked {name}", as_json=as_json)


@user.command()
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@with_settings
@as_json
def delete(settings: HubSettings, name: str, *, yes: bool, as_json: bool) -> None:
    """Delete an account; this cannot be undone."""
    if not yes:
        click.confirm(f"Delete the account of {visible(name)} for good?", abort=True, err=True)
    do(settings, partial(administration.delete, username=name))
    tell({"user": name, "deleted": True}, f"deleted {name}", as_json=as_json)


@user.command("set-email")
@click.argument("name")
@click.argument("email")
@with_settings
@as_json
def set_email(settings: HubSettings, name: str, email: str, *, as_json: bool) -> None:
    """Change the email address of a user."""
    try:
        validate_email(email, check_deliverability=False, allow_smtputf8=False)
    except EmailNotValidError as error:
        raise UsageError(f"invalid email address: {error}") from None
    do(settings, partial(administration.set_email, username=name, email=email))
    tell({"user": name, "email": email}, f"the address of {name} is now {email}", as_json=as_json)


@user.command("confirm-email")
@click.argument("name")
@with_settings
@as_json
def confirm_email(settings: HubSettings, name: str, *, as_json: bool) -> None:
    """Mark the email address of a user as confirmed, without an email."""
    do(settings, partial(administration.confirm_email, username=name))
    words = f"confirmed the address of {name}"
    tell({"user": name, "confirmed": True}, words, as_json=as_json)


@user.command()
@click.argument("name")
@click.argument("limit", required=False)
@click.argument("most", required=False)
@with_settings
@as_json
def limit(
    settings: HubSettings, name: str, limit: str | None, most: str | None, *, as_json: bool
) -> None:
    """Print or change the limits of an account.

    LIMIT is bots, practice, challenges, uploads or comparisons; MOST a number, 0 to lock it, or
    "usual". Without MOST, or without both, prints the limits that differ from the usual ones.
    """
    if limit is not None and most is not None:
        number = None if most == "usual" else accounts_limits.read_most(most)
        do(settings, partial(administration.set_limit, username=name, name=limit, most=number))
    with opened(settings) as database, database.reading() as session:
        limits = accounts_limits.of_user(session, administration.find(session, name).id)
    chosen = {key: value for key, value in limits.items() if limit in (None, key)}
    lines = [f"{accounts_limits.LIMITS[key]}: {value}" for key, value in chosen.items()]
    tell({"user": name, "limits": chosen}, "\n".join(lines) or "as usual", as_json=as_json)


@user.command("reset-link")
@click.argument("name")
@with_settings
@as_json
def reset_link(settings: HubSettings, name: str, *, as_json: bool) -> None:
    """Print a link to reset a user's password, valid once and for a day.

    It begins with CW_PUBLIC_URL; without one, with CW_HOST and CW_PORT.
    """
    ticket = do(settings, partial(administration.reset_link, username=name))
    link = f"{settings.address}/reset/{ticket}"
    tell({"user": name, "link": link}, link, as_json=as_json)


@click.group()
def token() -> None:
    """Create, list and revoke access tokens for the API.

    Users create their own on the Settings page; the scope admin is available here only. Each
    change is recorded in the audit log.
    """


@token.command()
@click.argument("username")
@click.argument("name")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice(get_args(Scope)),
    default=["read"],
    show_default=True,
    help="What the token allows; may be repeated.",
)
@click.option(
    "--days",
    type=click.IntRange(1, max(tickets.DAYS)),
    default=90,
    show_default=True,
    help="Days until the token expires.",
)
@with_settings
@as_json
def create(
    settings: HubSettings,
    username: str,
    name: str,
    scopes: tuple[Scope, ...],
    days: int,
    as_json: bool,
) -> None:
    """Create a token named NAME for USERNAME, and print it once."""
    if not 0 < len(name) <= tickets.LONGEST_NAME:
        raise UsageError(f"the name must have 1 to {tickets.LONGEST_NAME} characters")
    new = NewToken(name, frozenset(scopes), days)
    user_id = find(settings, username)
    secret = do(
        settings, partial(tickets.create, user_id=user_id, new=new, actor=administration.OPERATOR)
    )
    tell({"user": username, "token": secret}, secret, as_json=as_json)


@token.command("list")
@click.argument("username")
@with_settings
@as_json
def list_tokens(settings: HubSettings, username: str, as_json: bool) -> None:
    """Print the tokens of USERNAME, one per line, without their values."""
    for one in of_user(settings, find(settings, username)):
        used = "never used" if one.last_used_at is None else f"used {one.last_used_at:%Y-%m-%d}"
        scopes = ", ".join(one.scopes)
        words = f"{one.short}  {one.name}  {scopes}  until {one.expires_at:%Y-%m-%d}  {used}"
        tell(asdict(one), words, as_json=as_json)


@token.command()
@click.argument("username")
@click.argument("digest")
@with_settings
@as_json
def revoke(settings: HubSettings, username: str, digest: str, as_json: bool) -> None:
    """Revoke the token of USERNAME whose line in `list` begins with DIGEST."""
    user_id = find(settings, username)
    matching = [
        one for one in of_user(settings, user_id) if digest and one.digest.startswith(digest)
    ]
    if len(matching) != 1:
        raise UsageError(
            f"DIGEST must match one token, but {digest!r} is the beginning of {len(matching)} "
            f"tokens of {username}"
        )
    end = partial(
        tickets.revoke_token,
        user_id=user_id,
        digest=matching[0].digest,
        actor=administration.OPERATOR,
    )
    do(settings, end)
    document = {"user": username, "revoked": matching[0].short}
    tell(document, f"revoked {matching[0].name}", as_json=as_json)


def find(settings: HubSettings, username: str) -> int:
    """Return the id of a user; raise UsageError if there is none."""
    with opened(settings) as database, database.reading() as session:
        return administration.find(session, username).id


def of_user(settings: HubSettings, user_id: int) -> list[Token]:
    """Return a user's access tokens."""
    with opened(settings) as database, database.reading() as session:
        return tickets.of_user(session, user_id)


P = ParamSpec("P")
T = TypeVar("T")


def act_on_competition(
    settings: HubSettings,
    name: str,
    act: Callable[Concatenate[Session, CompetitionFacts, P], T],
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    """Run a function on a competition in a separate transaction; return its result."""
    with opened(settings) as database, database.writing() as session:
        return act(session, competitions_service.named(session, name), *args, **kwargs)
