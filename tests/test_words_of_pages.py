"""Words that Python and the pages both say are written once."""

from docs.make_words import FILE, module


def test_the_words_of_pages_are_those_of_python() -> None:
    assert FILE.read_text(encoding="utf-8") == module(), "run python docs/make_words.py"
