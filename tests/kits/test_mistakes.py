"""One mistake is one FAILED of `cw check` and one fault of `cw play`, its cause first."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cw.cli import main
from cw.cli.output.last_words import LOGGED
from cw.games.registry import GAMES
from tests.kits.mistakes import FORMS, mistaken, with_mistake
from tests.tools import require

pytestmark = pytest.mark.usefixtures("patient_painters")

OPPONENTS = {"end-of-codes": "idle", "paint": "walker"}
SHORT = {
    "circuit-wars": ("size=5",),
    "code-battle": ("max_turns=6",),
    "end-of-codes": ("M=4", "MAX_HP=9", "max_rounds=7"),
    "hexagon": ("size=4",),
    "paint": ("turns=7",),
}
"""Matches that end soon after the mistake."""

RAISED = {"python": "ValueError", "javascript": "TypeError", "java": "IllegalStateException"}
FORMATS = {
    ("circuit-wars", "python"): "ValueError: not enough values to unpack",
    ("circuit-wars", "javascript"): "TypeError: segment.join is not a function",
    ("code-battle", "python"): "ValueError: not enough values to unpack",
    ("code-battle", "javascript"): "TypeError: orders.map is not a function",
    ("end-of-codes", "python"): "intent must be a list, not 'up'",
    ("end-of-codes", "javascript"): "intent must be a list, not 'up'",
    ("hexagon", "python"): "move_from and move_to must be lists of two integers",
    ("hexagon", "javascript"): "move_from and move_to must be lists of two integers",
    ("paint", "python"): "ValueError: not enough values to unpack",
    ("paint", "javascript"): 'expected type "walk" or "shoot"',
}
"""What the author of a wrong format reads, by game and language; Java compiles none."""

FAST = {("hexagon", "python", "raise"), ("paint", "python", "print")}
LATE = ("loop", "slow")
AT_THE_START = ("syntax",)
"""Mistakes with which a program does not even start."""


def marks(case: tuple[str, ...]) -> list[pytest.MarkDecorator]:
    """Return the marks of a case: bots that are late must meet the limits of the rules."""
    late = [pytest.mark.limits_of_the_rules] if case[2] in LATE else []
    return late if case in FAST else [*late, pytest.mark.thorough]


CASES = [
    pytest.param(*case, id="-".join(case), marks=marks(case))
    for case in (
        (game, language, mistake)
        for game in GAMES
        for language, form in FORMS.items()
        for mistake in form.mistakes
    )
]
PAGE = Path(__file__).resolve().parents[2] / "docs" / "faults.md"


ENDED = {
    "exit": r"(?:crashed|disconnected): .*the program exited early \(exit code 3\)$",
    "syntax": r"startup: .*SyntaxError: .* \({place}\)",
    "crash": (
        r"\w+: .*segmentation fault \((?:exit code 139|signal SIGSEGV)\): Fatal Python error"
        r" \({place}\)"
    ),
    "memory": r"(?:crashed|malformed): .*MemoryError \({place}\)",
    "import": (
        r"(?:crashed|malformed): .*(?:No module named 'nothing'|Cannot find module '\./nothing').*"
        r" \({place}\)"
    ),
}
"""What the author of a program reads that has ended, or could not load what it needs."""


def cause(game: str, language: str, mistake: str, line: int) -> str:
    """Return a regular expression for what the author reads; "" where nothing is wrong."""
    file = re.escape(FORMS[language].file)
    if mistake in ENDED:
        return ENDED[mistake].replace("{place}", f"{file}, line {line}")
    match mistake:
        case "raise":
            return rf"(?:crashed|malformed): .*{RAISED[language]}: my bug \({file}, line {line}\)"
        case "none":
            return r"\w+: .*(?:intent is null|(?:None|null).* \(\w+\.\w+, line \d+\))"
        case "format":
            return rf"\w+: .*{re.escape(FORMATS[game, language])}"
        case "print":
            stray = r"malformed: the program printed \d+ lines? that .*'hello'; print debug output"
            return stray if game == "paint" else ""
    return r"timeout: .*(?:within|no action) .* s\b"


def cw(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments), catch_exceptions=False)


def play(game: str, bot: str) -> Result:
    options = [word for option in SHORT[game] for word in ("--option", option)]
    opponent = f"builtin:{OPPONENTS.get(game, 'random')}"
    return cw("play", game, opponent, f"mine={bot}", "--seed", "3", "--no-replay", *options)


@pytest.mark.parametrize(("game", "language", "mistake"), CASES)
def test_a_mistake_is_told_once_and_its_cause_first(
    game: str, language: str, mistake: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    kit = mistaken(tmp_path_factory, game, language, mistake)
    expected = cause(game, language, mistake, kit.line)
    assert_told_by_play(play(game, kit.bot), expected, starts=mistake not in AT_THE_START)
    # A check without a fault plays many matches to their end: one game stands for all.
    if expected or game == "hexagon":
        assert_told_by_check(cw("check", game, f"mine={kit.bot}"), expected)


def assert_told_by_check(checked: Result, expected: str) -> None:
    """One step has failed, its first line is the cause, and the others are counted."""
    lines = checked.stdout.splitlines()
    failed = [place for place, line in enumerate(lines) if line.startswith("FAILED")]
    if not expected:
        assert (failed, lines[-1], checked.exit_code) == ([], "all fine", 0)
        return
    assert len(failed) == 1, checked.stdout
    assert checked.exit_code == 1
    when = r"\s+(?:(?:turn|round) \d+: )?"
    assert re.match(f"{when}{expected}", lines[failed[0] + 1]), checked.stdout
    assert re.fullmatch(r"1 failed: .*; \d+ more steps? runs? once this is fixed", lines[-1])
    assert not [line for line in lines if LOGGED.fullmatch(line.strip())]


def assert_told_by_play(played: Result, expected: str, *, starts: bool) -> None:
    """One line tells of the fault, a traceback stands at most once before it."""
    assert played.exit_code == (0 if starts else 1)
    lines = played.stderr.splitlines()
    begin = r"(?:turn|round) \d+: mine: " if starts else "mine: "
    faults = [line for line in lines if re.match(begin, line)]
    if not expected:
        assert faults == []
        return
    assert len(faults) == 1, played.stderr
    assert re.match(f"{begin}{expected}", faults[0]), faults
    assert sum("my bug" in line for line in lines if line != faults[0]) <= 2, played.stderr
    assert not [line for line in lines if LOGGED.fullmatch(line.strip())]


TRANSCRIPTS = re.findall(
    r"^<!-- (\S+) (\S+) (\S+) -->\n```console\n(.*?)^```", PAGE.read_text("utf-8"), re.M | re.S
)


@pytest.mark.parametrize(
    ("game", "language", "mistake", "text"),
    [pytest.param(*case, id="-".join(case[:3]), marks=marks(case)) for case in TRANSCRIPTS],
)
def test_the_page_shows_what_is_printed(  # noqa: PLR0917 - a transcript has four parts
    game: str,
    language: str,
    mistake: str,
    text: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    require(language)
    with_mistake(game, language, mistake, tmp_path / "bot")
    monkeypatch.chdir(tmp_path / "bot")
    for command, *expected in transcripts(text):
        printed = cw(*shlex.split(command)[1:]).output.splitlines()
        rest = iter(printed)
        missing = [line for line in expected if line != "..." and line not in rest]
        assert missing == [], "\n".join(printed)


def transcripts(text: str) -> list[list[str]]:
    """Return each command of a text with the lines below it."""
    return [part.splitlines() for part in text.split("$ ")[1:]]


def test_the_page_shows_every_mistake() -> None:
    assert {case[2] for case in TRANSCRIPTS} == set(FORMS["python"].mistakes) - {"slow"}
