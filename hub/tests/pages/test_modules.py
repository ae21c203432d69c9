"""Scripts of pages with all that they import in one module."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cw.assets import asset as arena_asset
from cw.errors import Failure
from cw_hub.assets import asset
from cw_hub.pages.files import STATIC, one_module

SCRIPT = re.compile(r"""type="module" src="\{\{ url_for\('static', filename='([^']+)'""")


def entries() -> list[str]:
    templates = (arena_asset("templates"), asset("templates"))
    pages = (path.read_text("utf-8") for folder in templates for path in folder.rglob("*.html"))
    return sorted({name for page in pages for name in SCRIPT.findall(page)})


@pytest.mark.parametrize("entry", entries())
def test_each_script_of_a_page_is_one_module(entry: str) -> None:
    text = one_module(STATIC, entry)
    left = re.findall(r"^(?:import|export)\b.*", text, re.M)
    assert [line for line in left if "/vendor/" not in line] == []


def test_what_a_comment_exports_is_nothing(tmp_path: Path) -> None:
    text = "/* A licence. */\n/*\nexport function old() {\n}\n*/\nexport const now = 1;\n"
    (tmp_path / "a.js").write_text(text)
    module = one_module((tmp_path,), "a.js")
    assert "old" not in module
    assert "A licence" in module
    assert "now: now" in module


def test_a_module_runs_after_all_that_it_imports(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text('import { b as c,\n  d } from "./x/b.js";\nc(d);\n')
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "b.js").write_text(
        'import e from "../e.js";\nexport const d = e;\nexport function b() {}\n'
    )
    (tmp_path / "e.js").write_text("const own = 1;\nexport { own as default };\n")
    text = one_module((tmp_path,), "a.js")
    order = ("own = 1", "default: own", "{ default: e } = m0", "d = e", "{ b: c, d } = m1", "c(d)")
    places = [text.index(part) for part in order]
    assert places == sorted(places)


@pytest.mark.parametrize(
    "source", ['import { a } from "./a.js";\n', "export default 1;\n", 'export * from "./b.js";\n']
)
def test_what_is_written_otherwise_is_refused(tmp_path: Path, source: str) -> None:
    (tmp_path / "a.js").write_text(source)
    with pytest.raises(Failure):
        one_module((tmp_path,), "a.js")
