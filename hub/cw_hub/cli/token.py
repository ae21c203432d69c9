"""`cw hub token`: access tokens for the API, created and revoked by the operator."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import get_args

import click

from cw.errors import UsageError
from cw_hub.accounts import users
from cw_hub.accounts.access import tokens
from cw_hub.accounts.access.tickets import Scope
from cw_hub.accounts.access.tokens import NewToken, Token
from cw_hub.cli.options import as_json, with_settings
from cw_hub.cli.user import do, opened, tell
from cw_hub.clock import utc_now
from cw_hub.operation.settings import HubSettings


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
    type=click.IntRange(1, max(tokens.DAYS)),
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
    if not 0 < len(name) <= tokens.LONGEST_NAME:
        raise UsageError(f"the name must have 1 to {tokens.LONGEST_NAME} characters")
    new = NewToken(name, frozenset(scopes), days)
    user_id = find(settings, username)
    secret = do(settings, partial(tokens.create, user_id=user_id, new=new, actor=users.OPERATOR))
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
    end = partial(tokens.revoke, user_id=user_id, digest=matching[0].digest, actor=users.OPERATOR)
    do(settings, end)
    document = {"user": username, "revoked": matching[0].short}
    tell(document, f"revoked {matching[0].name}", as_json=as_json)


def find(settings: HubSettings, username: str) -> int:
    """Return the id of a user; raise UsageError if there is none."""
    with opened(settings) as database, database.reading() as session:
        return users.find(session, username).id


def of_user(settings: HubSettings, user_id: int) -> list[Token]:
    """Return the tokens of a user."""
    with opened(settings) as database, database.reading() as session:
        return tokens.of_user(session, utc_now, user_id)
