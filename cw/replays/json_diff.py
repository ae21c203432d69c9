"""The difference between two JSON documents as a patch, a small document of its own.

A patch is either `[value]`, a new value, or an object of patches for the members that change, by
key, or by index for arrays. In addition, `"-"` lists removed keys, and `"#"` is the new length of
an array. If integers change in many elements of an array, `"+"` has two columns for each key: the
elements (the first index, then the distance to the next one), and the steps by which they change:
`{"row": [[4, 3], [1, -1]]}` adds 1 to `row` of element 4, and subtracts 1 from `row` of element 7.

From one frame to the next, most units move by one cell or lose a point. So the columns contain
small numbers that repeat, which compress far better than new values under large indexes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import accumulate, pairwise
from typing import Final

from cw.errors import ProtocolError
from cw.games.rules import Json

GONE: Final = "-"
LENGTH: Final = "#"
STEPS: Final = "+"
FEW: Final = 2
"""Up to this many elements, changed numbers are written individually, as patches."""


def difference(old: Json, new: Json) -> Json:
    """Return the patch that turns `old` into `new`; {} if they are equal.

    Uses Python's equality: a change of 1 into 1.0 or true goes unnoticed, and no frame has one.

    >>> difference({"turn": 3, "board": [0, 0, 1]}, {"turn": 4, "board": [0, 2, 1]})
    {'turn': [4], 'board': {'1': [2]}}
    """
    if isinstance(old, dict) and isinstance(new, dict):
        return object_patch(old, new)
    if isinstance(old, list) and isinstance(new, list):
        return array_patch(old, new)
    return {} if old == new else [new]


def object_patch(old: dict[str, Json], new: dict[str, Json]) -> dict[str, Json]:
    """Return the patch between two objects."""
    patch = {
        key: difference(old[key], value) if key in old else [value]
        for key, value in new.items()
        if key not in old or old[key] != value
    }
    gone = [key for key in old if key not in new]
    return patch | ({GONE: gone} if gone else {})


def array_patch(old: list[Json], new: list[Json]) -> dict[str, Json]:
    """Return the patch between two arrays."""
    changed = {
        index: difference(before, after)
        for index, (before, after) in enumerate(zip(old, new, strict=False))
        if before != after
    }
    counted = [index for index, change in changed.items() if is_counted(old[index], change)]
    patch: dict[str, Json] = {}
    # Columns pay off from three elements on; below, their frame is longer than the patches.
    if len(counted) > FEW:
        patch[STEPS] = steps({index: changed.pop(index) for index in counted}, old)
    patch |= {str(index): change for index, change in changed.items()}
    patch |= {str(index): [new[index]] for index in range(len(old), len(new))}
    return patch | ({LENGTH: len(new)} if len(new) != len(old) else {})


def is_counted(old: Json, change: Json) -> bool:
    """Return whether a patch of an object only replaces integers by integers."""
    if not isinstance(old, dict) or not isinstance(change, dict):
        return False
    return all(
        isinstance(value, list) and type(old.get(key)) is int and type(value[0]) is int
        for key, value in change.items()
    )


def steps(changes: Mapping[int, Json], old: list[Json]) -> dict[str, Json]:
    """Return the columns of elements and of steps, by key."""
    columns: dict[str, tuple[list[int], list[int]]] = {}
    for index, change in changes.items():
        for key, (value,) in change.items():
            indexes, by = columns.setdefault(key, ([], []))
            indexes.append(index)
            by.append(value - old[index][key])
    return {key: [distances(indexes), by] for key, (indexes, by) in columns.items()}


def distances(indexes: list[int]) -> list[int]:
    """Return the first of ascending indexes, then the distance from each to the next."""
    return [index - before for before, index in pairwise([0, *indexes])]


def patched(old: Json, patch: Json) -> Json:
    """Return a document with a patch applied; raise ProtocolError if the patch does not fit."""
    if isinstance(patch, list) and len(patch) == 1:
        return patch[0]
    if patch == {}:
        return old
    if not isinstance(patch, dict) or not isinstance(old, dict | list):
        raise ProtocolError("a patch must be [value], or an object for an object or an array")
    return patched_object(old, patch) if isinstance(old, dict) else patched_array(old, patch)


def patched_object(old: dict[str, Json], patch: dict[str, Json]) -> dict[str, Json]:
    """Return an object with a patch applied."""
    gone = patch.get(GONE, [])
    if not isinstance(gone, list):
        raise ProtocolError(f"a patch's {GONE!r} must be a list of keys")
    new = {key: value for key, value in old.items() if key not in gone}
    for key, change in patch.items():
        if key != GONE:
            new[key] = patched(old.get(key), change)
    return new


def patched_array(old: list[Json], patch: dict[str, Json]) -> list[Json]:
    """Return an array with a patch applied."""
    length = patch.get(LENGTH, len(old))
    # Bounded by the patch itself: a few bytes must not ask for a list of gigabytes.
    if type(length) is not int or not 0 <= length <= len(old) + len(patch):
        raise ProtocolError(f"this patch cannot give an array of length {length!r}")
    new = old[:length] + [None] * (length - len(old))
    for index, key, step in taken_steps(patch.get(STEPS, {})):
        new[index] = stepped(new[index] if 0 <= index < len(new) else None, key, step)
    for key, change in patch.items():
        if key not in (LENGTH, STEPS):
            # Python refuses to parse very long numbers, and `isdecimal` admits any number of
            # digits.
            index = int(key) if key.isdecimal() and len(key) < 9 else length
            if index >= length:
                raise ProtocolError(f"the array has no member {key!r}")
            new[index] = patched(old[index] if index < len(old) else None, change)
    return new


def taken_steps(columns: Json) -> Iterator[tuple[int, str, int]]:
    """Yield index, key and step for every entry of the columns under `"+"`."""
    if not isinstance(columns, dict) or not all(map(is_column, columns.values())):
        raise ProtocolError(f"a patch's {STEPS!r} must hold pairs of lists of whole numbers")
    for key, (gaps, by) in columns.items():
        for index, step in zip(accumulate(gaps), by, strict=True):
            yield index, key, step


def is_column(column: Json) -> bool:
    """Return whether a value is a pair of equally long lists of integers."""
    return (
        isinstance(column, list)
        and len(column) == len(("distances", "steps"))
        and all(isinstance(half, list) for half in column)
        and len(column[0]) == len(column[1])
        and all(type(number) is int for half in column for number in half)
    )


def stepped(old: Json, key: str, step: int) -> Json:
    """Return an object with a step added to one of its integers."""
    if not isinstance(old, dict) or type(old.get(key)) is not int:
        raise ProtocolError(f"there is no whole number {key!r} to change by {step}")
    return old | {key: old[key] + step}
