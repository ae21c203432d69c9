"""What a leaderboard shows beside ratings."""

from __future__ import annotations

from types import SimpleNamespace

from cw_hub.competitions.rated.standings import HouseBot, Recent, RowExtras, recent_in


def seat(rank: int, mu: float, winners: int = 1) -> SimpleNamespace:
    return SimpleNamespace(rank=rank, mu=mu, phi=50.0, winners=winners)


def test_a_trend_is_what_the_last_five_matches_have_changed() -> None:
    seats = [seat(1, 1600), seat(2, 1580), seat(1, 1590, winners=2), seat(1, 1585), seat(3, 1570)]
    older = [seat(2, 1555), seat(1, 1400)]
    assert recent_in([*seats, *older]) == Recent(["won", "lost", "drawn", "won", "lost"], 45)


def test_who_has_played_once_has_no_trend() -> None:
    assert recent_in([seat(1, 1600)]) == Recent(["won"], None)


def test_the_house_bots_below_a_rating_are_passed() -> None:
    more = RowExtras({}, [HouseBot("RandomBot", 900.0), HouseBot("RusherBot", 1300.0)])
    assert more.passed_by(1300.0) == ["RandomBot"]
    assert more.passed_by(1300.1) == ["RandomBot", "RusherBot"]
    assert more.recent_of(7) == Recent()
