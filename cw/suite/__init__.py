"""The checks that every game must pass, ours and those of other packages: `cw test-game`.

from cw.suite import CHECKS, subject

@pytest.mark.parametrize("name", CHECKS)
def test_the_game_passes_the_checks_for_every_game(name: str) -> None:
CHECKS[name](subject("nim"))
"""

from cw.suite.checks import CHECKS
from cw.suite.subject import BrokenPromise, Subject, subject

__all__ = ["CHECKS", "BrokenPromise", "Subject", "subject"]
