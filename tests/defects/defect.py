"""What a seeded defect is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Defect:
    """A mistake that somebody might make: a snippet of one file, and what takes its place."""

    file: str
    """Its path from the root of the repository."""
    snippet: str
    """Found exactly once in the file."""
    replacement: str
    sentence: str
    """What is wrong then."""
    tests: tuple[str, ...]
    """The files, or folders, of the tests that are most likely to find it."""

    @property
    def package(self) -> str:
        """The package of the program in which it lies: `cw.games`, `static`."""
        top, *rest = Path(self.file).parts
        return f"{top}.{rest[0].removesuffix('.py')}" if top == "cw" else top

    def seeded(self, root: Path) -> str:
        """Return the text of its file with it; raise ValueError unless it is found once."""
        text = (root / self.file).read_text(encoding="utf-8")
        if text.count(self.snippet) != 1:
            number = text.count(self.snippet)
            raise ValueError(f"{self.file} has {self.snippet!r} {number} times, not once")
        return text.replace(self.snippet, self.replacement)


def defect(file: str, snippet: str, replacement: str, sentence: str, *tests: str) -> Defect:
    """Return a defect; tests are paths below `tests/`."""
    return Defect(file, snippet, replacement, sentence, tuple(f"tests/{path}" for path in tests))
