"""Write the texts shared by Python and the pages to static/shared: `python docs/make_words.py`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from cw.arena.program import ERROR_OUTPUT  # noqa: E402
from cw.games.endings import RESIGNATIONS  # noqa: E402
from cw.games.registry import GAMES, load_endings  # noqa: E402
from cw.games.rules import Json  # noqa: E402
from cw.matches.verdict import DID  # noqa: E402
from cw.web.frames import game_title  # noqa: E402

FILE: Final = ROOT / "static" / "shared" / "words.js"
WORDS: Final = "Record<string, string>"
FIRST_WORDS: Final = "By game: the number of the first turn that bots are asked about, if not 1."
OUTPUT_WORDS: Final = "What stands between the sentence of a fault and what the program wrote last."


def module() -> str:
    """Return the source of the module."""
    titles = {name: game_title(name) for name in GAMES}
    reasons = {name: dict(words) for name in GAMES if (words := load_endings(name).reasons)}
    firsts = {name: first for name in GAMES if (first := load_endings(name).first) != 1}
    return "\n".join(
        (
            "/** Words that Python says too: docs/make_words.py writes this file. */\n",
            constant("FAULTS", WORDS, dict(DID), "What a bot did whose fault is of this kind."),
            constant("TITLES", WORDS, titles, "The games by their names on the command line."),
            constant("REASONS", f"Record<string, {WORDS}>", reasons, "By game: why it was over."),
            constant("FIRST_TURNS", "Record<string, number>", firsts, FIRST_WORDS),
            constant("RESIGNATIONS", "string[]", sorted(RESIGNATIONS), "Reasons of giving up."),
            constant("ERROR_OUTPUT", "string", ERROR_OUTPUT, OUTPUT_WORDS),
        )
    )


def constant(name: str, kind: str, value: Json, about: str) -> str:
    """Return the lines that define a constant of a type."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    return f"/**\n * {about}\n * @type {{{kind}}}\n */\nexport const {name} = {text};\n"


if __name__ == "__main__":
    FILE.write_text(module(), encoding="utf-8", newline="\n")
