"""The numbers that a file names."""

from __future__ import annotations

from pathlib import Path

import pytest

from cw.errors import UsageError
from cw.lab.tuning import EXAMPLE, as_setting, read_parameters
from cw.league.strength_tests import Tunable


def parameter_file(folder: Path, text: str | bytes) -> Path:
    file = folder / "numbers.toml"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


def test_numbers_are_whole_if_all_of_them_is_written_so(tmp_path: Path) -> None:
    text = f"{EXAMPLE}\n[rate]\nstart = 0.5\nlow = 0\nhigh = 1\nstep = 0.1\n"
    assert read_parameters(parameter_file(tmp_path, text)) == (
        Tunable("depth", 4, 1, 9, 2, whole=True),
        Tunable("rate", 0.5, 0, 1, 0.1),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1 to 50 numbers can be tuned"),
        ("depth", "is not TOML"),
        (b"\xff", "is not TOML"),
        (b"a = " + b"[" * 9000, "nested at most 8 times"),
        ("x = 1\n" * 20000, "larger than 64 KiB"),
        ("depth = 4", r"\[depth\] needs start, low, high, step"),
        (EXAMPLE + "\nmore = 1", r"\[depth\] needs start, low, high, step"),
        (EXAMPLE.replace("depth", "Depth"), "'Depth' cannot be the name of a number"),
        (EXAMPLE.replace("depth", "secret"), "'secret' cannot be the name of a number"),
        (EXAMPLE.replace("= 4", "= true"), "start of .depth. is not a number: True"),
        (EXAMPLE.replace("= 4", '= "4"'), "start of .depth. is not a number: '4'"),
        (EXAMPLE.replace("= 4", "= nan"), "start of .depth. is too large: nan"),
        (EXAMPLE.replace("= 9", "= inf"), "high of .depth. is too large: inf"),
        (EXAMPLE.replace("= 9", f"= {10**18}"), "high of .depth. is too large"),
        (EXAMPLE.replace("= 9", f"= {'9' * 9000}"), "line 4: a number may have at most 20 digits"),
        (EXAMPLE.replace("= 4", "= 10"), "start of .depth. must be from low to high"),
        (EXAMPLE.replace("= 2", "= 0"), "step of .depth. must be above 0"),
        (EXAMPLE.replace("= 2", "= 20"), "step of .depth. must be above 0 and at most"),
    ],
)
def test_what_is_no_number_is_refused(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_parameters(parameter_file(tmp_path, text))


def test_a_file_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        read_parameters(tmp_path / "numbers.toml")


def test_a_bot_reads_numbers_as_they_are_written() -> None:
    assert as_setting(Tunable("rate", 0.5, 0, 1, 0.1), 1 / 3) == "0.333333"
    assert as_setting(Tunable("depth", 4, 1, 9, 2, whole=True), 4.0) == "4"
