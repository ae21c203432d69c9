"""`python -m tests.kits.matrix`: try every kit that can run here, and print a table."""

from __future__ import annotations

import json
import sys
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory

from click.testing import CliRunner

from cw.cli import main
from cw.kits import LANGUAGES, games
from tests.kits.judging import Document
from tests.kits.pages import OPPONENTS
from tests.kits.running import Kit, build


def cw(kit: Kit, *arguments: str) -> tuple[int, str]:
    """Run a command in the folder of a kit; return its exit code and what it printed.

    Bots of Circuit Wars make no pauses.
    """
    with chdir(kit.folder):
        result = CliRunner(env={"CW_PAUSE": "0"}).invoke(main, arguments)
    return result.exit_code, result.output


def check(kit: Kit) -> tuple[bool, str]:
    """Run `cw check`; tell whether all steps are fine."""
    code, output = cw(kit, "check", kit.game, LANGUAGES[kit.language].bot)
    return code == 0 and "all fine" in output, output


def play(kit: Kit) -> tuple[bool, str]:
    """Play a match against a built-in; tell whether it ended without a fault of the bot."""
    opponent = f"builtin:{OPPONENTS[kit.game]}"
    bot = f"me={LANGUAGES[kit.language].bot}"
    command = ("play", kit.game, opponent, bot, "--seed", "1", "--json")
    code, output = cw(kit, *command, *limits(kit.game))
    report: Document = next(
        (json.loads(line) for line in output.splitlines() if line.startswith("{")), {}
    )
    mine = [player for player in report.get("players", ()) if player["name"] == "me"]
    return code == 0 and len(mine) == 1 and not mine[0]["faults"], output


def limits(game: str) -> list[str]:
    """Make long matches short."""
    short = {
        "code-battle": {"max_turns": 60},
        "end-of-codes": {"M": 15, "MAX_HP": 5, "max_rounds": 300},
    }
    options = short.get(game, {}).items()
    return [word for key, value in options for word in ("--option", f"{key}={value}")]


def cell(game: str, language: str, folder: Path) -> str:
    """Try a kit; say `yes`, or what is wrong."""
    if missing := LANGUAGES[language].missing():
        return f"not tried: no {', '.join(missing)}"
    kit = build(game, language, folder)
    for name, trial in (("check", check), ("play", play)):
        fine, output = trial(kit)
        if not fine:
            print(output, file=sys.stderr)  # noqa: T201
            return f"{name} fails"
    return "yes"


def matrix() -> None:
    """Try every kit, and print a line for each game."""
    print("| | " + " | ".join(how.title for how in LANGUAGES.values()) + " |")  # noqa: T201
    for game in games():
        with TemporaryDirectory() as folder:
            cells = [cell(game, language, Path(folder, language)) for language in LANGUAGES]
        print(f"| `{game}` | {' | '.join(cells)} |", flush=True)  # noqa: T201


if __name__ == "__main__":
    matrix()
