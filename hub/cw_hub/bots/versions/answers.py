"""Responses to authors about versions: the file of one, and the differences between two."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from typing import Final

from flask import Response, abort, render_template, request, send_file

from cw_hub.bots import programs
from cw_hub.bots.versions import views
from cw_hub.bots.versions.comparing import compare
from cw_hub.bots.versions.views import Version
from cw_hub.pages.queries import whole_number
from cw_hub.pages.request import one_reading, resources
from cw_hub.players import packages

NO_VERSION: Final = "There is no such version."


@dataclass(frozen=True, slots=True)
class Author:
    """The bot whose versions are requested, by a requester verified to be its author."""

    id: int
    bot_id: str
    name: str
    url: Callable[..., str]
    """Returns the address of an action on versions, by its name."""
    back: str
    """The address of the page of the bot."""
    asked: Mapping[str, str] = field(default_factory=dict)
    """The fields that a form sends besides the path of such an address."""


def find(author: Author, number: int | None) -> Version:
    """Return a version of an author's bot; answer 404 if it does not exist."""
    with one_reading() as reading:
        version = None if number is None else views.find(reading, author.id, number)
    return version or abort(404, NO_VERSION)


def data_of(author: Author, version: Version) -> bytes:
    """Return the stored zip of a version."""
    return programs.fetched(resources().objects, author.bot_id, version.sha256)


def file(author: Author, number: int) -> Response:
    """Return a version as a zip."""
    data = data_of(author, find(author, number))
    name = f"{author.name}-{number}.zip"
    answer = send_file(BytesIO(data), "application/zip", as_attachment=True, download_name=name)
    answer.headers["Cache-Control"] = "private, no-store"
    return answer


def comparison(author: Author) -> str:
    """Return the page that compares the two versions of the query, the older first."""
    asked = sorted(whole_number(request.args.get(name, ""), least=1) or 0 for name in ("a", "b"))
    old, new = (find(author, number) for number in asked)
    files = [packages.files_of(data_of(author, version)) for version in (old, new)]
    return render_template(
        "hub/bots/compare.html", author=author, old=old, new=new, compared=compare(*files)
    )
