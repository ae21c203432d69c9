"""The cards that teams are given on paper: eight to a page of A4, each with its login token."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from jinja2 import Environment, FileSystemLoader

from cw.assets import asset
from cw.hub.services.tournament_cards import Card, shown

PER_PAGE: Final = 8
SECRECY: Final = "Keep your login token and the IP address of your droplet a secret"


def pages_of(cards: Sequence[Card]) -> Iterator[Sequence[Card]]:
    """Give the cards of each page."""
    for at in range(0, len(cards), PER_PAGE):
        yield cards[at : at + PER_PAGE]


def values_of(title: str, address: str, cards: Sequence[Card]) -> dict[str, object]:
    """Return what the template of a sheet is told."""
    pages = [[(card, shown(card.token)) for card in page] for page in pages_of(cards)]
    return {"title": title, "address": address, "pages": pages, "secrecy": SECRECY}


def whole_file(title: str, address: str, cards: Sequence[Card]) -> str:
    """Return a sheet as one file that needs nothing beside it."""
    templates = Environment(loader=FileSystemLoader(asset("templates")), autoescape=True)
    style = asset("static").joinpath("hub", "card_sheet.css").read_text(encoding="utf-8")
    values = values_of(title, address, cards)
    return templates.get_template("hub/card_sheet.html").render(**values, style=style)
