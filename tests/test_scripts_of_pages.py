"""Scripts of pages show what others have written as text, and not as HTML."""

from __future__ import annotations

import re
from pathlib import Path

STATIC = Path(__file__).resolve().parents[1] / "static"
AS_HTML = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|setHTMLUnsafe")

MADE_BY_THE_SERVER = {"hub/ladder.js", "hub/renew.js"}
"""Those that take HTML in which our own server has escaped what people have written."""


def test_no_script_takes_text_for_html() -> None:
    scripts = [path for path in STATIC.rglob("*.js") if "vendor" not in path.parts]
    assert len(scripts) > 50
    offenders = {
        path.relative_to(STATIC).as_posix()
        for path in scripts
        if AS_HTML.search(path.read_text(encoding="utf-8"))
    }
    assert offenders <= MADE_BY_THE_SERVER


PARTICIPLE = re.compile(
    r"\b(?:const|let|function\*?) (found|given|heard|held|kept|made|said|seen|shown|taken)\b"
)


def test_things_in_scripts_are_named_by_nouns() -> None:
    offenders = [
        f"{path.relative_to(STATIC).as_posix()}: {name[0]}"
        for path in STATIC.rglob("*.js")
        if "vendor" not in path.parts
        for name in PARTICIPLE.finditer(path.read_text(encoding="utf-8"))
    ]
    assert not offenders, "name what it is: rows, text, spans, cells, ..."
