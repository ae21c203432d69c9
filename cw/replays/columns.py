"""A compact form of JSON: lists of objects with the same keys as tables of columns.

`[{"row": 1, "col": 2}, {"row": 3, "col": 4}]` becomes `{"@": {"row": [1, 3], "col": [2, 4]}}`: each
key is written once per list instead of once per object, and similar values side by side compress
better.
"""

from __future__ import annotations

from typing import Final

from cw.errors import ProtocolError
from cw.games.rules import Json
from cw.games.wire import CONTAINERS

COLUMNS: Final = "@"
"""The only key of a table."""

LONGEST_NAME: Final = 64
"""Maximum characters of a column's name, since it is repeated in every object of the table."""


def to_columns(document: Json) -> Json:
    """Return a document with its lists of similar objects as tables; None if it has a key `@`.

    >>> to_columns([{"row": 1, "col": 2}, {"row": 3, "col": 4}])
    {'@': {'row': [1, 3], 'col': [2, 4]}}
    """
    try:
        return _to_columns(document)
    except ProtocolError:
        return None


def _to_columns(document: Json) -> Json:
    if isinstance(document, dict):
        if COLUMNS in document:
            raise ProtocolError(f"the document has a member {COLUMNS!r} of its own")
        return {key: _to_columns(value) for key, value in document.items()}
    if not isinstance(document, list):
        return document
    if len(document) > 1 and all(isinstance(item, dict) and item for item in document):
        keys = list(document[0])
        if all(map(is_name, keys)) and all(list(item) == keys for item in document):
            return {COLUMNS: {key: [_to_columns(item[key]) for item in document] for key in keys}}
    return [_to_columns(item) for item in document]


def from_columns(document: Json) -> Json:
    """Return a document with its tables turned back into lists of objects.

    Raises ProtocolError for an invalid table.
    """
    if isinstance(document, list):
        # Columns hold thousands of numbers, which are passed on without a call for each.
        return [from_columns(item) if isinstance(item, CONTAINERS) else item for item in document]
    if not isinstance(document, dict):
        return document
    if set(document) != {COLUMNS}:
        return {key: from_columns(value) for key, value in document.items()}
    columns = document[COLUMNS]
    if not isinstance(columns, dict) or not all(
        isinstance(item, list) for item in columns.values()
    ):
        raise ProtocolError("a table must be an object of lists")
    if not all(map(is_name, columns)):
        raise ProtocolError(f"the names of columns must have at most {LONGEST_NAME} characters")
    if len({len(item) for item in columns.values()}) != 1:
        raise ProtocolError("the columns of a table must be equally long")
    rows = zip(*(from_columns(column) for column in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def is_name(key: str) -> bool:
    """Return whether a key can be the name of a column."""
    return key != COLUMNS and len(key) <= LONGEST_NAME
