"""The pages and what comes with them, asked through the app's own client."""

from __future__ import annotations

import re

import pytest
from flask import Flask
from flask.testing import FlaskClient

from cw.web import create_app
from cw.web.settings import SiteSettings


def test_the_monitor_uses_only_files_of_this_server(client: FlaskClient) -> None:
    page = client.get("/")
    assert page.mimetype == "text/html"
    files = re.findall(r'(?:src|href)="(/[^"]+\.\w+)"', page.text)
    assert any("jquery" in file for file in files)
    for file in files:
        with client.get(file) as response:
            assert response.status_code == 200, file
            if file.endswith(".js"):
                assert response.mimetype == "text/javascript"
    assert not re.search(r'(?:src|href)="(?:https?:)?//', page.text)


def test_there_is_no_script_or_style_in_the_page_itself(client: FlaskClient) -> None:
    page = client.get("/rooms/table-4/").text
    assert not re.search(r"<script(?![^>]*\bsrc=)", page)
    assert not re.search(r"<style|\bstyle=|\bon\w+=", page)


def test_every_answer_forbids_guessing_its_type(client: FlaskClient) -> None:
    for path in ("/", "/status", "/nope", "/static/base.css"):
        with client.get(path) as response:
            assert response.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("restart", [True, False])
def test_the_restart_button_is_there_where_restarting_is_on(restart: bool) -> None:
    client = create_app(SiteSettings(restart=restart)).test_client()
    assert ('id="restart"' in client.get("/").text) == restart


def test_files_outside_static_are_not_served(client: FlaskClient) -> None:
    for path in ("/static/../game_ai.py", "/static/%2e%2e/game_ai.py", "/static//etc/passwd"):
        assert client.get(path).status_code == 404


def test_the_app_keeps_its_settings(app: Flask) -> None:
    assert app.extensions["settings"].timeout == 3
