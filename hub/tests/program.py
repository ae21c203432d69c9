"""A program that asks the API of a hub."""

from __future__ import annotations

from typing import Any

import requests

from cw_hub.accounts import administration, tickets
from cw_hub.accounts.tickets import NewToken, Scope
from hub.tests.sites import Site


class Program:
    """Asks the API, with a token or without."""

    def __init__(self, site: Site, token: str | None = None) -> None:
        self.address = f"{site.address}/api/v1"
        self.http = requests.Session()
        self.http.trust_env = False
        if token is not None:
            self.http.headers["Authorization"] = f"Bearer {token}"

    def ask(self, path: str, method: str = "GET", **more: Any) -> requests.Response:
        """Send a request; redirections are not followed."""
        return self.http.request(method, f"{self.address}{path}", allow_redirects=False, **more)

    def read(self, path: str, **query: object) -> Any:
        """Return what a path that must be there answers."""
        answer = self.ask(path, params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def do(self, path: str, body: object = None, method: str = "POST") -> requests.Response:
        """Send a body as JSON."""
        return self.ask(path, method, json=body)

    def everything(self, path: str, **query: object) -> list[Any]:
        """Return a list, read part by part."""
        items, after = [], ""
        while after is not None:
            part = self.read(path, after=after, **query)
            items += part["items"]
            after = part["next"]
        return items


def new_token(site: Site, username: str, *scopes: Scope, days: int = 30, name: str = "ci") -> str:
    """Make a token for a user, as the operator does."""
    new = NewToken(name, frozenset(scopes or ("read",)), days)
    resources = site.resources
    with resources.database.writing() as session:
        user_id = administration.find(session, username).id
        return tickets.create(session, user_id, new)


def program_of(site: Site, username: str, *scopes: Scope) -> Program:
    """Return a program with a new token of a user."""
    return Program(site, new_token(site, username, *scopes))


def make_admin(site: Site, username: str) -> None:
    """Give a user the role."""
    with site.resources.database.writing() as session:
        administration.set_role(session, username, "admin")
