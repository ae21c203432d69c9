"""Generates the OpenAPI 3.1 description of the API from its operations and types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
from flask import Blueprint, Flask, Response
from flask_cors import CORS

from cw_hub.api import Operation, Problem, answer_with, permit
from cw_hub.competitions.format import Format
from cw_hub.pages.request import resources
from cw_hub.site.api import reading, writing
from cw_hub.site.formats import site_formats

COMPONENT: Final = "#/components/schemas/{name}"

ABOUT: Final = (
    "What is public can be read without a token. An access token, created on the Settings page, "
    "is sent as `Authorization: Bearer cw_...`: with the scope `read` it shows what only its "
    "user may see,"
    " with `bots` it acts for the bots of its user. Lists come in pages: `next` of one page is "
    "`after` of the following one."
)

REFUSALS: Final[Mapping[int, str]] = {
    400: "A parameter is unknown or invalid, or the body is not JSON.",
    401: "No access token, or one that is unknown, revoked or expired.",
    403: "The token does not allow this, or belongs to someone else.",
    404: "Not found, or not visible to you.",
    409: "Not possible in the current state.",
    413: "The body has more than 64 KiB.",
    415: "The body is not JSON.",
    422: "Fields of the body are invalid; `fields` says why.",
    429: "Too many requests; `Retry-After` says when to try again.",
    503: "The site cannot reach its storage.",
}

NAMES: Final[Mapping[str, str]] = {
    "bot_id": "For example b_00c0ffee.",
    "match_id": "For example m_00c0ffee.",
    "challenge_id": "For example c_00c0ffee.",
    "username": "Case-insensitive.",
    "map_id": "For example m2_001.",
    "slug": "For example autumn-duel.",
    "group": "The slug of a group, such as athens.",
}
"""Descriptions of path parameters."""


def operations_of(formats: Sequence[Format]) -> tuple[Operation, ...]:
    """Return all API operations of a site with these formats."""
    own = (operation for format_ in formats for operation in format_.api)
    return (*reading.routes.operations, *own, *writing.routes.operations)


def describe(address: str, operations: Sequence[Operation]) -> dict[str, Any]:
    """Return the API description of the site at this URL."""
    types: list[Any] = [Problem]
    for operation in operations:
        types += [kind for kind in (operation.answer, operation.body) if kind is not None]
    schemas, components = msgspec.json.schema_components(types, ref_template=COMPONENT)
    schema_of = dict(zip(map(str, types), schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        path = operation.path.replace("<", "{").replace(">", "}")
        paths.setdefault(path, {})[operation.method.lower()] = described(operation, schema_of)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Circuit Wars hub", "version": "1", "description": ABOUT},
        "servers": [{"url": f"{address}/api/v1"}],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def described(operation: Operation, schema_of: Mapping[str, Any]) -> dict[str, Any]:
    """Return the description of an operation; `schema_of` maps all types to their schemas."""
    scopes = [operation.scope] if operation.scope else []
    document: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "security": [{"token": scopes}] if operation.needs_token else [{}, {"token": []}],
        "parameters": [*map(path_parameter, operation.names), *query_parameters(operation)],
        "responses": {str(operation.code): content("Success.", schema_of[str(operation.answer)])},
    }
    for code in refusals_of(operation):
        document["responses"][str(code)] = content(REFUSALS[code], schema_of[str(Problem)])
    if operation.body is not None:
        body = {"application/json": {"schema": schema_of[str(operation.body)]}}
        document["requestBody"] = {"required": True, "content": body}
    return document


def refusals_of(operation: Operation) -> list[int]:
    """Return the status codes with which an operation may fail."""
    codes = {401, 404, 429, 503}
    if operation.query is not None or operation.body is not None:
        codes.add(400)
    if operation.needs_token:
        codes.add(403)
    if operation.method != "GET":
        codes |= {409, 413}
    if operation.body is not None:
        codes |= {415, 422}
    return sorted(codes)


def content(words: str, schema: Any) -> dict[str, Any]:
    """Return the description of a response."""
    return {"description": words, "content": {"application/json": {"schema": schema}}}


def path_parameter(name: str) -> dict[str, Any]:
    """Return the description of a path parameter."""
    return {
        "name": name,
        "in": "path",
        "required": True,
        "description": NAMES.get(name, name),
        "schema": {"type": "string", "minLength": 1},
    }


def query_parameters(operation: Operation) -> list[dict[str, Any]]:
    """Return the descriptions of an operation's query parameters."""
    if operation.query is None:
        return []
    _, components = msgspec.json.schema_components([operation.query])
    properties = components[operation.query.__name__]["properties"]
    return [parameter(name, dict(schema)) for name, schema in properties.items()]


def parameter(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Return the description of a query parameter."""
    words = schema.pop("description", None)
    fields = {"name": name, "in": "query", "required": False, "schema": schema}
    return fields if words is None else {**fields, "description": words}


def description() -> Response:
    """Serve the OpenAPI description of the API."""
    permit(None, needs_token=False)
    return answer_with(describe(resources().settings.address, operations_of(site_formats())), 200)


def routes_of(formats: Sequence[Format]) -> Blueprint:
    """Return the API blueprint of a site with these formats."""
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
