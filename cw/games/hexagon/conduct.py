"""How the protocol of Hexagon may end a battle (rule book, "On the wire")."""

from __future__ import annotations

from typing import Final

from cw.games.codec import Conduct

CONDUCT: Final = Conduct(late_faults=True)
"""Until the last PUTs are answered, a battle that is over by chips can still become a fault."""
