"""Patches between JSON documents."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cw.errors import ProtocolError
from cw.replays.json_diff import difference, patched

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


numbers = st.lists(
    st.fixed_dictionaries({"a": st.integers(-3, 3), "b": st.integers(0, 1)}), max_size=8
)


@given(numbers, numbers)
def test_lists_of_numbers_are_led_by_steps(old: Any, new: Any) -> None:
    patch = json.loads(json.dumps(difference(old, new)))
    assert patched(old, patch) == new


def test_steps_are_told_by_member() -> None:
    before = [{"row": 7, "dead": False} for _ in range(9)]
    after = deepcopy(before)
    after[4]["row"], after[7]["row"], after[8]["row"] = 8, 6, 6
    after[0]["dead"] = True
    patch = {"+": {"row": [[4, 3, 1], [1, -1, -1]]}, "0": {"dead": [True]}}
    assert difference(before, after) == patch
    assert patched(before, patch) == after


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
        ([{"a": 1}], {"+": 5}),
        ([{"a": 1}], {"+": {"a": [[0], [1], [2]]}}),
        ([{"a": 1}], {"+": {"a": [[0, 1], [1]]}}),
        ([{"a": 1}], {"+": {"a": [[1], [1]]}}),
        ([{"a": 1}], {"+": {"a": [[-1], [1]]}}),
        ([{"a": 1}], {"+": {"b": [[0], [1]]}}),
        ([{"a": True}], {"+": {"a": [[0], [1]]}}),
        ([{"a": 1}], {"+": {"a": [[0.5], [1]]}}),
        ([{"a": 1}], {"+": {"a": [[0], ["1"]]}}),
        ([1], {"+": {"a": [[0], [1]]}}),
        ([1], {"#": -1}),
        ([1], {"#": "2"}),
        ([1], {"#": True}),
    ],
)
def test_a_patch_that_does_not_fit_is_refused(old: Any, patch: Any) -> None:
    with pytest.raises(ProtocolError):
        patched(old, patch)
