"""How the Hexagon protocol may end a battle (rule book, "On the wire")."""

from __future__ import annotations

from typing import Final

from cw.games.codec import Conduct

CONDUCT: Final = Conduct(late_faults=True)
"""A battle that is over by chips can still become a fault until the last PUTs are answered."""
