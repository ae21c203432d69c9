"""Shared by the pages of contests: their own server, and a part that pages poll."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from flask import Flask, Response, make_response, redirect, render_template, request, url_for

from cw.server.app import bare_server
from cw.server.settings import ServerSettings
from cw.web.answers import revalidated
from cw.web.replays import replay_routes
from cw.web.replays.thumbnails import Thumbnails


def contest_server(name: str) -> Flask:
    """Return an application for the page of a contest, `/name/`, and the replays of its matches.

    The caller adds the page itself and the store of the replays.
    """
    app = bare_server(ServerSettings())
    app.config["HOME"] = f"{name}.page"
    app.config["NO_SUCH_PAGE"] = f"there is no such page; the {name} is at /{name}/"
    app.url_map.converters["replay"] = replay_routes.ReplayConverter
    app.extensions["uploads"] = None
    app.extensions["thumbnails"] = Thumbnails()
    app.register_blueprint(replay_routes.routes)
    app.add_url_rule("/", "home", lambda: redirect(url_for(f"{name}.page")))
    return app


def whole_page(template: str, tag: str, values: Mapping[str, Any]) -> Response:
    """Return a page that knows the tag of its changing part."""
    answer = make_response(render_template(template, tag=f'"{tag}"', **values))
    answer.headers["Cache-Control"] = "no-store"
    return answer


def changed_part(tag: str, render: Callable[[], str]) -> Response:
    """Return the changing part of a page, with its tag; 304 if the client has it already."""
    is_known = request.if_none_match.contains(tag)
    answer = revalidated(Response(status=304) if is_known else render())
    answer.set_etag(tag)
    return answer
