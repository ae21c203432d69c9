"""`cw hub bot`, `match`, `token` and `user`: manages bots, matches, access tokens and users."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict
from functools import partial, wraps
from typing import Any, Concatenate, Final, ParamSpec, TypeAlias, get_args

import click
from email_validator import EmailNotValidError, validate_email

from cw.errors import UsageError, visible
from cw_hub.accounts import administration, personal_limits, tickets
from cw_hub.accounts.tickets import NewToken, Scope
from cw_hub.bots import house
from cw_hub.bots import service as bots_service
from cw_hub.bots.service import NewBot
from cw_hub.cli.options import as_json, opened, tell, with_settings
from cw_hub.competitions.format import competing
from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import opened as resources_opened
from cw_hub.operation.settings import HubSettings
from cw_hub.site.admin import actions
from cw_hub.site.formats import FORMATS
from cw_hub.store.database import OPERATOR, Database, Session
from cw_hub.store.models import Role

P = ParamSpec("P")

Answer: TypeAlias = tuple[dict[str, Any], str]
"""What a command prints: a document with `--json`, or else words."""

NAME: Final = click.argument("name")


def answering(
    command: Callable[Concatenate[Session, P], Answer | list[Answer]],
    begin: Callable[[Database], AbstractContextManager[Session]],
) -> Callable[..., None]:
    """Add `--set` and `--json` to a command; pass it a session, and print what it returns."""

    @with_settings
    @as_json
    @wraps(command)
    def run(settings: HubSettings, *args: Any, as_json: bool, **kwargs: Any) -> None:
        with opened(settings) as database, begin(database) as session:
            answer = command(session, *args, **kwargs)
        for document, words in answer if isinstance(answer, list) else [answer]:
            tell(document, words, as_json=as_json)

    return run


reading = partial(answering, begin=Database.reading)
"""Decorates a command that changes nothing."""

writing = partial(answering, begin=partial(Database.writing, actor=OPERATOR))
"""Decorates a command that is one transaction."""


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
        resources.database.writing(OPERATOR) as session,
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
@click.argument("bot_id")
@click.argument("reason")
@writing
def suspend(session: Session, bot_id: str, reason: str) -> Answer:
    """Suspend the bot BOT_ID; its owner sees the REASON."""
    bots_service.suspend(session, bot_id, reason)
    return {"bot_id": bot_id, "suspended": True}, f"suspended {bot_id}"


@bot.command()
@click.argument("bot_id")
@writing
def restore(session: Session, bot_id: str) -> Answer:
    """Restore the suspended bot BOT_ID; the next sweep checks it."""
    bots_service.restore(session, bot_id)
    return {"bot_id": bot_id, "suspended": False}, f"restored {bot_id}: it will be checked"


@click.group()
def match() -> None:
    """Requeue a failed match, or cancel one."""


@match.command()
@click.argument("match_id")
@writing
def requeue(session: Session, match_id: str) -> Answer:
    """Give the failed match MATCH_ID another five attempts."""
    actions.requeue(session, match_id)
    return {"match_id": match_id, "state": "queued"}, f"queued {match_id}"


@match.command()
@click.argument("match_id")
@click.option("--reason", default="by the operator", help="Reason, shown on the page of the match.")
@writing
def void(session: Session, match_id: str, reason: str) -> Answer:
    """Cancel the match MATCH_ID, which must not have begun."""
    actions.void(session, match_id, reason)
    return {"match_id": match_id, "state": "void"}, f"cancelled {match_id}"


@click.group()
def user() -> None:
    """Show, lock, delete and change accounts.

    Each change is recorded in the audit log. The site may keep running.
    """


@user.command("list")
@reading
def list_users(session: Session) -> list[Answer]:
    """Print all accounts, one per line."""
    return [(asdict(facts), line_of(facts)) for facts in administration.everybody(session)]


def line_of(facts: administration.Facts) -> str:
    """Return an account as one line, without the email address."""
    marks = [facts.role, *(["locked"] if facts.locked_at else [])]
    return f"{facts.username}  {', '.join(marks)}  since {facts.created_at:%Y-%m-%d}"


@user.command()
@NAME
@reading
def show(session: Session, name: str) -> Answer:
    """Print the details of an account."""
    document = asdict(administration.find(session, name))
    lines = (f"{key}: {'-' if value is None else value}" for key, value in document.items())
    return document, "\n".join(lines)


@user.command()
@NAME
@click.option("--off", is_flag=True, help="Make the user a player again.")
@writing
def admin(session: Session, name: str, *, off: bool) -> Answer:
    """Make a user an admin."""
    role: Role = "player" if off else "admin"
    administration.set_role(session, name, role)
    return {"user": name, "role": role}, f"{name} is now {role}"


@user.command()
@NAME
@writing
def lock(session: Session, name: str) -> Answer:
    """Lock an account; open sessions end at once."""
    administration.lock(session, name)
    return {"user": name, "locked": True}, f"locked {name}"


@user.command()
@NAME
@writing
def unlock(session: Session, name: str) -> Answer:
    """Unlock an account."""
    administration.unlock(session, name)
    return {"user": name, "locked": False}, f"unlocked {name}"


@user.command()
@NAME
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@with_settings
@as_json
def delete(settings: HubSettings, name: str, *, yes: bool, as_json: bool) -> None:
    """Delete an account; this cannot be undone."""
    # Before the transaction, which would hold up the site until the operator answers.
    if not yes:
        click.confirm(f"Delete the account of {visible(name)} for good?", abort=True, err=True)
    with opened(settings) as database, database.writing(OPERATOR) as session:
        administration.delete(session, name)
    tell({"user": name, "deleted": True}, f"deleted {name}", as_json=as_json)


@user.command("set-email")
@NAME
@click.argument("email")
@writing
def set_email(session: Session, name: str, email: str) -> Answer:
    """Change the email address of a user."""
    try:
        validate_email(email, check_deliverability=False, allow_smtputf8=False)
    except EmailNotValidError as error:
        raise UsageError(f"invalid email address: {error}") from None
    administration.set_email(session, name, email)
    return {"user": name, "email": email}, f"the address of {name} is now {email}"


@user.command("confirm-email")
@NAME
@writing
def confirm_email(session: Session, name: str) -> Answer:
    """Mark the email address of a user as confirmed, without a mail."""
    administration.confirm_email(session, name)
    return {"user": name, "confirmed": True}, f"confirmed the address of {name}"


@user.command()
@NAME
@click.argument("limit", required=False)
@click.argument("most", required=False)
@writing
def limit(session: Session, name: str, limit: str | None, most: str | None) -> Answer:
    """Print or change the limits of an account.

    LIMIT is bots, practice, challenges, uploads or comparisons; MOST a number, 0 to lock it, or
    "usual". Without MOST, or without both, prints the limits that differ from the usual ones.
    """
    if limit is not None and most is not None:
        number = None if most == "usual" else personal_limits.read_most(most)
        administration.set_limit(session, name, limit, number)
    limits = personal_limits.of_user(session, administration.find(session, name).id)
    chosen = {key: value for key, value in limits.items() if limit in (None, key)}
    lines = [f"{personal_limits.LIMITS[key]}: {value}" for key, value in chosen.items()]
    return {"user": name, "limits": chosen}, "\n".join(lines) or "as usual"


@user.command("reset-link")
@NAME
@with_settings
@as_json
def reset_link(settings: HubSettings, name: str, *, as_json: bool) -> None:
    """Print a link to reset a user's password, valid once and for a day.

    It begins with CW_PUBLIC_URL; without one, with CW_HOST and CW_PORT.
    """
    with opened(settings) as database, database.writing(OPERATOR) as session:
        ticket = administration.reset_link(session, name)
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
@NAME
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
@writing
def create(
    session: Session, username: str, name: str, scopes: tuple[Scope, ...], days: int
) -> Answer:
    """Create a token named NAME for USERNAME, and print it once."""
    if not 0 < len(name) <= tickets.LONGEST_NAME:
        raise UsageError(f"the name must have 1 to {tickets.LONGEST_NAME} characters")
    new = NewToken(name, frozenset(scopes), days)
    user_id = administration.find(session, username).id
    secret = tickets.create(session, user_id, new)
    return {"user": username, "token": secret}, secret


@token.command("list")
@click.argument("username")
@reading
def list_tokens(session: Session, username: str) -> list[Answer]:
    """Print the tokens of USERNAME, one per line, without their values."""
    user_id = administration.find(session, username).id
    answers = []
    for one in tickets.of_user(session, user_id):
        used = "never used" if one.last_used_at is None else f"used {one.last_used_at:%Y-%m-%d}"
        scopes = ", ".join(one.scopes)
        words = f"{one.short}  {one.name}  {scopes}  until {one.expires_at:%Y-%m-%d}  {used}"
        answers.append((asdict(one), words))
    return answers


@token.command()
@click.argument("username")
@click.argument("digest")
@writing
def revoke(session: Session, username: str, digest: str) -> Answer:
    """Revoke the token of USERNAME whose line in `list` begins with DIGEST."""
    user_id = administration.find(session, username).id
    tokens = tickets.of_user(session, user_id)
    matching = [one for one in tokens if digest and one.digest.startswith(digest)]
    if len(matching) != 1:
        raise UsageError(
            f"DIGEST must match one token, but {digest!r} is the beginning of {len(matching)} "
            f"tokens of {username}"
        )
    tickets.revoke_token(session, user_id, matching[0].digest)
    return {"user": username, "revoked": matching[0].short}, f"revoked {matching[0].name}"
