"""`python -m tests.kits.make_vectors`: write sample_bots/vectors/ anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tests.kits.circuit_wars_vectors import circuit_wars
from tests.kits.code_battle_vectors import code_battle
from tests.kits.end_of_codes_vectors import end_of_codes
from tests.kits.hexagon_vectors import hexagon
from tests.kits.judging import ROOT
from tests.kits.paint_vectors import paint
from tests.kits.steps import Vector, compact

VECTORS = ROOT / "sample_bots" / "vectors"

MAKERS: dict[str, Callable[[], Iterator[Vector]]] = {
    "circuit-wars": circuit_wars,
    "code-battle": code_battle,
    "end-of-codes": end_of_codes,
    "hexagon": hexagon,
    "paint": paint,
}


def text(game: str) -> str:
    """Return the file of a game: one vector a line."""
    return "".join(compact(vector) + "\n" for vector in MAKERS[game]())


def main() -> None:
    for game in MAKERS:
        (VECTORS / f"{game}.jsonl").write_text(text(game), encoding="utf-8")


if __name__ == "__main__":
    main()
