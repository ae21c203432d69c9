"""Types that several threads read for the first time at once."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[1] / "cw"

MANY = """
import sys
import threading

import msgspec

from cw.documents import convert, decode

sys.setswitchinterval(1e-6)
FIELDS = {f"f{number}": "dict[str, tuple[int | None, ...]] | None" for number in range(20)}
FACTS = b'{"a": {"f1": {"x": [1, 2]}}, "b": {"f3": {}}}'


def kind():
    inner = type("Inner", (msgspec.Struct,), {"__annotations__": FIELDS, **dict.fromkeys(FIELDS)})
    fields = {"a": inner | None, "b": inner | None}
    return type("Outer", (msgspec.Struct,), {"__annotations__": fields, "a": None, "b": None})


for _ in range(200):
    outer, together = kind(), threading.Barrier(4)

    def read():
        together.wait()
        assert decode(FACTS, outer) == convert(msgspec.json.decode(FACTS), outer)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""
"""Reads 200 types; msgspec alone ends it with a segmentation fault."""


def test_no_thread_reads_a_type_that_another_one_has_half_learned() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", MANY],
        check=False,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")


def types_read_elsewhere(sources: Path) -> list[str]:
    """Return the lines that read a type without `cw.documents`."""
    # What consists of built-in types has nothing to be learned.
    reads = re.compile(r"msgspec\.convert\(|msgspec\.json\.decode\(.*type=(?!dict\[)")
    return [
        f"{file.relative_to(sources)}: {line.strip()}"
        for file in sources.rglob("*.py")
        if file != SOURCES / "documents.py"
        for line in file.read_text(encoding="utf-8").splitlines()
        if reads.search(line) and ">>>" not in line
    ]


def test_types_are_read_by_documents_alone() -> None:
    assert types_read_elsewhere(SOURCES) == []
