"""The printable sheet of team cards: A4 pages with eight login tokens each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from jinja2 import Environment, FileSystemLoader

from cw_hub.assets import asset
from cw_hub.competitions.tournament.teams.cards import Card, printed

TEMPLATE: Final = "hub/competitions/tournament/card_sheet.html"
PER_PAGE: Final = 8
SECRECY: Final = "Keep your login token and the IP address of your droplet a secret"


def values_of(title: str, address: str, cards: Sequence[Card]) -> dict[str, object]:
    """Return the template values of a sheet."""
    tokens = [(card, printed(card.token)) for card in cards]
    pages = [tokens[at : at + PER_PAGE] for at in range(0, len(tokens), PER_PAGE)]
    return {"title": title, "address": address, "pages": pages, "secrecy": SECRECY}


def whole_file(title: str, address: str, cards: Sequence[Card]) -> str:
    """Return a sheet as a single HTML file, including its style."""
    templates = Environment(loader=FileSystemLoader(asset("templates")), autoescape=True)
    style = asset("static").joinpath("hub", "card_sheet.css").read_text(encoding="utf-8")
    values = values_of(title, address, cards)
    return templates.get_template(TEMPLATE).render(**values, style=style)
