"""Patches between JSON documents."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cw.arena.patches import difference, patched
from cw.errors import ProtocolError

leaves = st.none() | st.integers(-9, 9) | st.text("ab", max_size=2)
documents = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("xyz", max_size=1), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(documents, documents)
def test_a_patch_leads_from_one_document_to_the_other(old: Any, new: Any) -> None:
    before = deepcopy(old)
    patch = json.loads(json.dumps(difference(old, new)))
    assert patched(old, patch) == new
    assert old == before


@given(documents)
def test_nothing_changes_nothing(document: Any) -> None:
    assert difference(document, document) == {}


def test_the_example_of_the_documentation() -> None:
    before = {"turn": 4, "bots": [{"row": 1}, {"row": 2}]}
    after = {"turn": 5, "bots": [{"row": 0}]}
    patch = {"turn": [5], "bots": {"0": {"row": [0]}, "#": 1}}
    assert difference(before, after) == patch
    assert patched(before, patch) == after


@pytest.mark.parametrize(
    ("old", "patch"),
    [
        ({}, 5),
        ({}, {"-": 5}),
        ({}, []),
        ({}, [1, 2]),
        (7, {"a": [1]}),
        ([1], {"1": [2]}),
        ([1], {"-1": [2]}),
        ([1], {"x": [2]}),
        ([1], {"9" * 5000: [2]}),
        ([1], {"#": 10**9}),
        ([1], {"#": -1}),
        ([1], {"#": "2"}),
        ([1], {"#": True}),
    ],
)
def test_a_patch_that_does_not_fit_is_refused(old: Any, patch: Any) -> None:
    with pytest.raises(ProtocolError):
        patched(old, patch)
