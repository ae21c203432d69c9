"""Rules of URLs, parsed and compiled once in a process: Werkzeug would do it again for each app.

That takes most of the time in which an app is made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from werkzeug.routing import Rule
from werkzeug.routing.rules import RulePart

Builder = Callable[..., tuple[str, str]]
Parsed = tuple[list[RulePart], list[tuple[bool, str]], dict[str, Any]]

_PARSE: Final = Rule._parse_rule
_COMPILE: Final = Rule._compile_builder
_parsed: dict[tuple[Any, ...], Parsed] = {}
_builders: dict[tuple[Any, ...], Builder] = {}


def _parse(rule: Rule, text: str) -> list[RulePart]:
    """Return the parts of a rule, and note its trace and converters; its text decides them."""
    assert rule.map is not None
    key = (text, *rule.map.converters.values())
    if key not in _parsed:
        before = len(rule._trace)
        parts = list(_PARSE(rule, text))
        _parsed[key] = parts, rule._trace[before:], dict(rule._converters)
        return parts
    parts, trace, converters = _parsed[key]
    rule._trace.extend(trace)
    rule._converters.update(converters)
    rule.arguments.update(converters)
    return parts


def _builder(rule: Rule, append_unknown: bool = True) -> Builder:
    """Return what makes URLs of a rule; it depends on nothing but what is the key here."""
    key = (append_unknown, rule.rule, *rule._trace, *sorted((rule.defaults or {}).items()))
    if key not in _builders:
        _builders[key] = _COMPILE(rule, append_unknown)
    return _builders[key]


def compile_once() -> None:
    """Let each rule be parsed and compiled once."""
    setattr(Rule, "_parse_rule", _parse)  # noqa: B010
    setattr(Rule, "_compile_builder", _builder)  # noqa: B010
