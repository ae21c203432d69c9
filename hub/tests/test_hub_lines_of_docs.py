"""The lines of the documents that call `cw hub`, and all calls on pages of the hub, are taken."""

from __future__ import annotations

import pytest

from hub.tests.documents import TEXTS
from hub.tests.test_hub_docs import EVERY_COMMAND
from tests import test_docs as arena
from tests.commands import help_texts
from tests.lines_of_docs import calls_in, examples, is_of_the_hub, try_options

CALLS = {
    *calls_in((*TEXTS.values(), *help_texts(EVERY_COMMAND))),
    *filter(is_of_the_hub, calls_in((*arena.TEXTS.values(), *help_texts(arena.EVERY_COMMAND)))),
}


@pytest.mark.parametrize("call", sorted(CALLS))
def test_each_call_has_a_command_that_takes_its_options_on_a_hub(call: str) -> None:
    try_options(call)


def test_no_page_of_the_hub_shows_what_nobody_types() -> None:
    assert list(examples(TEXTS)) == []
