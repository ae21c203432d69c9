"""`python -m tests.kits.pages`: write the README.md and the files for hosts of every kit anew."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass

from cw.cli.new_bot import quoted
from cw.kits import LANGUAGES, games
from cw.kits import files as parts
from tests.kits.hosting import HOSTING, PORTS, PUSHED, files
from tests.kits.judging import ROOT

KITS = ROOT / "sample_bots"


@dataclass(frozen=True)
class Page:
    """What the READMEs of a game say; names are in snake case, events as `name(arguments)`."""

    title: str
    does: str
    run: str
    check: str
    events: Mapping[str, str]
    fields: str
    settings: Mapping[str, str]
    rules: str


SERVED = {
    "PORT": "the port it listens on, 0 for any free port; also `BOT_PORT`",
    "BOT_HOST": "the address it listens on, `127.0.0.1`",
}

PAGES: Mapping[str, Page] = {
    "circuit-wars": Page(
        "Circuit Wars",
        "draws a random free segment",
        "{run} alice",
        "plays whole games on its own servers; prefix CW_PAUSE=0 and it takes only seconds",
        {
            "on_start(player)": "you are player 1 or 2",
            "choose(board, player)": "return the free segment to draw: x, y and border",
            "on_end(status)": "the game is over",
        },
        "`board` has `size`, `squares`, `owner`, `has_border` and `free_segments`.",
        {
            "CW_SERVER": "the server, `http://127.0.0.1:5000`; start one with `cw serve`",
            "TEAM_ID": "your team, unless it is on the command line",
            "CW_PAUSE": "seconds before each request, 0.2",
        },
        "circuit_wars.md",
    ),
    "code-battle": Page(
        "Code Battle",
        "moves about four of five bots in random directions",
        "BOT_SECRET=0123456789abcdef {run}",
        "generates a secret, tests every request and signature, and plays whole matches",
        {
            "on_start(match)": "the first request of a match has arrived",
            "choose(match, view)": "return your orders: row, col, direction; bots without one hold",
            "on_end(match)": "a match is dropped, because 64 others started after it",
        },
        "`match` has `match_id`, `config`, `memory` (yours), `step` and `distance2`; `view` has"
        " `turn`, `you`, `bots`, `energy`, `cores`, `walls` and `dead`.",
        {"BOT_SECRET": "the secret of your bot; it must be set", **SERVED},
        "code_battle.md",
    ),
    "end-of-codes": Page(
        "End of Codes",
        "attacks a random opponent next to it, else stays or makes a random valid move",
        "BOT_USERNAME=alice {run}",
        "tests every request in both encodings, and plays whole games",
        {
            "on_start(game)": "a game begins; there are no creatures yet",
            "choose(game)": "return your intents, at most one for each of your living creatures",
            "on_end(game)": "a game is over; `game` has its final state",
        },
        "`game` has `gameid`, `myid`, `round`, `W`, `H`, `M`, `MAX_HP`, `players`, `creatures` (the"
        " map), `memory` (yours), and functions to find your creatures, or the one in a cell.",
        {
            "BOT_USERNAME": "your user name, `sample`",
            "API_KEY": "the key that requests must contain; by default any key is accepted",
            **SERVED,
        },
        "end_of_codes.md",
    ),
    "hexagon": Page(
        "Hexagon",
        "makes a random legal move",
        "{run}",
        "tests every request, and plays whole battles",
        {
            "on_start(board, color, training)": "a game begins; `color` is yours",
            "choose(board, color, jumps)": "return your move: move_from and move_to",
            "on_changes(board, changes)": "a move was made, yours or the opponent's",
            "on_end(board)": "a game is over",
        },
        "`board` has `id`, `size`, `cells`, `jumps`, `placed`, `memory` (yours), `neighbours`,"
        " `legal_moves` and `play`; try moves on a copy.",
        SERVED,
        "hexagon.md",
    ),
    "paint": Page(
        "Paint",
        "chooses one of the 16 actions at random",
        'echo \'{{"player_id":"p1"}}\' | {run}',
        "starts the bot and plays whole games",
        {
            "on_start(player_id)": "your id in this match",
            "choose(state)": "return your action: type and direction, within 0.5 s",
            "on_end()": "the game is over",
        },
        "`state` has `player_id`, `turns_left`, `width`, `height`, `player_positions`, `colors`,"
        " `previous_actions`, `obstacles`, `position` and `is_free`. Standard output is for answers"
        " to the referee: print debug output to standard error.",
        {},
        "paint.md",
    ),
}

RUN_SAYS = {
    "circuit-wars": "needs a server: `cw serve` in another terminal, and a second bot",
    "code-battle": "serves on http://127.0.0.1:8080",
    "end-of-codes": "serves on http://127.0.0.1:8801",
    "hexagon": "serves on http://127.0.0.1:3000",
    "paint": "prints that it is ready; `cw play paint builtin:greedy BOT` is the referee",
}

RUNNING = {
    "code-battle": "BOT_SECRET=0123456789abcdef cw play code-battle builtin:random"
    " me=http://127.0.0.1:8080 --set me.secret=env:BOT_SECRET",
    "end-of-codes": "cw play end-of-codes builtin:sample alice=http://127.0.0.1:8801",
    "hexagon": "cw play hexagon builtin:random me=http://127.0.0.1:3000",
}
"""How to play against a bot that runs, for those that serve."""

LOGS = {"code-battle": ", and each turn: `turn 42 1.3 ms 17 moves`"}
"""What goes to standard error besides."""

CONTAINER_SETTINGS = {"code-battle": "-e BOT_SECRET=0123456789abcdef "}
"""What a container of a bot must be told."""

OPPONENTS = {game: "sample" if game == "end-of-codes" else "random" for game in games()}
"""The weakest strategy that makes moves."""

NOTES: Mapping[str, str] = {
    "javascript": "Requests are answered one at a time, as is usual in Node.",
    "php": "Requests are answered one at a time, from any number of connections.",
    "java": "`Json.java` is included because the JDK has no JSON parser.",
    "c": "It needs one library, cJSON (Debian: libcjson-dev), because C has no JSON.",
    "cpp": "It needs one library, cJSON (Debian: libcjson-dev), because C++ has no JSON.",
}

CAMEL = ("javascript", "java")
RUBY = {"is_free": "free?", "has_border": "border?"}


def fill(text: str) -> str:
    """Break a paragraph into lines."""
    return textwrap.fill(text, 100, break_long_words=False, break_on_hyphens=False)


def in_case(text: str, language: str) -> str:
    """Write the names in backquotes as the language does."""
    if language in CAMEL:
        return re.sub(r"(?<=[a-z])_([a-z])", lambda match: match[1].upper(), text)
    if language == "go":
        return re.sub(r"`(\w+)", lambda match: f"`{pascal(match[1])}", text)
    if language == "ruby":
        for name, ruby in RUBY.items():
            text = text.replace(f"`{name}`", f"`{ruby}`")
    return text


def pascal(name: str) -> str:
    """Write a name as Go exports it."""
    if name.isupper() or name in ("board", "match", "view", "game", "state"):
        return name
    words = ["ID" if word == "id" else word[:1].upper() + word[1:] for word in name.split("_")]
    return "".join(words)


def readme(game: str, language: str) -> str:
    """Return the README.md of a kit."""
    page, how = PAGES[game], LANGUAGES[language]
    build = f"    {how.build}\n" if how.build else ""
    bot, named = quoted(how.bot), quoted(f"me={how.bot}")
    running = (
        f"\nPlay a match with the running bot:\n\n    {RUNNING[game]}\n" if game in RUNNING else ""
    )
    events = "".join(
        f"| `{in_case(f'`{event}`', language)[1:-1]}` | {text} |\n"
        for event, text in page.events.items()
    )
    settings = "".join(f"| `{name}` | {text} |\n" for name, text in page.settings.items())
    table = f"\n| environment variable | |\n|---|---|\n{settings}" if settings else ""
    note = f" {NOTES[language]}" if language in NOTES else ""
    choose, file = in_case("`choose`", language), source(game, language)
    logged = LOGS.get(game, "")
    about = f"It {page.does}. Rewrite {choose} in `{file}`; the other files are the library, and"
    return f"""# A bot for {page.title} in {how.title}

{fill(f"{about} need no changes.{note}")}

Install:

    sudo apt install {how.packages}
{build}
Run ({RUN_SAYS[game]}):

    {page.run.format(run=how.run)}

Check ({page.check}):

    cw check {game} {bot}

Play:

    cw play {game} builtin:{OPPONENTS[game]} {named}
{running}{container(game, language)}
To use `cw` in a new terminal, run `. .venv/bin/activate` in the project folder.

{fill(f"Each request is logged to standard error{logged}; SIGTERM ends the program.")}

| event | |
|---|---|
{events}
{fill(in_case(page.fields, language))}
{table}
Rules: `docs/games/{page.rules}` in the project.
"""


def container(game: str, language: str) -> str:
    """Say how the bot runs in a container, and where it can be pushed to."""
    if game not in PORTS:
        return ""
    port, secret = PORTS[game], CONTAINER_SETTINGS.get(game, "")
    pushed = "\nTo deploy it to Dokku or Heroku, push the folder with git; no changes are needed.\n"
    if game == PUSHED and HOSTING[language].language_files is None:
        pushed = "\nTo deploy it to Dokku, push the folder with git; no changes are needed.\n"
    return f"""
In a container, with docker or podman:

    docker build -t mybot . && docker run --rm -p 127.0.0.1:{port}:{port} {secret}mybot
{pushed * (game == PUSHED)}"""


def source(game: str, language: str) -> str:
    """Name the file with the bot."""
    return sorted(file.name for file in (KITS / game / language).glob("[bB]ot.*"))[0]


def main() -> None:
    for game in games():
        for language in LANGUAGES:
            places = parts(game, language)
            texts = {"README.md": readme(game, language), **files(game, language)}
            for name, text in texts.items():
                places.get(name, KITS / game / language / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
