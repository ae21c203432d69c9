"""Lists of like objects as tables, and back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cw.errors import ProtocolError
from cw.replays.document import from_columns, to_columns

documents = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text("ab", max_size=2),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text("ab", max_size=1), inner, max_size=3)
        | st.lists(st.fixed_dictionaries({"a": inner, "b": inner}), max_size=4)
    ),
    max_leaves=16,
)


@given(documents)
def test_what_was_tabled_comes_back(document: Any) -> None:
    tables = to_columns(document)
    assert from_columns(json.loads(json.dumps(tables))) == document


def test_like_objects_become_lists() -> None:
    document = {"0": [{"row": 1, "col": 2}, {"row": 3, "col": 4}], "1": [{"row": 5}]}
    tables = {"0": {"@": {"row": [1, 3], "col": [2, 4]}}, "1": [{"row": 5}]}
    assert to_columns(document) == tables
    assert from_columns(tables) == document


def test_a_document_with_a_name_of_tables_stays_as_it_is() -> None:
    assert to_columns({"0": {"@": 5}}) is None
    assert to_columns({"0": [{"@": 5}, {"@": 6}]}) is None


def test_names_of_columns_are_short() -> None:
    """A long one would stand in every object that is made of the table."""
    document = [{"a" * 65: 1}, {"a" * 65: 2}]
    assert to_columns(document) == document
    with pytest.raises(ProtocolError, match="at most 64 characters"):
        from_columns({"@": {"a" * 65: [1, 2]}})


@pytest.mark.parametrize(
    "tables",
    [{"@": 5}, {"@": {}}, {"@": {"a": 5}}, {"@": {"a": [1], "b": []}}, [{"@": {"a": {"b": 1}}}]],
    ids=str,
)
def test_broken_tables_are_refused(tables: Any) -> None:
    with pytest.raises(ProtocolError):
        from_columns(tables)
