"""The commands of `cw`, and what is asked of their help texts."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

import click

from cw.cli import COMMANDS, main


def commands(of: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    """Yield a command with its name as it is typed, and the commands in it."""
    yield name, of
    if isinstance(of, click.Group):
        context = click.Context(of)
        for word in of.list_commands(context):
            yield from commands(child(of, word), f"{name} {word}")


def child(of: click.Group, word: str) -> click.Command:
    """Return a command of a group."""
    found = of.get_command(click.Context(of), word)
    assert found is not None, word
    return found


def own_commands() -> Iterator[tuple[str, click.Command]]:
    """Yield `cw` and its commands, without those of other packages."""
    yield "cw", main
    for word, place in COMMANDS.items():
        if place.where is not None:
            yield from commands(child(main, word), f"cw {word}")


def help_texts(of: Mapping[str, click.Command]) -> list[str]:
    """Return the help of commands, without the marks of lines that stay as they are."""
    return [str(one.help).replace("\b", "") for one in of.values()]


def unexplained(name: str, command: click.Command) -> list[str]:
    """Return the help of a command and of its options that is no sentence."""
    first = str(command.help).strip().partition("\n\n")[0]
    texts = {first: name.rpartition(" ")[2]}
    for option in options_of(command):
        own_name = " ".join(option.opts).replace("-", " ").strip()
        texts[re.sub(r"\s*\[[^]]*\]$", "", str(option.help))] = own_name
    return [text for text, own_name in texts.items() if not is_sentence(text, own_name)]


def options_of(of: click.Command) -> list[click.Option]:
    return [parameter for parameter in of.params if isinstance(parameter, click.Option)]


def is_sentence(text: str, own_name: str) -> bool:
    """Return whether a help text says something: a sentence, and more than a name."""
    words = [word for word in re.findall(r"\w+", text.lower()) if word not in own_name.split()]
    return len(words) >= 2 and re.match(r"^[A-Z].*\.$", text, re.S) is not None


def unknown_options(command: click.Command, known: Collection[click.Command]) -> set[str]:
    """Return the options that the help of a command names, and none of the known ones has."""
    there = {
        option
        for other in known
        for one in options_of(other)
        for option in (*one.opts, *one.secondary_opts, "--help")
    }
    texts = [str(command.help), *(str(option.help) for option in options_of(command))]
    return set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+", "\n".join(texts))) - there
