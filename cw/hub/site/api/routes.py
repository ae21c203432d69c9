"""The addresses of the API, and who may ask them from pages of other sites."""

from __future__ import annotations

from flask import Blueprint, Flask
from flask_cors import CORS

from cw.hub.site.api.description import OPERATIONS, description

routes = Blueprint("api", __name__, url_prefix="/api")

for operation in OPERATIONS:
    routes.add_url_rule(
        f"/v1{operation.path}", operation.name, operation.view, methods=[operation.method]
    )
routes.add_url_rule("/openapi.json", "description", description)


def install(app: Flask) -> None:
    """Let pages of any site read the API: it reads no cookie, so they learn what all may."""
    CORS(app, resources={r"/api/.*": {"origins": "*", "methods": ["GET"]}}, send_wildcard=True)
