"""A week of a rated tournament: 300 bots of known strength, paired and rated as the hub does."""

from __future__ import annotations

from tests.league.simulated_week import MAPS, played_week


def test_a_week_of_300_bots_puts_them_in_their_order() -> None:
    week = played_week(bots=300, days=7)
    assert week.correlation() >= 0.95
    assert week.fewest_a_day() >= 10
    assert week.within(16) >= 0.8
    assert max(player.phis[29] for player in week.players.values()) < 80
    seats = [sum(one.by_format[players] for one in week.players.values()) for players in MAPS]
    assert max(seats) <= 1.1 * min(seats)
    for ids in MAPS.values():
        uses = [week.uses[name] for name in ids]
        assert max(uses) - min(uses) <= 1
