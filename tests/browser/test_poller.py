"""The poller of all pages, with its clock in the hand of the test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route

START = """async ({ every, ends }) => {
    const { NoAnswer, Poller } = await import("/static/shared/poller.js");
    window.log = [];
    window.silent = false;
    const ask = async () => {
        log.push(performance.now());
        if (window.broken) throw new TypeError("a mistake of the page");
        if (silent) throw new NoAnswer("no server");
        return log.length === ends;
    };
    window.heard = [];
    window.poller = new Poller(ask, every, (answers) => heard.push(answers));
    window.over = false;
    poller.run().then(() => { window.over = true; });
}"""
"""Asks something that counts how often it was asked."""

HIDE = """hidden => {
    Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
}"""


@pytest.fixture(scope="module")
def blank(browser: Browser) -> Iterator[Page]:
    """Return a page with the modules of all pages and nothing else, whose time stands still."""
    context = browser.new_context()
    page = context.new_page()
    page.route("http://pages/**", serve)
    yield page
    context.close()


def serve(route: Route) -> None:
    """Answer with a module, or with an empty page."""
    name = route.request.url.removeprefix("http://pages/")
    if name.startswith("static/"):
        route.fulfill(path=name, content_type="text/javascript")
    else:
        route.fulfill(body="<!doctype html><title>Pages</title>", content_type="text/html")


@pytest.fixture
def page(blank: Page) -> Page:
    blank.goto("http://pages/")
    blank.clock.install(time=0)
    blank.clock.pause_at(1000)
    return blank


def start(page: Page, every: int = 1000, ends: int = 0) -> None:
    page.evaluate(START, {"every": every, "ends": ends})


def asked_after(page: Page, milliseconds: int) -> int:
    """Let time go by; return how often was asked in it."""
    before: int = page.evaluate("log.length")
    page.clock.run_for(milliseconds)
    return int(page.evaluate("log.length")) - before


def test_it_asks_at_once_and_then_at_its_interval(page: Page) -> None:
    start(page)
    assert page.evaluate("log.length") == 1
    assert asked_after(page, 999) == 0
    assert asked_after(page, 1) == 1
    assert asked_after(page, 10_000) == 10


def test_it_asks_less_often_where_nobody_answers_until_somebody_does(page: Page) -> None:
    start(page, every=200)
    page.evaluate("window.silent = true")
    assert asked_after(page, 200) == 1
    for pause in (1000, 2000, 4000, 8000, 8000):
        assert asked_after(page, pause - 1) == 0
        assert asked_after(page, 1) == 1
    page.evaluate("window.silent = false")
    assert asked_after(page, 8000) == 1
    assert asked_after(page, 1000) == 5
    assert page.evaluate("heard.slice(0, 9)") == [True, *[False] * 6, True, True]


def test_it_never_asks_more_often_because_nobody_answers(page: Page) -> None:
    start(page, every=15_000)
    page.evaluate("window.silent = true")
    assert asked_after(page, 15_000) == 1
    assert asked_after(page, 14_999) == 0
    assert asked_after(page, 1) == 1


def test_it_asks_nothing_while_nobody_sees_the_page(page: Page) -> None:
    start(page)
    page.evaluate(HIDE, True)
    page.clock.run_for(60_000)
    assert page.evaluate("log.length") == 1
    page.evaluate(HIDE, False)
    assert page.evaluate("log.length") == 2
    assert asked_after(page, 1000) == 1


def test_it_ends_with_the_last_answer(page: Page) -> None:
    start(page, ends=3)
    assert asked_after(page, 60_000) == 2
    assert page.evaluate("over")


def test_it_can_be_told_to_ask_now(page: Page) -> None:
    start(page, every=15_000)
    page.evaluate("poller.wake()")
    assert page.evaluate("log.length") == 2
    assert asked_after(page, 14_999) == 0
    assert asked_after(page, 1) == 1


def test_a_mistake_of_the_page_is_reported_and_it_goes_on(page: Page) -> None:
    mistakes: list[str] = []
    page.once("pageerror", lambda error: mistakes.append(error.message))
    start(page)
    page.evaluate("window.broken = true")
    assert asked_after(page, 1000) == 1
    page.evaluate("window.broken = false")
    assert asked_after(page, 2000) == 2
    assert mistakes == ["a mistake of the page"]


ASK = """async () => {
    const { Source } = await import("/static/shared/poller.js");
    window.source ??= new Source("/news");
    try {
        const answer = await source.ask();
        return answer && await answer.text();
    } catch (error) {
        return [error.constructor.name, error.status];
    }
}"""


def test_what_is_known_is_not_sent_again(page: Page) -> None:
    tags: list[str | None] = []

    def answer(route: Route) -> None:
        tags.append(route.request.headers.get("if-none-match"))
        is_known = tags[-1] == '"one"'
        route.fulfill(status=304 if is_known else 200, headers={"ETag": 'W/"one"'}, body="first")

    page.route("http://pages/news", answer)
    assert page.evaluate(ASK) == "first"
    assert page.evaluate(ASK) is None
    page.evaluate("source.forget()")
    assert page.evaluate(ASK) == "first"
    assert tags == [None, '"one"', None]
    page.unroute("http://pages/news")


def test_a_refusal_and_silence_are_no_answers(page: Page) -> None:
    page.route("http://pages/news", lambda route: route.fulfill(status=404))
    assert page.evaluate(ASK) == ["NoAnswer", 404]
    page.unroute("http://pages/news")
    page.route("http://pages/news", lambda route: route.abort())
    assert page.evaluate(ASK) == ["NoAnswer", 0]
    page.unroute("http://pages/news")


CUT = """() => {
    window.fetch = async () => new Response(
        new ReadableStream({ start: (stream) => stream.error(new TypeError("cut")) }),
        { headers: { ETag: '"one"' } },
    );
}"""


def test_what_comes_in_part_is_asked_for_again(page: Page) -> None:
    page.evaluate(CUT)
    assert page.evaluate(ASK) == ["NoAnswer", 0]
    assert page.evaluate("source.tag") == ""
