"""Cost of the worst accepted file of each kind: `python -m hub.bench.strangers_files [--write]`.

Prints the table of "Files that strangers send" in hub/docs/costs.md, or writes it there. Each file
is read in a separate process, on Linux.
"""

from __future__ import annotations

import base64
import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import count, product
from pathlib import Path
from random import Random
from string import ascii_lowercase
from time import process_time
from typing import Any, Final

from PIL import Image

from cw import documents
from cw.arena.program import STDERR_BYTES
from cw.championship import teams
from cw.games.code_battle.maps import map_file
from cw.games.code_battle.maps.generation import make_maps
from cw.games.wire import DEEPEST, read_json
from cw.replays.document import digest, encode
from cw.web import replay_routes
from cw.web.frames import MOST_CAPTIONS, Window
from cw.web.settings import LARGEST_UPLOAD, LARGEST_WINDOW
from cw.web.workshop_routes import LARGEST_BODY, Saved
from cw.workshop.marks import marks_in
from cw.workshop.project import LARGEST_FILE
from cw_hub.accounts import picture_reader
from cw_hub.bots import versions
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.tournament import people
from cw_hub.competitions.tournament import teams as tournament_teams
from cw_hub.competitions.tournament.forms import read_boards
from cw_hub.competitions.tournament.service import team_lines
from cw_hub.pages.security import LARGEST_FORM, MOST_FIELDS
from cw_hub.players import packages

KIB: Final = 1024
MIB: Final = 1024 * KIB
PAGE: Final = Path(__file__).resolve().parents[1] / "docs" / "costs.md"
HEADS: Final = ("file", "bound", "seconds", "MiB")


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of file, its bound, and the file that costs most among those that are accepted."""

    name: str
    bound: str
    largest: int
    make: Callable[[int], bytes]
    """Returns the worst file of about so many bytes."""
    read: Callable[[bytes], object]

    def row(self) -> tuple[str, str]:
        """Return the cells that do not depend on the machine."""
        return self.name, self.bound


def size(number: int) -> str:
    """Return a number of bytes for people."""
    return f"{number // MIB} MiB" if number % MIB == 0 else f"{number // KIB} KiB"


def filled(lines: Iterable[str], number: int) -> bytes:
    """Return as many lines as fit into a number of bytes."""
    text: list[str] = []
    for line in lines:
        number -= len(line)
        if number < 0:
            break
        text.append(line)
    return "".join(text).encode()


def headers(number: int) -> bytes:
    """Return TOML whose every line makes four new tables."""
    names = map("".join, product(ascii_lowercase, repeat=4))
    most = documents.MOST_VALUES - 1
    return filled(
        (f"[{name}.a.a.a]\n" for name, _ in zip(names, range(most), strict=False)), number
    )


def zipped(number: int) -> bytes:
    """Return a zip of as many files as it may have, with so many bytes in all."""
    buffer, random = io.BytesIO(), Random(1)
    each = number // packages.MOST_FILES
    # Compressed to a fifth, as much as fits into the largest zip.
    blocks = [random.randbytes(each // 6) for _ in range(packages.MOST_FILES)]
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, block in zip(count(), blocks, strict=False):
            packed.writestr(f"{name}.txt" if name else "bot.py", (block * 7)[:each])
    return buffer.getvalue()


def unpack_program(data: bytes) -> None:
    """Take an upload in as a hub does."""
    with packages.empty_folder() as folder:
        packages.package("bot.zip", data, "paint", folder)


def shuffled(number: int) -> bytes:
    """Return two texts of the same lines in different orders, as JSON."""
    lines, random = (
        [str(line) for line in range(min(number // 5, versions.MOST_MATCHED))],
        Random(1),
    )
    return json.dumps([lines, random.sample(lines, len(lines))]).encode()


def compare(data: bytes) -> None:
    """Compare two texts."""
    old, new = ("\n".join(lines).encode() for lines in json.loads(data))
    versions.compare({"bot.py": old}, {"bot.py": new})


def replay(number: int) -> bytes:
    """Return a replay whose turns are many small values."""
    turn: dict[str, Any] = {"actions": {"1": [{}] * 200}, "ms": {}, "frame": None}
    value = {
        "version": 1,
        "date": "2026-01-01",
        "rules": 1,
        "game": "paint",
        "options": {},
        "seed": 1,
    }
    value |= {
        "players": [{"player": "1", "name": "a"}],
        "start": {},
        "frame": {},
        "result": {},
        "faults": [],
        "hash": "",
    }
    turns = min(number // len(json.dumps(turn)), replay_routes.MOST_PARTS // 420)
    document: dict[str, Any] = {**value, "turns": [turn] * turns}
    document["hash"] = digest(document)
    return encode(document, packed=True)


def window(number: int) -> bytes:
    """Return a request to draw frames that are many small values."""
    frame: list[Any] = [[]] * (number // MOST_CAPTIONS // 3)
    frames = [frame] * MOST_CAPTIONS
    players = [{"player": 1, "name": "a", "bot": ""}]
    actions: list[Any] = [{}] * MOST_CAPTIONS
    return json.dumps(
        {"players": players, "first": 0, "skip": 0, "frames": frames, "actions": actions},
        separators=(",", ":"),
    ).encode()


def largest_map(number: int) -> bytes:
    """Return the file of the largest map, if it may be so large."""
    side = 120 if number >= map_file.LARGEST_FILE else 60
    made = next(make_maps(2, 1, 1, rows=side, cols=side, wall_density=0.3, energy_nodes=40))
    return map_file.encode_map(made)


def picture(number: int) -> bytes:
    """Return a picture of noise with as many pixels as it may have."""
    side = int((picture_reader.MOST_PIXELS * min(1, number / picture_reader.MOST_BYTES)) ** 0.5)
    noise = Image.effect_noise((side, side), 30).convert("RGB")
    packed = io.BytesIO()
    noise.save(packed, "PNG" if number < MIB else "WEBP", quality=80)
    return packed.getvalue()


def nested(number: int) -> bytes:
    """Return JSON of lists in lists."""
    one = "[" * (DEEPEST - 1) + "]" * (DEEPEST - 1)
    return f"[{','.join([one] * (number // len(one) - 1))}]".encode()


def key_of(number: int) -> bytes:
    """Return a public key with a long comment."""
    kind = b"ssh-ed25519"

    body = base64.b64encode(len(kind).to_bytes(4, "big") + kind + bytes(number // 2))
    return kind + b" " + body[: 4 * (len(body) // 4)] + b" me"


KINDS: Final = (
    Kind(
        "team.toml",
        f"{size(teams.LARGEST)}; keys of {documents.MOST_PARTS} parts, numbers of"
        f" {documents.MOST_DIGITS} digits, {documents.DEEPEST} nested lists and tables",
        # Tables in tables.
        teams.LARGEST,
        headers,
        lambda data: documents.parse_toml(data, teams.LARGEST),
    ),
    Kind(
        "teams.toml, file of a tournament",
        f"{size(teams.LARGEST_OF_ALL)}, and {documents.MOST_VALUES:,} keys, tables and lists; the"
        " rest as above",
        # Tables in tables.
        teams.LARGEST_OF_ALL,
        headers,
        lambda data: documents.parse_toml(data, teams.LARGEST_OF_ALL),
    ),
    Kind(
        "zip of a program",
        f"{size(packages.LARGEST)}, unpacked {size(packages.LARGEST_UNPACKED)};"
        f" {packages.MOST_FILES} files, {packages.ENTRIES_A_FILE * packages.MOST_FILES:,} entries;"
        f" paths of {packages.LONGEST_PATH} characters and {packages.DEEPEST} parts; no links",
        # As many files as may be, which fill it.
        packages.LARGEST_UNPACKED,
        zipped,
        unpack_program,
    ),
    Kind(
        "comparison of versions",
        f"{versions.MOST_MATCHED:,} lines are matched, {versions.LONGEST_COMPARISON:,} shown",
        # The same lines in another order.
        versions.MOST_MATCHED * 5,
        shuffled,
        compare,
    ),
    Kind(
        "file of a draft",
        f"{size(LARGEST_FILE)}; its request {size(LARGEST_BODY)}",
        # A text of escapes.
        LARGEST_BODY,
        lambda number: b'{"base":"","text":"' + b"\\u0041" * (number // 7) + b'"}',
        lambda data: documents.decode(data, Saved),
    ),
    Kind(
        "replay (not on a hub)",
        f"{size(LARGEST_UPLOAD)}, unpacked {size(replay_routes.LARGEST_UNPACKED)};"
        f" {replay_routes.MOST_PARTS:,} values; one at a time",
        # Turns of empty objects.
        replay_routes.LARGEST_UNPACKED,
        replay,
        replay_routes.checked,
    ),
    Kind(
        "frames to be drawn",
        f"{size(LARGEST_WINDOW)}; {MOST_CAPTIONS} frames; one request at a time",
        # Frames of empty lists.
        LARGEST_WINDOW,
        window,
        lambda data: documents.decode(data, Window),
    ),
    Kind(
        "map of Code Battle",
        f"{size(map_file.LARGEST_FILE)}; 120 x 120 tiles",
        # The largest map.
        map_file.LARGEST_FILE,
        largest_map,
        lambda data: map_file.decode_map(data, "map"),
    ),
    Kind(
        "picture",
        f"{size(picture_reader.MOST_BYTES)}; {picture_reader.MOST_PIXELS // 10**6} megapixels; its"
        f" process {size(picture_reader.MEMORY)} and {picture_reader.CPU_SECONDS} s",
        # Noise.
        picture_reader.MOST_BYTES,
        picture,
        lambda data: picture_reader.crop(data, "wide"),
    ),
    Kind(
        "list of email addresses (CSV)",
        f"{people.LONGEST_LIST:,} characters; {people.LONGEST_LINE:,} of a line",
        # An address after cells that are none.
        people.LONGEST_LIST,
        lambda number: filled((f"{'a@,' * 300}{n}@b.cd\n" for n in count()), number),
        lambda data: list(people.guests_of(data.decode())),
    ),
    Kind(
        "list of teams",
        f"{size(4 * LARGEST_FORM)}",
        # Short lines.
        4 * LARGEST_FORM,
        lambda number: b"a\n" * (number // 2),
        lambda data: list(team_lines(data.decode())),
    ),
    Kind(
        "boards of an event",
        f"{size(4 * LARGEST_FORM)}",
        # Lines of blanks.
        4 * LARGEST_FORM,
        lambda number: (b"a" + b" x" * 249 + b"\n") * (number // 500),
        lambda data: read_boards(data.decode().replace("x", "= ")),
    ),
    Kind(
        "description in Markdown",
        f"{competitions_service.LONGEST:,} characters",
        # Brackets that are no links.
        competitions_service.LONGEST,
        lambda number: b"![" * (number // 2),
        lambda data: competitions_service.as_html.__wrapped__(data.decode()),
    ),
    Kind(
        "public SSH key",
        f"{size(tournament_teams.LONGEST_KEY)}",
        # A long key.
        tournament_teams.LONGEST_KEY,
        key_of,
        lambda data: tournament_teams.read_ssh_key(data.decode()),
    ),
    Kind(
        "JSON in forms and the API",
        f"{size(LARGEST_FORM)}, {MOST_FIELDS} fields; {DEEPEST} nested values",
        # Lists in lists.
        LARGEST_FORM,
        nested,
        read_json,
    ),
    Kind(
        "error output of a program",
        f"{size(2 * STDERR_BYTES)}",
        # An exception in each line.
        2 * STDERR_BYTES,
        lambda number: b'  File "bot.py", line 1\nE: a\n' * (number // 29),
        lambda data: marks_in(data.decode(), ["bot.py"]),
    ),
)


def cost(kind: Kind) -> tuple[float, float]:
    """Return seconds of processor time, and MiB that reading the worst file takes at its peak."""
    data = kind.make(kind.largest)
    # From here on the peak is that of reading.
    Path("/proc/self/clear_refs").write_text("5")
    before, began = memory("VmRSS"), process_time()
    kind.read(data)
    return process_time() - began, memory("VmHWM") - before


def memory(name: str) -> float:
    """Return what this process takes, in MiB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) / KIB
    raise LookupError(name)


def table() -> Iterator[str]:
    """Give the lines of the table."""
    yield f"| {' | '.join(HEADS)} |"
    yield "|---" * len(HEADS) + "|"
    for number, kind in enumerate(KINDS):
        command = [sys.executable, "-m", "hub.bench.strangers_files", str(number)]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        seconds, mib = json.loads(printed)
        yield f"| {' | '.join(kind.row())} | {max(seconds, 0.01):.2f} | {max(mib, 1):.0f} |"


def main() -> None:
    """Measure one kind, or all of them in processes of their own."""
    if sys.argv[1:] and sys.argv[1].isdigit():
        print(json.dumps(cost(KINDS[int(sys.argv[1])])))
        return
    lines = "\n".join(table())
    if sys.argv[1:] == ["--write"]:
        text = PAGE.read_text("utf-8")
        head, tail = f"| {' | '.join(HEADS)} |", "\n\n"
        begin = text.index(head)
        PAGE.write_text(text[:begin] + lines + text[text.index(tail, begin) :], "utf-8")
    else:
        print(lines)


if __name__ == "__main__":
    main()
