"""`cw hub user`: accounts, for the operator."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from typing import Any

import click
from email_validator import EmailNotValidError, validate_email

from cw.errors import UsageError
from cw.visible import visible
from cw_hub.accounts import personal_limits, users
from cw_hub.cli.options import as_json, with_settings
from cw_hub.clock import utc_now
from cw_hub.operation.settings import HubSettings
from cw_hub.store.database import Database
from cw_hub.store.migrations import prepare
from cw_hub.store.tables import Role


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
        return act(session, utc_now)


def tell(document: dict[str, Any], words: str, *, as_json: bool) -> None:
    """Print a result, as JSON or as text."""
    click.echo(json.dumps(document, default=str) if as_json else visible(words))


@user.command("list")
@with_settings
@as_json
def list_users(settings: HubSettings, *, as_json: bool) -> None:
    """Print all accounts, one per line."""
    with opened(settings) as database, database.reading() as session:
        people = users.everybody(session)
    for facts in people:
        tell(asdict(facts), line_of(facts), as_json=as_json)


def line_of(facts: users.Facts) -> str:
    """Return an account as one line, without the e-mail."""
    marks = [facts.role, *(["locked"] if facts.locked_at else [])]
    return f"{facts.username}  {', '.join(marks)}  since {facts.created_at:%Y-%m-%d}"


@user.command()
@click.argument("name")
@with_settings
@as_json
def show(settings: HubSettings, name: str, *, as_json: bool) -> None:
    """Print the details of an account."""
    with opened(settings) as database, database.reading() as session:
        document = asdict(users.find(session, name))
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
    do(settings, partial(users.set_role, username=name, role=role))
    tell({"user": name, "role": role}, f"{name} is now {role}", as_json=as_json)


@user.command()
@click.argument("name")
@with_settings
@as_json
def lock(settings: HubSettings, name: str, *, as_json: bool) -> None:
    """Lock an account; open sessions end at once."""
    do(settings, partial(users.lock, username=name))
    tell({"user": name, "locked": True}, f"locked {name}", as_json=as_json)


@user.command()
@click.argument("name")
@with_settings
@as_json
def unlock(settings: HubSettings, name: str, *, as_json: bool) -> None:
    """Unlock an account."""
    do(settings, partial(users.unlock, username=name))
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
    do(settings, partial(users.delete, username=name))
    tell({"user": name, "deleted": True}, f"deleted {name}", as_json=as_json)


@user.command("set-email")
@click.argument("name")
@click.argument("email")
@with_settings
@as_json
def set_email(settings: HubSettings, name: str, email: str, *, as_json: bool) -> None:
    """Change the e-mail address of a user."""
    try:
        validate_email(email, check_deliverability=False, allow_smtputf8=False)
    except EmailNotValidError as error:
        raise UsageError(f"invalid e-mail address: {error}") from None
    do(settings, partial(users.set_email, username=name, email=email))
    tell({"user": name, "email": email}, f"the address of {name} is now {email}", as_json=as_json)


@user.command("confirm-email")
@click.argument("name")
@with_settings
@as_json
def confirm_email(settings: HubSettings, name: str, *, as_json: bool) -> None:
    """Mark the e-mail address of a user as confirmed, without a mail."""
    do(settings, partial(users.confirm_email, username=name))
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
        number = None if most == "usual" else personal_limits.read_most(most)
        do(settings, partial(users.set_limit, username=name, name=limit, most=number))
    with opened(settings) as database, database.reading() as session:
        limits = personal_limits.of_user(session, users.find(session, name).id)
    chosen = {key: value for key, value in limits.items() if limit in (None, key)}
    lines = [f"{personal_limits.LIMITS[key]}: {value}" for key, value in chosen.items()]
    tell({"user": name, "limits": chosen}, "\n".join(lines) or "as usual", as_json=as_json)


@user.command("reset-link")
@click.argument("name")
@with_settings
@as_json
def reset_link(settings: HubSettings, name: str, *, as_json: bool) -> None:
    """Print a link to reset a user's password, valid once and for a day.

    It begins with CW_PUBLIC_URL; without one, with CW_HOST and CW_PORT.
    """
    ticket = do(settings, partial(users.reset_link, username=name))
    link = f"{settings.address}/reset/{ticket}"
    tell({"user": name, "link": link}, link, as_json=as_json)
