"""Rules of URLs, compiled once in a process: Werkzeug would do it again for each app of a test.

That takes most of the time in which an app is made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from werkzeug.routing import Rule

Builder = Callable[..., tuple[str, str]]

_COMPILE: Final = Rule._compile_builder
_builders: dict[tuple[Any, ...], Builder] = {}


def _builder(rule: Rule, append_unknown: bool = True) -> Builder:
    """Return what makes URLs of a rule; it depends on nothing but what is the key here."""
    key = (append_unknown, rule.rule, *rule._trace, *sorted((rule.defaults or {}).items()))
    if key not in _builders:
        _builders[key] = _COMPILE(rule, append_unknown)
    return _builders[key]


def compile_once() -> None:
    """Let each rule be compiled once."""
    setattr(Rule, "_compile_builder", _builder)  # noqa: B010
