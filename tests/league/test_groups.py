"""Groups: drawn alike from the same seed, and as even as possible."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cw.errors import UsageError
from cw.league.groups import check_groups, draw_groups, group_name, usual_count
from tests.league.playing import names


@given(
    st.integers(2, 500).flatmap(lambda n: st.tuples(st.just(n), st.integers(1, n // 2))),
    st.integers(0, 10**6),
)
def test_groups_are_even_and_hold_everyone(size: tuple[int, int], seed: int) -> None:
    count, groups = size
    drawn = draw_groups(names(count), seed, groups)
    sizes = {len(group) for group in drawn.values()}
    assert len(drawn) == groups
    assert max(sizes) - min(sizes) <= 1
    assert sorted(team for group in drawn.values() for team in group) == list(names(count))
    assert check_groups(drawn, names(count)) == drawn
    assert draw_groups(names(count)[::-1], seed, groups) == drawn


@pytest.mark.parametrize(("teams", "groups"), [(2, 1), (8, 1), (9, 2), (16, 2), (17, 3), (500, 63)])
def test_the_usual_number_of_groups(teams: int, groups: int) -> None:
    assert usual_count(teams) == groups == len(draw_groups(names(teams), 1))


def test_another_seed_draws_other_groups() -> None:
    assert draw_groups(names(16), 1) != draw_groups(names(16), 2)


def test_names_of_groups() -> None:
    assert [group_name(number) for number in (0, 25, 26, 249)] == ["A", "Z", "AA", "IP"]


def test_no_group_has_less_than_two_teams() -> None:
    with pytest.raises(UsageError, match="5 teams make 1 to 2 groups, not 3"):
        draw_groups(names(5), 1, 3)
