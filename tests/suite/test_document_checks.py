"""What the suite of every game holds of refusals."""

from __future__ import annotations

import pytest

from cw.errors import ProtocolError
from cw.suite import LONGEST, BrokenPromise, read


def refused(text: str) -> None:
    raise ProtocolError(text)


def test_a_document_may_be_refused_with_a_sentence() -> None:
    assert read(lambda: refused("board: there is none")) is None
    assert read(lambda: 7) == 7


@pytest.mark.parametrize("text", ["", "two\nlines", "x" * LONGEST])
def test_a_refusal_is_one_sentence(text: str) -> None:
    with pytest.raises(BrokenPromise, match="an error must be one line of text"):
        read(lambda: refused(text))
