"""Exports of a replay: a standalone HTML file with its viewer, and input for drawn images."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterator
from functools import partial
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Final

from jinja2 import Environment, FileSystemLoader

from cw.assets import asset
from cw.errors import UsageError
from cw.games.registry import load_endings, load_picture
from cw.pictures.exports import DrawnReplay
from cw.pictures.sheets import Result
from cw.replays.document import Document, encode, frames
from cw.replays.ending import ending_of
from cw.web.frames import MODULE, packed_frames, viewer_file, viewer_games

STATIC: Final = "/static/"
ENTRY: Final = "viewer/main.js"
START: Final = f'import "cw/{ENTRY}";'
IMPORT: Final = re.compile(
    r'((?:^|\n)import "|(?:^|\n)(?:import|export) [^;"]* from ")((?:\.|/static/)[^"]+)"'
)
IMAGES: Final = "img-src data:"
"""The part of the content security policy that allows pre-rendered frames."""

OF_PACKAGES: Final = "@"
"""Name prefix of modules from the packages of games."""


def drawn(document: Document) -> DrawnReplay:
    """Return a replay with its game's `Picture`; raise UsageError for an unknown game."""
    players = [(seat.get("player"), str(seat.get("name"))) for seat in document["players"]]
    ending = ending_of(players, document["result"], load_endings(document["game"]))
    seat = -1 if ending.winner is None else ending.winner
    result = Result(ending.sentence, seat) if ending.reason else None
    return DrawnReplay(load_picture(document["game"]), document, partial(frames, document), result)


def html(document: Document, *, embedded: bool = False) -> bytes:
    """Return a replay as an HTML page; an embedded one is laid out as part of another page."""
    game = document["game"]
    modules = modules_of(game)
    style = "".join(read(asset("static") / name) for name in ("base.css", "viewer.css"))
    base = read(asset("static") / "base.js")
    page = environment(game).get_template("replay_file.html")
    return page.render(
        policy=policy(style, base, modules, START),
        style=style,
        base=base,
        modules=modules,
        start=START,
        game=game,
        embedded=embedded,
        frames=packed_frames(document),
        data=b64encode(encode(document, packed=True)).decode(),
    ).encode()


def environment(game: str) -> Environment:
    """Return the templates for standalone pages; their viewer knows built-in games and this one."""
    templates = Environment(loader=FileSystemLoader(asset("templates")), autoescape=True)
    files = viewer_games("").get(game, {})
    module = {"module": f"cw/{module_of(game)}"} if "module" in files else {}
    showing = {**files, **module}
    templates.globals["viewer_games"] = lambda: {game: showing}
    return templates


def modules_of(game: str) -> str:
    """Return the viewer's import map, including a module from the game's package."""
    own = (module_of(game),) if viewer_file(game, MODULE) else ()
    return json.dumps({"imports": dict(bundled(asset("static"), *own))})


def module_of(game: str) -> str:
    """Return the module name for a game from another package."""
    return f"{OF_PACKAGES}{game}/{MODULE}"


def bundled(static: Path, *further: str) -> Iterator[tuple[str, str]]:
    """Yield all modules of the viewer: import name, and source as a data URL.

    `further` are modules that it loads on demand.
    """
    due = [ENTRY, *further]
    names = {*due}
    while due:
        name = due.pop()
        source = source_of(static, name)
        for _, target in IMPORT.findall(source):
            other = beside(name, target)
            if other not in names:
                names.add(other)
                due.append(other)
        yield f"cw/{name}", data_address(named(name, source))


def source_of(static: Path, name: str) -> str:
    """Return a module's source; raise UsageError if it does not exist."""
    if not name.startswith(OF_PACKAGES):
        file = static / name
        if file.is_file():
            return read(file)
        raise UsageError(f"a module imports /static/{name}, which does not exist")
    game, _, part = name.removeprefix(OF_PACKAGES).partition("/")
    own_file = viewer_file(game, part)
    if own_file is None:
        raise UsageError(f"the viewer of {game} imports {part}, which is not in its package")
    return read(own_file)


def named(name: str, source: str) -> str:
    """Replace paths by names in imports: relative paths do not work in a data URL."""
    return IMPORT.sub(lambda match: f'{match[1]}cw/{beside(name, match[2])}"', source)


def beside(name: str, target: str) -> str:
    """Return a module's name, given the path by which another module imports it."""
    if target.startswith(STATIC):
        return target.removeprefix(STATIC)
    parts: list[str] = []
    for part in (PurePosixPath(name).parent / target).parts:
        if part == "..":
            del parts[-1:]
        else:
            parts.append(part)
    return "/".join(parts)


def data_address(source: str) -> str:
    """Return a module as a data URL."""
    return f"data:text/javascript;base64,{b64encode(source.encode()).decode()}"


def policy(style: str, *scripts: str) -> str:
    """Return a content security policy that allows only these scripts and this style.

    It allows no network requests.
    """
    allowed = " ".join(map(digest, scripts))
    return f"default-src 'none'; script-src data: {allowed}; style-src {digest(style)}; {IMAGES}"


def digest(text: str) -> str:
    """Return the hash of an element's text, as a source in a content security policy."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def read(path: Path) -> str:
    """Return the text of a file that is part of the page."""
    return path.read_text(encoding="utf-8")
