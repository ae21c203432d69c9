"""In which turn what a bot wrote is noted."""

from __future__ import annotations

from cw.arena.referee import Written
from cw.arena.seats.wrappers import HumanSeat
from cw.arena.transports.lines import HeadAndTail


class WritingSeat(HumanSeat):
    """A seat whose bot writes what a test lets it write."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.stderr = HeadAndTail(size)


def test_what_came_since_the_last_turn_belongs_to_the_turn() -> None:
    talker, silent = WritingSeat(100), WritingSeat(100)
    record = Written({1: talker, 2: silent})
    talker.stderr.feed(b"ready\n")
    record.note(0)
    for turn in (1, 2, 3):
        if turn != 2:
            talker.stderr.feed(b"move\n" * turn)
        record.note(turn)
    talker.stderr.feed(b"bye\n")
    record.note(3)
    assert record.turns(1) == ((0, 0), (1, 6), (3, 11))
    assert record.turns(2) == ()


def test_turns_that_are_left_out_begin_where_the_text_says_so() -> None:
    seat = WritingSeat(4)
    record = Written({1: seat})
    for turn in range(1, 6):
        seat.stderr.feed(b"%d..\n" % turn)
        record.note(turn)
    text = seat.stderr.text()
    assert text == "1..\n\n... 12 bytes left out ...\n5..\n"
    places = dict(record.turns(1))
    assert text[places[5] :] == "5..\n"
    assert places[3] == places[4] == places[5]
