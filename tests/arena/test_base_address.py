"""The base address of a bot: whatever is accepted, every library finds the same host in it."""

from __future__ import annotations

import random
from urllib.parse import urlsplit

import pytest
from yarl import URL

from cw.arena.transports.base_address import read_base
from cw.errors import UsageError

PARTS = (
    *(
        "bot.example",
        "127.0.0.1",
        "[::1]",
        "[fe80::1%eth0]",
        "[::ffff:10.0.0.1]",
        "10.0.0.1",
        "a_b",
    ),
    *(
        "@",
        ":",
        ":80",
        ":+80",
        ":\uff18\uff10",
        "/",
        "//",
        "/..",
        "\\",
        "?",
        "#",
        "%",
        "%2f",
        "%00",
        "%25",
    ),
    *(
        "\uff0f",
        "\u3002",
        "\uff11\uff12\uff17",
        "\u00e4",
        " ",
        "\t",
        "\n",
        "\0",
        "[",
        "]",
        "x",
        ".",
        "&",
        "'",
        '"',
        "<",
    ),
)


def draw_address() -> str:
    parts = random.choices(PARTS, k=random.randrange(1, 6))
    return random.choice(("http://", "https://", "HTTP://", "http:", "//")) + "".join(parts)


def test_every_library_finds_the_host_that_was_checked() -> None:
    number = 0
    for text in (draw_address() for _ in range(5000)):
        try:
            base = read_base(text)
        except UsageError:
            continue
        number += 1
        for path in ("", "/turn"):
            sent, parts = URL(base.text + path, encoded=True), urlsplit(base.text + path)
            seen = [
                (sent.scheme, sent.raw_host, sent.port),
                (parts.scheme, parts.hostname, parts.port),
            ]
            port = parts.port or base.port
            assert [(s, (h or "").lower(), p or port) for s, h, p in seen] == [base[:3]] * 2, text
    assert number > 50


@pytest.mark.parametrize(
    "text",
    [
        "http://a\\b",
        "http://b\u00fccher.example",
        "http://%31%32%37.0.0.1",
        "http://a:",
        "http://[v1.a]",
        "http://[fe80::1%25eth0]",
        "http://a/\u00fc",
        "http://a\n.b",
    ],
)
def test_what_libraries_read_differently_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is not a base address of a bot"):
        read_base(text)
