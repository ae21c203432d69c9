"""`python -m tests.kits.checksums`: record mode and SHA-256 of every file of every kit anew.

A line is `<mode as in git> <SHA-256> <game>/<language>/<file>`.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from cw.kits import LANGUAGES, games, new_bot

RECORD = Path(__file__).with_name("kits.sha256")


def assemble_all(folder: Path) -> None:
    """Assemble every kit below a folder, as `<game>/<language>/`."""
    for game in games():
        for language in LANGUAGES:
            new_bot(game, language, folder / game / language)


def checksums(folder: Path) -> list[str]:
    """Return the lines of the record for the kits below a folder, in the order of their paths."""
    files = {file.relative_to(folder).as_posix(): file for file in folder.glob("*/*/*")}
    return [f"{mode(files[name])} {digest(files[name])} {name}" for name in sorted(files)]


def mode(file: Path) -> str:
    """Return the mode of a file as git stores it."""
    return "100755" if file.stat().st_mode & 0o100 else "100644"


def digest(file: Path) -> str:
    return sha256(file.read_bytes()).hexdigest()


def recorded() -> list[str]:
    return RECORD.read_text(encoding="utf-8").splitlines()


def main() -> None:
    with TemporaryDirectory() as folder:
        assemble_all(Path(folder))
        lines = checksums(Path(folder))
    RECORD.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
