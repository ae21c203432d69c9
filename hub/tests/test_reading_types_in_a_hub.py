"""The hub reads types as the arena does, by what several threads may call at once."""

from __future__ import annotations

from tests.test_reading_documents import types_read_elsewhere
from tests.typed import ROOT


def test_types_are_read_by_documents_alone_in_a_hub() -> None:
    assert types_read_elsewhere(ROOT / "hub" / "cw_hub") == []
