"""Beginners' mistakes, put into the bots of kits: from its 6th call on, `choose` makes one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from cw.kits import LANGUAGES, new_bot
from tests.kits.running import shell
from tests.once import once
from tests.tools import require

CALL = 6
"""The first call of `choose` in which a bot makes its mistake."""

LONG = 8
"""Seconds that a slow bot takes: longer than any game waits."""


@dataclass(frozen=True)
class Form:
    """How mistakes are written in a language."""

    file: str
    begins: str
    """A regular expression for what comes before the first statement of `choose`."""
    counts: str
    """The statements that count the calls; {mistakes} stands for the mistakes."""
    mistakes: dict[str, str]
    declares: tuple[str, str] = ("", "")
    """A text of the bot, and what stands in its place: what must be declared first."""


PYTHON = Form(
    "bot.py",
    r'    def choose\(.*\n.*"""\n',
    f"        self.calls = getattr(self, 'calls', 0) + 1\n        if self.calls >= {CALL}:\n"
    "            {mistakes}\n",
    {
        "raise": 'raise ValueError("my bug")',
        "loop": "while True: pass",
        "none": "return None",
        "format": 'return "up"',
        "slow": f"time.sleep({LONG})",
        "print": 'print("hello")',
        "exit": "sys.exit(3)",
        "syntax": "if True print('hello')",
        "crash": "ctypes.string_at(0)",
        "memory": "ballast = bytearray(1 << 44)",
        "import": "import nothing",
    },
    ("import random\n", "import ctypes\nimport random\nimport sys\nimport time\n"),
)
JAVASCRIPT = Form(
    "bot.js",
    r"  choose\(.*\{\n",
    f"    calls += 1;\n    if (calls >= {CALL}) {{{{\n      {{mistakes}}\n    }}}}\n",
    {
        "raise": "throw new TypeError('my bug');",
        "loop": "while (true) ;",
        "none": "return null;",
        "format": "return 'up';",
        "slow": f"for (const end = Date.now() + {LONG}000; Date.now() < end; );",
        "print": "console.log('hello');",
        "exit": "process.exit(3);",
        "syntax": "if (true console.log('hello');",
        "import": "require('./nothing');",
    },
    ("const { ", "let calls = 0;\nconst { "),
)
JAVA = Form(
    "Bot.java",
    r" choose\([^{]*\{\n",
    '        calls += 1;\n        String mistake = System.getProperty("mistake");\n'
    f"        if (calls >= {CALL}) {{{{\n            {{mistakes}}\n        }}}}\n",
    {
        "raise": 'throw new IllegalStateException("my bug");',
        "loop": "while (calls > 0) { }",
        "none": "return null;",
        "print": 'System.out.println("hello");',
    },
    ("    public static void main", "    static int calls;\n\n    public static void main"),
)
FORMS = {"python": PYTHON, "javascript": JAVASCRIPT, "java": JAVA}


def changed(source: str, form: Form, mistakes: str) -> str:
    """Return the source of a bot whose `choose` makes mistakes."""
    old, new = form.declares
    counts = form.counts.format(mistakes=mistakes)
    text, number = re.subn(form.begins, lambda match: match[0] + counts, source)
    assert number == 1
    return text.replace(old, new, 1)


def with_mistake(game: str, language: str, mistake: str, folder: Path) -> Path:
    """Write a kit with a mistake into a folder; return the file of its bot."""
    form = FORMS[language]
    new_bot(game, language, folder)
    file = folder / form.file
    file.write_text(changed(file.read_text("utf-8"), form, form.mistakes[mistake]), "utf-8")
    return file


def build_all(game: str, folder: Path) -> None:
    """Build a kit in Java that makes the mistake which the property `mistake` names."""
    lines = "\n            ".join(
        f'if (mistake.equals("{name}")) {{ {code} }}' for name, code in JAVA.mistakes.items()
    )
    new_bot(game, "java", folder)
    file = folder / JAVA.file
    file.write_text(changed(file.read_text("utf-8"), JAVA, lines), "utf-8")
    shell(LANGUAGES["java"].build, folder)


@dataclass(frozen=True)
class Mistaken:
    """A bot that makes a mistake."""

    bot: str
    """As the command line takes it."""
    line: int
    """Where the mistake stands in the author's file."""


def mistaken(factory: pytest.TempPathFactory, game: str, language: str, mistake: str) -> Mistaken:
    """Return a bot of a kit that makes a mistake; kits in Java are built once."""
    require(language)
    form = FORMS[language]
    if language == "java":
        folder = once(factory, f"{game}-mistakes", lambda place: build_all(game, place))
        file, bot = folder / form.file, f"exec:java -Dmistake={mistake} -jar {folder}/bot.jar"
    else:
        file = with_mistake(game, language, mistake, factory.mktemp(f"{game}-{mistake}") / "bot")
        bot = str(file)
    lines = file.read_text("utf-8").splitlines()
    place = next(number for number, line in enumerate(lines, 1) if form.mistakes[mistake] in line)
    return Mistaken(bot, place)
