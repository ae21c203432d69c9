"""The settings of a rated competition as an operator gives them: of their types, or refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from cw.errors import UsageError, short


class GivenSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Those of `RatedSettings` that are given."""

    formats: tuple[Annotated[int, Meta(ge=2)], ...] | UnsetType = UNSET
    options: dict[str, Any] | UnsetType = UNSET
    same_owner: bool | UnsetType = UNSET
    rest: Annotated[float, Meta(ge=0)] | UnsetType = UNSET
    house_plays: bool | UnsetType = UNSET
    matches: Annotated[int, Meta(ge=0)] | UnsetType | None = UNSET


def read_settings(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return settings of their types; words such as `true`, `60` and `2,4` are read.

    Raises UsageError for what cannot be: a tick that reads it would fail, and all the others too.
    """
    known = dict(values)
    if isinstance(known.get("formats"), str):
        known["formats"] = known["formats"].split(",")
    try:
        given = msgspec.convert(known, GivenSettings, strict=False)
    except msgspec.ValidationError as error:
        names = ", ".join(GivenSettings.__struct_fields__)
        raise UsageError(
            f"a rated competition has {names}; {short(str(error))} (try rest=60 house_plays=true)"
        ) from None
    return dict(msgspec.to_builtins(given))
