"""The replays of a championship as pages beside its report, which work from disk."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, Template

from cw.assets import asset
from cw.championship.journal import MATCHES
from cw.championship.report import REPLAYS
from cw.files import make_folder, write_whole
from cw.web.export import START, bundled, digest, read

ENDING: Final = ".json.gz"

LOADER: Final = """
document.addEventListener("DOMContentLoaded", () => {
  for (const [type, text] of [["importmap", MODULES], ["module", START]]) {
    const script = document.createElement("script");
    script.type = type;
    script.textContent = text;
    document.head.append(script);
  }
});
"""
"""Loads the modules of the viewer from addresses that hold them: a page on disk has no others."""


def write_replay_pages(championship: Path, report: Path) -> None:
    """Write a page for each replay that has none yet; raise Failure if one cannot be written."""
    pages = report / REPLAYS
    make_folder(pages)
    files = sorted((championship / MATCHES).glob(f"*{ENDING}"))
    due = [file for file in files if is_newer(file, page_of(file, pages))]
    if not due:
        return
    modules = json.dumps({"imports": dict(bundled(asset("static")))})
    if renewed(pages / "viewer.js", script(modules)):
        # Pages allow one version of the viewer.
        due = files
    renewed(pages / "viewer.css", style())
    template = page_template()
    for file in due:
        write_whole(page_of(file, pages), replay_page(template, modules, file).encode())


def page_of(file: Path, pages: Path) -> Path:
    """Return where the page of a replay is."""
    return pages / f"{file.name.removesuffix(ENDING)}.html"


def renewed(file: Path, text: str) -> bool:
    """Write a file unless it holds this text already; return whether it was written."""
    if file.exists() and read(file) == text:
        return False
    write_whole(file, text.encode())
    return True


def is_newer(file: Path, other: Path) -> bool:
    """Return whether a file was written after another one, or there is no other."""
    return not other.exists() or file.stat().st_mtime_ns > other.stat().st_mtime_ns


def script(modules: str) -> str:
    """Return the script that all pages share."""
    base = read(asset("static") / "base.js")
    texts = f"const MODULES = {json.dumps(modules)};\nconst START = {json.dumps(START)};\n"
    return f"{base}\n{texts}{LOADER}"


def style() -> str:
    """Return the style that all pages share."""
    return "".join(read(asset("static") / name) for name in ("base.css", "viewer.css"))


def page_template() -> Template:
    """Return the template of a page."""
    loader = FileSystemLoader(asset("templates"))
    return Environment(loader=loader, autoescape=True).get_template("replay_in_report.html")


def replay_page(template: Template, modules: str, file: Path) -> str:
    """Return the page of a replay: its data, and what loads the viewer."""
    scripts = f"'self' file: data: {digest(modules)} {digest(START)}"
    return template.render(
        policy=f"default-src 'none'; script-src {scripts}; style-src 'self' file:",
        name=file.name.removesuffix(ENDING),
        data=b64encode(file.read_bytes()).decode(),
    )
