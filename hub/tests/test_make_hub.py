"""`make hub` ends with Ctrl-C without an error of make."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.test_makefile import POSIX, ended_by_ctrl_c


@POSIX
@pytest.mark.thorough
def test_ctrl_c_is_no_error_of_make_hub(tmp_path: Path) -> None:
    rest = ended_by_ctrl_c("hub", b"Hub: ", tmp_path)
    assert b"make" not in rest, rest
    assert b"Traceback" not in rest, rest
