"""The routes of the API, and its access from pages of other sites."""

from __future__ import annotations

from collections.abc import Sequence

from flask import Blueprint, Flask
from flask_cors import CORS

from cw_hub.competitions.format import Format
from cw_hub.site.api.description import description, operations_of


def routes_of(formats: Sequence[Format]) -> Blueprint:
    """Return the routes of the API of a site with these formats."""
    routes = Blueprint("api", __name__, url_prefix="/api")
    for operation in operations_of(formats):
        routes.add_url_rule(
            f"/v1{operation.path}", operation.name, operation.view, methods=[operation.method]
        )
    routes.add_url_rule("/openapi.json", "description", description)
    return routes


def install(app: Flask) -> None:
    """Allow pages of any site to read the API: it ignores cookies, so they get only public data."""
    CORS(app, resources={r"/api/.*": {"origins": "*", "methods": ["GET"]}}, send_wildcard=True)
