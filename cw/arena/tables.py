"""Lists of like objects as tables: what a file says in many objects is said in few lists.

`[{"row": 1, "col": 2}, {"row": 3, "col": 4}]` becomes `{"@": {"row": [1, 3], "col": [2, 4]}}`.
"""

from __future__ import annotations

from typing import Final

from cw.errors import ProtocolError
from cw.games.base import Json

TABLE: Final = "@"
LONGEST_NAME: Final = 64
"""Signs of a column's name: it stands in every object that is made of a table."""


def tabled(document: Json) -> Json:
    """Give a document with its lists of like objects as tables; None if it has a name of theirs."""
    try:
        return _tabled(document)
    except ProtocolError:
        return None


def _tabled(document: Json) -> Json:
    if isinstance(document, dict):
        if TABLE in document:
            raise ProtocolError(f"the document has a member {TABLE!r} of its own")
        return {key: _tabled(value) for key, value in document.items()}
    if not isinstance(document, list):
        return document
    if len(document) > 1 and all(isinstance(one, dict) and one for one in document):
        keys = list(document[0])
        if all(map(is_name, keys)) and all(list(one) == keys for one in document):
            return {TABLE: {key: [_tabled(one[key]) for one in document] for key in keys}}
    return [_tabled(one) for one in document]


def untabled(document: Json) -> Json:
    """Give the document of which tables were made; raise ProtocolError for a broken table."""
    if isinstance(document, list):
        return [untabled(one) for one in document]
    if not isinstance(document, dict):
        return document
    if set(document) != {TABLE}:
        return {key: untabled(value) for key, value in document.items()}
    columns = document[TABLE]
    if not isinstance(columns, dict) or not all(isinstance(one, list) for one in columns.values()):
        raise ProtocolError("a table must be an object of lists")
    if not all(map(is_name, columns)):
        raise ProtocolError(f"the names of columns must have up to {LONGEST_NAME} signs")
    if len({len(one) for one in columns.values()}) != 1:
        raise ProtocolError("the columns of a table must be equally long")
    rows = zip(*(untabled(column) for column in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def is_name(key: str) -> bool:
    """Tell whether members of this name can be a column."""
    return key != TABLE and len(key) <= LONGEST_NAME
