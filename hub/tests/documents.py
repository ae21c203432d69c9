"""The documents of the hub."""

from __future__ import annotations

from tests.typed import ROOT

DOCS = ROOT / "hub" / "docs"
TOP = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
PAGES = sorted(DOCS.rglob("*.md"))
TEXTS = {page: page.read_text(encoding="utf-8") for page in PAGES}
