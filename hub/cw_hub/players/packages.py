"""Uploaded programs: read within limits, stored as one zip, and unpacked to be run."""

from __future__ import annotations

import io
import re
import stat
import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Final

from msgspec.structs import replace

from cw.arena.bot_folders import BOT, CLIENT, INTERPRETERS
from cw.arena.bots import BotSpec
from cw.arena.sandbox.cgroups import make_temporary
from cw.arena.sandbox.folders import remove_later, remove_tree
from cw.championship.teams import ABOUT, read_folder
from cw.errors import UsageError

KIB: Final = 1024
MIB: Final = 1024 * KIB
LARGEST: Final = 1 * MIB
LARGEST_UNPACKED: Final = 5 * MIB
MOST_FILES: Final = 200
ENTRIES_A_FILE: Final = 5
"""Maximum zip entries per allowed file, to leave room for folders and ignored files."""

LONGEST_PATH: Final = 200
"""Maximum length of a path in characters."""

DEEPEST: Final = 16
"""Maximum number of components of a path."""

NO_FILE: Final = "Please choose a file"
TOO_LARGE: Final = "The file is larger than 1 MiB: leave out what the program does not need to play"
TOO_LARGE_UNPACKED: Final = (
    "The files of the zip are larger than 5 MiB together: leave out what the program does not need"
)
TOO_MANY_FILES: Final = (
    "The zip contains more than 200 files: leave out what the program does not need to play"
)
LINK: Final = "The zip contains a link or a device: put a copy of the file in its place"
LEADS_OUT: Final = (
    "The zip contains a path that leads out of it, or that not every system can write: rename it"
)
NOTHING: Final = (
    "There is no program to run: exactly one file must be named bot.py, bot.js, bot.php, bot.rb,"
    ' bot.go, Bot.java, bot.c, bot.cpp or game_ai.py, or team.toml must give a command "run".'
)
UNREADABLE: Final = "The zip cannot be read: pack the files again, without a password"

ZIPPED: Final = b"PK\x03\x04"
EMPTY_ZIP: Final = b"PK\x05\x06"
METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Permitted compression methods; others use as much memory as the zip requests."""

ENCRYPTED: Final = 1
PASSED_OVER: Final = "__MACOSX"
"""The folder that macOS adds to a zip."""

EXECUTABLE: Final = (b"\x7fELF", b"#!")
"""The first bytes of files that the system can execute directly."""

LANGUAGES_BY_ENDING: Final = {
    ".py": "python",
    ".js": "javascript",
    ".mjs": "javascript",
    ".php": "php",
    ".rb": "ruby",
    ".go": "go",
    ".java": "java",
    ".jar": "java",
    ".cpp": "cpp",
    ".c": "c",
}

SOURCES: Final = {"bot.go": "go", "Bot.java": "java", "bot.c": "c", "bot.cpp": "cpp"}
"""The files that indicate that a program has to be built, and its language."""

SIMPLE: Final = re.compile(r"[^\x00-\x1f\x7f\\:]+")
"""Matches paths whose characters mean the same on all systems."""

EPOCH: Final = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits on the contents of a zip."""

    files: int = MOST_FILES
    size: int = LARGEST_UNPACKED
    """Total unpacked size of all files in bytes."""


UPLOAD: Final = Bounds()


class UnfitUpload(UsageError):
    """An upload cannot be accepted; the message is shown to users."""


@dataclass(frozen=True, slots=True)
class Package:
    """An uploaded program, as stored."""

    data: bytes
    sha256: str
    files: tuple[str, ...]
    """The paths of its files."""
    language: str = ""
    """The name that kits use; "" if unknown."""


@contextmanager
def empty_folder() -> Iterator[Path]:
    """Yield an empty private folder; remove it afterwards."""
    home = make_temporary("upload")
    try:
        folder = home / "bot"
        folder.mkdir()
        yield folder
    finally:
        remove_later(partial(remove_tree, home))


def package(name: str, data: bytes, game: str, folder: Path) -> Package:
    """Return an upload in its stored form; `folder` is empty, and used to look for the program.

    The same files yield the same bytes, however they were packed. Raises UnfitUpload.
    """
    if not data:
        raise UnfitUpload(NO_FILE)
    if len(data) > LARGEST:
        raise UnfitUpload(TOO_LARGE)
    is_zip = data.startswith((ZIPPED, EMPTY_ZIP))
    files = files_of(data) if is_zip else {name_of(name, game): data}
    if is_zip:
        files = without_common_folder(files)
    write(files, folder)
    if not compiled_language(files):
        program_in(folder, game)
    packed = pack(files)
    names = tuple(sorted(files))
    return Package(packed, sha256(packed).hexdigest(), names, language_of(names))


def compiled_language(files: Collection[str]) -> str:
    """Return the language that files have to be compiled from; "" if they run as they are."""
    if ABOUT in files:
        return ""
    return next((SOURCES[name] for name in files if name in SOURCES), "")


def is_compiled(data: bytes) -> bool:
    """Return whether a stored upload has to be compiled."""
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        return bool(compiled_language(packed.namelist()))


def language_of(files: Iterable[str]) -> str:
    """Return a program's language by its file names, as kits name it; "" if unknown.

    The file that is run decides, otherwise the first source file in the top folder.
    """
    names = [name for name in files if "/" not in name]
    main = [name for name in names if PurePosixPath(name).stem == BOT or name == CLIENT]
    endings = [PurePosixPath(name).suffix for name in (*main, *names)]
    return next((LANGUAGES_BY_ENDING[one] for one in endings if one in LANGUAGES_BY_ENDING), "")


def name_of(name: str, game: str) -> str:
    """Return the name for a single uploaded file in its folder, derived from its extension."""
    plain = PurePosixPath(name.replace("\\", "/")).name
    if game == "circuit-wars" and plain == CLIENT:
        return CLIENT
    ending = PurePosixPath(plain).suffix.lower()
    if ending in INTERPRETERS:
        return f"{BOT}{ending}"
    if plain == BOT:
        return BOT
    if ending == ".zip":
        raise UnfitUpload(UNREADABLE)
    raise UnfitUpload(NOTHING)


def files_of(data: bytes, bounds: Bounds = UPLOAD) -> dict[str, bytes]:
    """Return the files of a zip by path, without trusting its metadata."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            entries = packed.infolist()
            if len(entries) > ENTRIES_A_FILE * bounds.files:
                raise UnfitUpload(TOO_MANY_FILES)
            for entry in entries:
                check_entry(entry)
            members = [entry for entry in entries if is_wanted(entry)]
            if len(members) > bounds.files:
                raise UnfitUpload(TOO_MANY_FILES)
            return unpacked(packed, members, bounds.size)
    # Corrupt zips raise many kinds of errors.
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise UnfitUpload(UNREADABLE) from error
    except (RuntimeError, ValueError, OverflowError, UnicodeError, OSError) as error:
        if isinstance(error, UnfitUpload):
            raise
        raise UnfitUpload(UNREADABLE) from error


def check_entry(entry: zipfile.ZipInfo) -> None:
    """Raise UnfitUpload for links, devices, and paths that are ambiguous or lead outside."""
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise UnfitUpload(LINK)
    # Since version 3.12, Python may take `filename` from a separate field, and files are written
    # under that name.
    if not (is_plain(entry.orig_filename) and is_plain(entry.filename)):
        raise UnfitUpload(LEADS_OUT)
    if entry.flag_bits & ENCRYPTED or entry.compress_type not in METHODS:
        raise UnfitUpload(UNREADABLE)


def is_plain(name: str) -> bool:
    """Return whether an entry's name means the same on all systems and stays inside."""
    parts = name.removesuffix("/").split("/")
    fits = SIMPLE.fullmatch(name) and len(name) <= LONGEST_PATH and len(parts) <= DEEPEST
    return bool(fits) and not any(part.strip() in ("", ".", "..") for part in parts)


def is_wanted(entry: zipfile.ZipInfo) -> bool:
    """Return whether an entry is a file for the bot: not a folder, and not hidden."""
    parts = entry.filename.split("/")
    hidden = any(part.startswith(".") for part in parts) or parts[0] == PASSED_OVER
    return not (entry.is_dir() or hidden)


def unpacked(
    packed: zipfile.ZipFile, entries: list[zipfile.ZipInfo], left: int
) -> dict[str, bytes]:
    """Return unpacked files by path; raise UnfitUpload if they have more than `left` bytes."""
    files: dict[str, bytes] = {}
    for entry in entries:
        with packed.open(entry) as file:
            read = file.read(left + 1)
        left -= len(read)
        if left < 0:
            raise UnfitUpload(TOO_LARGE_UNPACKED)
        if entry.filename in files:
            raise UnfitUpload(UNREADABLE)
        files[entry.filename] = read
    return files


def without_common_folder(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return files without the single folder that contains all of them, if any."""
    tops = {name.partition("/")[0] for name in files if "/" in name}
    if len(tops) != 1 or not all("/" in name for name in files):
        return dict(files)
    return {name.partition("/")[2]: data for name, data in files.items()}


def write(files: Mapping[str, bytes], folder: Path) -> None:
    """Write files into an empty folder; raise UnfitUpload if two of them conflict."""
    for name, data in files.items():
        place = folder / name
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            with place.open("xb") as file:
                file.write(data)
            place.chmod(0o700 if data.startswith(EXECUTABLE) else 0o600)
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            raise UnfitUpload(UNREADABLE) from None


def pack(files: Mapping[str, bytes]) -> bytes:
    """Return a zip of files; the same files always yield the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in sorted(files.items()):
            about = zipfile.ZipInfo(name, EPOCH)
            about.compress_type = zipfile.ZIP_DEFLATED
            about.external_attr = (stat.S_IFREG | 0o644) << 16
            packed.writestr(about, data)
    return buffer.getvalue()


def unpack(data: bytes, folder: Path, bounds: Bounds = UPLOAD) -> None:
    """Write a stored upload into an empty folder; it is checked again, as if it were new."""
    write(files_of(data, bounds), folder)


def program_in(folder: Path, game: str) -> BotSpec:
    """Return a folder's program, as the arena runs it; raise UnfitUpload if there is none.

    Names, secrets and remote bots in its team.toml are ignored here.
    """
    try:
        bot = read_folder(folder, game).bot
    except UsageError as error:
        is_described = (folder / ABOUT).is_file()
        raise UnfitUpload(words_of(error, folder) if is_described else NOTHING) from None
    if bot.kind not in ("exec", "python"):
        raise UnfitUpload(NOTHING)
    form = {key: value for key, value in bot.settings.items() if key == "form"}
    return replace(bot, settings=form)


def words_of(error: UsageError, folder: Path) -> str:
    """Return the message of an error in a folder, without its location on this host."""
    return str(error).replace(f"{folder}/", "").replace(f"{folder}: ", "").replace(str(folder), "")
