"""Reads the settings of a hub from environment variables, and lists them for people."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import Field, fields
from typing import Any, Final, NamedTuple, cast

from cw.errors import UsageError, short
from cw_hub.operation.setting_types import Read
from cw_hub.operation.settings import HubSettings

OF_OTHERS: Final = re.compile(
    r"CW_(PAUSE|SERVER|CHROMIUM|CASES|GAMES|KILLS|MATCHES|BETWEEN|PYTHONS|ALL_SCREENS|THOROUGH"
    r"|PEOPLE|PICTURES|REQUIRE_[A-Z]+)"
)
"""Variables named CW_... that belong to the arena and its tests."""


SECRETS: Final = frozenset(
    {
        "CW_MASTER_KEYS",
        "CW_SECRET_KEY",
        "CW_MAIL",
        "CW_DATABASE_URL",
        "CW_DATABASE_READ_URL",
        "CW_BROKER_URL",
        "CW_GITHUB_SECRET",
    }
)
"""Settings that may hold a password: their values are never printed."""


class SettingRow(NamedTuple):
    """A setting as listed for people."""

    name: str
    value: str
    default: str
    words: str


def read_settings(
    environment: Mapping[str, str], overrides: Sequence[str] = (), **others: Any
) -> HubSettings:
    """Read the settings of an environment; overrides `CW_NAME=VALUE` take precedence.

    Raises UsageError for an unknown name or an invalid value.
    """
    texts = {name: text for name, text in environment.items() if name.startswith("CW_")}
    texts = {name: text for name, text in texts.items() if not OF_OTHERS.fullmatch(name)}
    for pair in overrides:
        name, equals, text = pair.partition("=")
        if not equals:
            raise UsageError(f"--set takes CW_NAME=VALUE, not {short(pair)}")
        texts[name] = text
    by_name = {variable(setting): setting for setting in declared()}
    for name in texts:
        if name not in by_name:
            raise UsageError(f"unknown setting {name}; cw hub settings lists all settings")
    values = {by_name[name].name: read(name, by_name[name], text) for name, text in texts.items()}
    return HubSettings(**values, **others)


def read(name: str, setting: Field[Any], text: str) -> Any:
    """Parse the value of a setting; an empty text means its default."""
    if not text:
        return setting.default
    try:
        return cast(Read, setting.metadata["read"])(text)
    except ValueError as error:
        value = "" if name in SECRETS else f", not {short(text)}"
        raise UsageError(f"{name} must be {error}{value}") from None


def declared() -> Iterator[Field[Any]]:
    """Return the fields that are settings."""
    return (setting for setting in fields(HubSettings) if setting.metadata)


def variable(setting: Field[Any]) -> str:
    """Return the environment variable of a setting."""
    return f"CW_{setting.name.upper()}"


def setting_rows(settings: HubSettings) -> list[SettingRow]:
    """Return all settings for people; secret ones are shown as `(set)`."""
    return [row_of(setting, getattr(settings, setting.name)) for setting in declared()]


def row_of(setting: Field[Any], value: Any) -> SettingRow:
    """Return one setting for people."""
    name, about = variable(setting), setting.metadata
    default = about["default"] or f"({about['empty']})"
    text = default if value == setting.default else as_text(value)
    if name in SECRETS and value != setting.default:
        text = "(set)"
    return SettingRow(name, text, default, about["words"])


def as_text(value: Any) -> str:
    """Return the text form of a value, as `read` accepts it."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, tuple):
        return ",".join(value)
    return f"{value:g}" if isinstance(value, float) else str(value)
