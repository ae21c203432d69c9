"""What changes between two JSON documents, as a small document of its own.

A patch is `[value]`: a new value; or an object: the patches of members that change, by key, or by
index for arrays. Beside them `"-"` lists the keys that are gone, and `"#"` is the new length of an
array.
"""

from __future__ import annotations

from typing import Final

from cw.errors import ProtocolError
from cw.games.base import Json

GONE: Final = "-"
LENGTH: Final = "#"


def difference(old: Json, new: Json) -> Json:
    """Give the patch that makes `new` of `old`; {} if they are equal.

    Numbers are compared as numbers: no frame changes 1 into 1.0 or into true.
    """
    if isinstance(old, dict) and isinstance(new, dict):
        return object_patch(old, new)
    if isinstance(old, list) and isinstance(new, list):
        return array_patch(old, new)
    return {} if old == new else [new]


def object_patch(old: dict[str, Json], new: dict[str, Json]) -> dict[str, Json]:
    """Give the patch between two objects."""
    patch = {
        key: difference(old[key], value) if key in old else [value]
        for key, value in new.items()
        if key not in old or old[key] != value
    }
    gone = [key for key in old if key not in new]
    return patch | ({GONE: gone} if gone else {})


def array_patch(old: list[Json], new: list[Json]) -> dict[str, Json]:
    """Give the patch between two arrays."""
    patch: dict[str, Json] = {
        str(index): difference(before, after)
        for index, (before, after) in enumerate(zip(old, new, strict=False))
        if before != after
    }
    patch |= {str(index): [new[index]] for index in range(len(old), len(new))}
    return patch | ({LENGTH: len(new)} if len(new) != len(old) else {})


def patched(old: Json, patch: Json) -> Json:
    """Give the document that a patch makes; raise ProtocolError if it does not fit."""
    if isinstance(patch, list) and len(patch) == 1:
        return patch[0]
    if patch == {}:
        return old
    if not isinstance(patch, dict) or not isinstance(old, dict | list):
        raise ProtocolError("a patch must be [value], or an object for an object or an array")
    return patched_object(old, patch) if isinstance(old, dict) else patched_array(old, patch)


def patched_object(old: dict[str, Json], patch: dict[str, Json]) -> dict[str, Json]:
    """Change the members of an object."""
    gone = patch.get(GONE, [])
    if not isinstance(gone, list):
        raise ProtocolError(f"a patch's {GONE!r} must be a list of keys")
    new = {key: value for key, value in old.items() if key not in gone}
    for key, change in patch.items():
        if key != GONE:
            new[key] = patched(old.get(key), change)
    return new


def patched_array(old: list[Json], patch: dict[str, Json]) -> list[Json]:
    """Change the members of an array."""
    length = patch.get(LENGTH, len(old))
    if type(length) is not int or not 0 <= length <= len(old) + len(patch):
        raise ProtocolError(f"no array of length {length!r} can come of this patch")
    new = old[:length] + [None] * (length - len(old))
    for key, change in patch.items():
        if key != LENGTH:
            index = int(key) if key.isdecimal() and len(key) < 9 else length
            if index >= length:
                raise ProtocolError(f"the array has no member {key!r}")
            new[index] = patched(old[index] if index < len(old) else None, change)
    return new
