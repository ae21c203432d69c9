"""What tests draw by chance, from a seed that a failure prints; their order and repetition."""

from __future__ import annotations

import os
import random
import secrets
from collections.abc import Generator
from itertools import groupby

import pytest

VARIABLE = "CW_SEED"


class Chance:
    """Draws for each test what Python and the arena would draw, by `CW_SEED` or a new seed.

    That is all of `random` and `secrets` in this process; a program that a test starts draws for
    itself. `order` is the seed by which the tests are shuffled, None for their usual order; each
    runs `times`, and draws anew each time.
    """

    def __init__(self, order: int | None, times: int) -> None:
        self.seed = int(os.environ.get(VARIABLE, secrets.randbelow(10**9)))
        self.order, self.times = order, times

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Repeat a test."""
        if self.times > 1:
            metafunc.fixturenames.append("time")
            metafunc.parametrize("time", range(self.times))

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Shuffle the modules, and the tests of each: what a module prepares is prepared once."""
        if self.order is None:
            return
        shuffle = random.Random(self.order).shuffle
        modules = [list(tests) for _, tests in groupby(items, lambda item: item.path)]
        shuffle(modules)
        for tests in modules:
            shuffle(tests)
        items[:] = [item for tests in modules for item in tests]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, bool, bool]:
        """Draw for one test; two that run at the same time draw different names."""
        seed = f"{self.seed} {item.nodeid}"
        random.seed(seed)
        with pytest.MonkeyPatch.context() as patch:
            # What `secrets` and SystemRandom draw from.
            patch.setattr(random, "_urandom", random.Random(seed).randbytes)
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Add the seed to the report of a failure."""
        report = yield
        if report.failed:
            report.sections.append(("Drawn by", f"{VARIABLE}={self.seed}"))
        return report
