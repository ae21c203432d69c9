"""What an operator may set of a rated competition: a tick must be able to read it."""

from __future__ import annotations

from typing import Any

import pytest

from cw.cli import main
from cw.errors import UsageError
from cw.hub.competitions.rated.given import read_settings
from cw.hub.competitions.rated.verbs import RatedSettings, rated_competitions, settings_of
from cw.hub.operation.resources import Resources
from cw.hub.site.processes.begin import begin_site
from cw.hub.site.processes.ticks import tick
from tests.hub.conftest import ON_SQLITE

GOOD: dict[str, tuple[dict[str, str], dict[str, Any]]] = {
    "rest": ({"rest": "0"}, {"rest": 0.0}),
    "switches": (
        {"house_plays": "true", "same_owner": "0"},
        {"house_plays": True, "same_owner": False},
    ),
    "numbers": ({"formats": "2,4", "matches": "500"}, {"formats": (2, 4), "matches": 500}),
    "for ever": ({"matches": "null"}, {"matches": None}),
}


@pytest.mark.parametrize("name", GOOD)
def test_words_become_values(name: str) -> None:
    words, values = GOOD[name]
    assert read_settings(words) == values


def test_all_settings_can_be_given() -> None:
    given = {"formats": [2], "options": {}, "same_owner": True, "rest": 1.5, "house_plays": True}
    assert {*read_settings({**given, "matches": 1})} == {*RatedSettings.__dataclass_fields__}


@pytest.mark.parametrize(
    "words",
    [
        *({"rest": "soon"}, {"rest": "-1"}, {"rest": "nan"}, {"house_plays": "perhaps"}),
        *({"formats": "2,x"}, {"formats": "1"}, {"options": "x"}, {"matches": "-1"}, {"x": "1"}),
    ],
)
def test_what_cannot_be_is_refused(words: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="a rated competition has formats, options, "):
        read_settings(words)


@ON_SQLITE
def test_ticks_go_on_after_a_setting_was_typed(
    resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin_site(resources)
    settings = resources.settings
    monkeypatch.setenv("CW_DATA", str(settings.data))
    monkeypatch.setenv("CW_DATABASE_URL", settings.database_url)
    with pytest.raises(SystemExit) as ended:
        main(["hub", "competition", "set", "rated/code-battle", "house_plays=true", "rest=0"])
    assert ended.value.code in (0, None)
    tick(resources)
    with resources.database.reading() as session:
        (competition,) = rated_competitions(session)
        assert settings_of(session, competition).rest == 0.0
