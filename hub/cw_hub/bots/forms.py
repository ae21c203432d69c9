"""The forms of bots: valid names and addresses."""

from __future__ import annotations

from typing import Any, Final

from wtforms import Form, SelectField, StringField

from cw.arena.transports.base_address import check_base
from cw.errors import UsageError
from cw_hub.accounts.forms import is_filled, needs, stripped
from cw_hub.bots.addresses import INSECURE, INTERNAL, address_problem
from cw_hub.pages.request import resources

NAMED: Final = "The bot name must only contain letters, numbers, and hyphens"


LETTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-")

LENGTHS: Final = range(3, 33)
"""Valid lengths of names, in characters."""


def is_name(text: str) -> bool:
    """Return whether a text is a valid name of a bot."""
    return len(text) in LENGTHS and set(text) <= LETTERS


def is_base_address(url: str) -> bool:
    """Return whether a text is a valid address of a web service, for example without a query."""
    try:
        check_base(url)
    except UsageError:
        return False
    return True


def may_be_used(problem: str) -> Any:
    """Return the validator that refuses addresses with this problem."""
    return needs(lambda url: address_problem(url, resources().settings) != problem, problem)


WHERE_BOTS_MAY_BE: Final = (may_be_used(INSECURE), may_be_used(INTERNAL))
"""Validators of each field for a bot address, after those of its format."""


def endpoint_field() -> Any:
    """Return the field for the address of a bot."""
    return StringField(
        "Endpoint URL",
        [
            needs(is_filled, "Please enter the endpoint URL"),
            needs(
                lambda url: len(url) <= 500,
                "The endpoint URL must be at most 500 characters long",
            ),
            needs(is_base_address, "Please enter a valid URL"),
            *WHERE_BOTS_MAY_BE,
        ],
        filters=[stripped],
    )


def description_field() -> Any:
    """Return the field for the description of a bot."""
    return StringField(
        "Description",
        [
            needs(
                lambda text: len(text) <= 500,
                "The description must be at most 500 characters long",
            )
        ],
    )


def name_field() -> Any:
    """Return the field for the name of a bot."""
    return StringField(
        "Bot name",
        [
            needs(is_filled, "Please enter a bot name"),
            needs(
                lambda name: len(name) in LENGTHS, "The bot name must be 3 to 32 characters long"
            ),
            needs(lambda name: set(name) <= LETTERS, NAMED),
        ],
    )


class ProgramForm(Form):
    """Register a bot together with its program."""

    game = SelectField("Game")
    name = name_field()
    description = description_field()


class BotForm(Form):
    """Register a bot that is a web service."""

    game = SelectField("Game")
    name = name_field()
    endpoint = endpoint_field()
    description = description_field()


class DescriptionForm(Form):
    """Change the description of a program."""

    description = description_field()


class EditForm(Form):
    """Change the address and the description of a bot."""

    endpoint = endpoint_field()
    description = description_field()
