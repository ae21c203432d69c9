"""The pages of the games: all are there, nothing foreign is in them, links lead somewhere."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path

import pytest
import requests
from flask import Flask
from flask.testing import FlaskClient
from PIL import Image

from cw import assets
from cw.assets import asset
from cw.games import registry as catalogue
from cw.games.entry import GameEntry
from cw.games.registry import GAMES, game_entries, load_game, load_strategies
from cw.kits import LANGUAGES
from cw.replays import document as replays_document
from cw.server.settings import LARGEST_REQUEST
from cw.web import championship, create_app, frames
from cw.web.documents import MARKDOWN
from cw.web.frames import MOST_AT_ONCE
from cw.web.games import GamePage, game_page
from tests.fixtures import Serve

PAGES = ["/games/", *(f"/games/{game}/{page}" for game in GAMES for page in ("", "rules"))]


class Reader(HTMLParser):
    """Notes the elements of a page with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, Mapping[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def all(self, attribute: str) -> list[str]:
        """Return all values of an attribute."""
        return [value for _, attrs in self.elements if (value := attrs.get(attribute))]


@pytest.fixture
def shelf_of_documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let the documents of the games be those of a folder that is empty yet."""
    folder = tmp_path / "docs" / "games"
    folder.mkdir(parents=True)
    monkeypatch.setattr(frames, "asset", lambda name: tmp_path / name)
    return folder


def guide_of(app: Flask, game: str) -> GamePage:
    with app.test_request_context():
        return game_page(game)


@pytest.mark.parametrize("path", PAGES)
def test_a_page_has_one_title_unique_anchors_and_links_that_lead_somewhere(
    client: FlaskClient, path: str
) -> None:
    page = client.get(path)
    assert page.status_code == 200
    assert page.mimetype == "text/html"
    reader = Reader(page.text)
    assert [tag for tag, _ in reader.elements].count("h1") == 1
    assert len(set(reader.all("id"))) == len(reader.all("id"))
    for target in reader.all("href"):
        if target.startswith(("http://", "https://")):
            continue
        place, _, anchor = target.partition("#")
        with client.get(place or path) as answer:
            assert answer.status_code == 200, target
            assert not anchor or anchor in Reader(answer.get_data(as_text=True)).all("id"), target


@pytest.mark.parametrize("path", PAGES)
def test_a_page_loads_files_of_this_server_only(client: FlaskClient, path: str) -> None:
    page = client.get(path)
    reader = Reader(page.text)
    loaded = reader.all("src") + [
        str(attrs["href"]) for tag, attrs in reader.elements if tag == "link"
    ]
    assert loaded
    for file in loaded:
        assert re.fullmatch(r"/static/[a-z0-9./-]+", file)
        with client.get(file) as answer:
            assert answer.status_code == 200
    assert not reader.all("style")
    assert not {name for _, attrs in reader.elements for name in attrs if name.startswith("on")}
    assert "unsafe" not in page.headers["Content-Security-Policy"]


@pytest.mark.parametrize("game", GAMES)
def test_a_game_is_told_in_short(client: FlaskClient, app: Flask, game: str) -> None:
    guide = guide_of(app, game)
    assert guide.about
    assert guide.players
    assert guide.bots
    assert 5 <= len(guide.short) <= 8
    page = client.get(f"/games/{game}/").text
    for sentence in guide.short:
        assert str(sentence) in page
    for name in load_strategies(game):
        assert f"builtin:{name}" in page
    for language in LANGUAGES.values():
        assert language.title in page
    assert f"cw new-bot {game} python mybot" in page
    assert f"cw check {game} bot.py" in page
    assert f'href="/games/{game}/rules"' in page
    assert f'href="/replays/?game={game}"' in page


@pytest.mark.parametrize("game", GAMES)
def test_a_game_has_a_small_picture_with_words_for_it(client: FlaskClient, game: str) -> None:
    file = asset("static") / "games" / f"{game}.png"
    assert file.stat().st_size < 40_000
    with Image.open(file) as picture:
        assert picture.size == (640, 400)
    for path in ("/games/", f"/games/{game}/"):
        images = [attrs for tag, attrs in Reader(client.get(path).text).elements if tag == "img"]
        (image,) = (attrs for attrs in images if attrs["src"] == f"/static/games/{game}.png")
        assert image["alt"]


@pytest.mark.parametrize("game", GAMES)
def test_the_rules_say_all_that_the_document_says(client: FlaskClient, game: str) -> None:
    text = (asset("docs") / "games" / f"{game.replace('-', '_')}.md").read_text(encoding="utf-8")
    page = client.get(f"/games/{game}/rules").text
    words = re.sub(r"<[^>]*>", "", page)
    for heading in re.findall(r"^#+ ([\w ,]+)$", text, re.M):
        assert heading in words
    tables = len(re.findall(r"^\|[-:| ]+\|$", text, re.M))
    assert page.count("<table>") == tables
    assert "|--" not in page
    assert "```" not in page
    assert "](" not in words


@pytest.mark.parametrize("game", GAMES)
def test_the_contents_lead_to_the_sections(app: Flask, game: str) -> None:
    guide = guide_of(app, game)
    assert [heading.anchor for heading in guide.contents] == re.findall(
        r'<h2 id="([^"]+)"', guide.rules
    )
    assert guide.contents[0].anchor == "in-short"


@pytest.mark.parametrize("page", ["", "rules"])
@pytest.mark.parametrize("name", ["chess", "Paint", "..", "paint.md", "con", "x" * 64])
def test_an_unknown_game_is_a_404_with_a_sentence(
    client: FlaskClient, name: str, page: str
) -> None:
    answer = client.get(f"/games/{name}/{page}")
    assert answer.status_code == 404
    assert str(answer.get_json()["error"]).startswith("there is no")


@pytest.mark.parametrize(
    "name",
    [
        "%2e%2e",
        "..%2f..%2fREADME",
        "%2fetc%2fpasswd",
        "a%00b",
        "<script>",
        "x" * 65,
        "%c3%a9",
        "a b",
    ],
)
def test_a_hostile_name_leads_nowhere(client: FlaskClient, name: str) -> None:
    for page in ("", "rules"):
        answer = client.get(f"/games/{name}/{page}")
        assert answer.status_code == 404
        assert answer.mimetype == "application/json"


def test_pages_are_asked_for_and_not_changed(client: FlaskClient) -> None:
    for path in PAGES:
        assert client.post(path).status_code == 405


HOSTILE = """# Paint: <script>alert(1)</script>

<img src=x onerror=alert(1)> and [a link](javascript:alert(1)), [another](data:text/html,x),
![a picture](https://example.org/x.png) and <https://example.org/a"b>.

## In short

- **Players:** <b>many</b>
- **Bots:** `<i>` & co
- One <script src=//example.org/x.js></script> sentence.

## Terms

### Terms

<div onclick="alert(1)">

| <u>a</u> | b |
|---|---|
| `<s>` | [c](c.md) |

```"><script>
</code></pre><script>alert(1)</script>
```

[here](#terms), [twice](#terms-1), [there](hexagon.md#end), [their bots](../strategies.md#hexagon),
[away](../../cw/game.py), [elsewhere](../commands.md), [up](../../../etc/passwd),
[other](code-battle.md), [odd](//example.org/x)
"""


def test_foreign_html_is_text_and_links_that_lead_nowhere_are_words(
    client: FlaskClient, shelf_of_documents: Path
) -> None:
    (shelf_of_documents / "paint.md").write_text(HOSTILE, encoding="utf-8")
    for path in ("/games/", "/games/paint/", "/games/paint/rules"):
        reader = Reader(client.get(path).text)
        tags = {tag for tag, _ in reader.elements}
        assert not tags & {"i", "u", "s", "iframe"}
        scripts = [attrs for tag, attrs in reader.elements if tag == "script"]
        assert [attrs["src"] for attrs in scripts] == ["/static/base.js"]
        assert not {name for _, attrs in reader.elements for name in attrs if name.startswith("on")}
        assert not [src for src in reader.all("src") if not src.startswith("/static/")]
    page = client.get("/games/paint/rules").text
    links = re.findall(r'<a href="([^"]*)"', page.partition("<article")[2])
    assert links == [
        "https://example.org/a%22b",
        "/games/paint/rules#terms",
        "/games/paint/rules#terms-1",
        "/games/hexagon/rules#end",
        "/games/hexagon/#strategies",
    ]
    for words in ("away", "elsewhere", "up", "other", "odd"):
        assert words in page
    assert 'id="terms"' in page
    assert 'id="terms-1"' in page


@pytest.mark.parametrize(
    "text", ["", "\n", "#", "words", "## In short", "- a\n\n- **Bots:**\n\n  b", "***", "# a\n# b"]
)
def test_no_document_makes_a_page_fail(
    client: FlaskClient, shelf_of_documents: Path, text: str
) -> None:
    (shelf_of_documents / "paint.md").write_text(text, encoding="utf-8")
    for path in ("/games/", "/games/paint/"):
        assert client.get(path).status_code == 200
    assert client.get("/games/paint/rules").status_code in (200, 404)


def test_a_game_of_another_package_has_its_pages(
    client: FlaskClient, shelf_of_documents: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paint = GAMES["paint"]
    other = GameEntry(rules=paint.rules, codec=paint.codec, strategies=paint.strategies)
    monkeypatch.setattr(catalogue, "GAMES", {**GAMES, "tic-tac": other})
    assert "tic-tac" in game_entries()
    assert "Tic Tac" in client.get("/games/").text
    page = client.get("/games/tic-tac/").text
    assert "builtin:walker" in page
    assert "cw new-bot" not in page
    assert "cw check tic-tac" in page
    assert "Play and watch" in page
    assert "/games/tic-tac/rules" not in page
    assert "no page with the rules" in client.get("/games/tic-tac/rules").text
    (shelf_of_documents / "tic_tac.md").write_text("# Tic: the rules\n\nThree in a row.\n")
    assert "Three in a row." in client.get("/games/tic-tac/rules").text
    assert "Three in a row." in client.get("/games/").text


@pytest.mark.parametrize(
    ("path", "current"),
    [
        ("/", [("Live match", "page")]),
        ("/rooms/table-4/", [("Rooms", "true"), ("Room table-4", "page")]),
        ("/games/", [("Games", "page")]),
        ("/games/paint/", [("Games", "true")]),
        ("/games/paint/rules", [("Games", "true")]),
        ("/replays/", [("Replays", "page")]),
        ("/docs/", [("Docs", "page")]),
        ("/docs/kits", [("Docs", "true")]),
    ],
)
def test_the_navigation_says_where_one_is(
    client: FlaskClient, path: str, current: list[tuple[str, str]]
) -> None:
    nav = client.get(path).text.partition('<nav aria-label="Pages"')[2].partition("</nav>")[0]
    links = re.findall(r'<a href="[^"]*"( aria-current="(\w+)")?>([^<]+)</a>', nav)
    assert [(words, state) for _, state, words in links if state] == current
    assert [words for _, _, words in links if not words.startswith("Room")] == [
        "Live match",
        "Games",
        "Replays",
        "Docs",
    ]


def test_a_championship_is_in_the_navigation_where_there_is_one(tmp_path: Path) -> None:
    app = create_app()
    championship.add_championship(app, tmp_path)
    assert '<a href="/championship/">Championship</a>' in app.test_client().get("/games/").text


def test_who_waits_for_a_game_is_told_where_to_look(client: FlaskClient) -> None:
    join = client.get("/").text.partition('id="join"')[2].partition("</section>")[0]
    for place in ("/games/circuit-wars/", "/games/", "/replays/"):
        assert f'href="{place}"' in join


def test_the_documents_are_where_a_wheel_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = (Path(__file__).resolve().parents[3] / "pyproject.toml").read_text(encoding="utf-8")
    assert '"docs/games" = "cw/_assets/docs/games"' in project
    (tmp_path / "_assets" / "docs").mkdir(parents=True)
    monkeypatch.setattr(assets, "PACKAGE", tmp_path)
    assert assets.asset("docs") == tmp_path / "_assets" / "docs"


def test_html_in_documents_is_off() -> None:
    assert MARKDOWN.options["html"] is False


@pytest.mark.parametrize("game", GAMES)
def test_the_live_game_is_linked_where_bots_are_clients(client: FlaskClient, game: str) -> None:
    ways = client.get(f"/games/{game}/").text.partition('class="ways"')[2].partition("</ul>")[0]
    assert ('href="/"' in ways) == ('href="/rooms/"' in ways) == GAMES[game].has_clients
    assert GAMES[game].has_clients == (game == "circuit-wars")


def test_a_request_for_frames_may_be_larger_than_others(serve: Serve) -> None:
    game = load_game("hexagon")
    frame = replays_document.frame_of(game, game.rules.new(2, 1, size=10))
    body = {
        "players": [{"player": 1, "name": "a"}, {"player": 2, "name": "b"}],
        "first": 0,
        "skip": 0,
        "frames": [frame] * MOST_AT_ONCE,
        "actions": [{}] * MOST_AT_ONCE,
    }
    assert len(json.dumps(body)) > LARGEST_REQUEST
    answer = requests.post(f"{serve(create_app())}/games/hexagon/frames", json=body, timeout=60)
    assert answer.status_code == 200, answer.text
    assert len(answer.json()["drawn"]) == MOST_AT_ONCE
