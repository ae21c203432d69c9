"""Replays of a server in other forms."""

from __future__ import annotations

from pathlib import Path

import pytest

from cw.web import form_routes
from tests.web.test_replays import client_of, put

FORMS = {"page.html": ("text/html", b"<!doctype html>"), "animation.gif": ("image/gif", b"GIF89a")}


@pytest.mark.parametrize("form", FORMS)
def test_a_form_is_saved_once(tmp_path: Path, form: str) -> None:
    put(tmp_path, "match.json.gz")
    client = client_of(tmp_path)
    answer = client.get(f"/replays/match/{form}")
    kind, begin = FORMS[form]
    assert answer.mimetype == kind
    assert answer.data.startswith(begin)
    ending = form.rpartition(".")[2]
    assert answer.headers["Content-Disposition"] == f'attachment; filename="match.{ending}"'
    again = client.get(f"/replays/match/{form}", headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
    put(tmp_path, "match.json.gz", seed=99)
    assert client.get(f"/replays/match/{form}").headers["ETag"] != answer.headers["ETag"]


@pytest.mark.parametrize("form", FORMS)
def test_what_is_no_replay_has_no_form(tmp_path: Path, form: str) -> None:
    (tmp_path / "broken.json").write_text("{}")
    client = client_of(tmp_path)
    assert client.get(f"/replays/broken/{form}").status_code == 400
    assert client.get(f"/replays/absent/{form}").status_code == 404
    assert client.get(f"/replays/..%2Fbroken/{form}").status_code == 404


def test_one_animation_is_made_at_a_time(tmp_path: Path) -> None:
    put(tmp_path, "match.json")
    client = client_of(tmp_path)
    with form_routes.painting:
        answer = client.get("/replays/match/animation.gif")
        assert answer.status_code == 503
        assert "try again" in answer.get_json()["error"]
    assert client.get("/replays/match/animation.gif").status_code == 200


def test_a_replay_that_cannot_be_drawn_lets_others_be_drawn(tmp_path: Path) -> None:
    put(tmp_path, "match.json")
    put(tmp_path, "unknown.json", game="chess")
    client = client_of(tmp_path)
    assert client.get("/replays/unknown/animation.gif").status_code == 400
    assert client.get("/replays/match/animation.gif").status_code == 200
