"""A process ends with the first of its vital threads that ends."""

from __future__ import annotations

from threading import Event

import pytest

from cw_hub.operation import resources
from cw_hub.operation.resources import Threads


class Process:
    """Notes how it would have ended."""

    def __init__(self) -> None:
        self.codes: list[int] = []
        self.threads = Threads(self.codes.append)


def fail() -> None:
    raise SystemExit("over")


@pytest.mark.parametrize("do", [fail, lambda: None], ids=["fails", "returns"])
def test_a_thread_that_ends_takes_its_process_down(do: object) -> None:
    process, words = Process(), []
    process.threads.last_words = lambda: words.append("given back")
    process.threads.start("jobs", do).join()  # type: ignore[arg-type]
    assert (process.codes, process.threads.ended, words) == ([1], ["jobs"], ["given back"])


def test_threads_of_a_process_that_is_told_to_end_may_end() -> None:
    process = Process()
    process.threads.stopping.set()
    process.threads.start("jobs", lambda: None).join()
    assert (process.codes, process.threads.ended) == ([], [])


def test_last_words_that_take_too_long_are_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "LAST_WORDS", 0.01)
    process, never = Process(), Event()
    process.threads.last_words = never.wait
    process.threads.leave(0)
    assert process.codes == [0]
    never.set()


def test_a_process_that_is_told_to_end_does_not_wait_for_its_jobs() -> None:
    process, words = Process(), []
    never, begun = Event(), Event()

    class Interrupt(Event):
        def wait(self, timeout: float | None = None) -> bool:
            """Wait as the main thread does, which Ctrl-C interrupts."""
            raise KeyboardInterrupt

    process.threads.stopping = Interrupt()
    process.threads.last_words = lambda: words.append("given back")

    def job() -> None:
        begun.set()
        never.wait()

    process.threads.start("job", job)
    begun.wait()
    process.threads.wait()
    assert (process.codes, words) == ([0], ["given back"])
    process.threads.stopping.set()
    never.set()
