"""Names under which a page of a stranger reaches a server of this machine, by a resolver that lies.

A browser sends the first of these; the others are what a server might read wrongly.
"""

from __future__ import annotations

from typing import Final

FOREIGN: Final[tuple[tuple[str, ...], ...]] = (
    ("Host: evil.example",),
    ("Host: evil.example:8000",),
    ("Host: EVIL.example.:80",),
    ("Host: 127.0.0.1.evil.example",),
    ("Host: localhost.evil.example",),
    ("Host: evil.localhost.example",),
    ("Host: localhost..",),
    ("Host: evil.example@127.0.0.1",),
    ("Host: 127.0.0.1@evil.example",),
    ("Host: 127.0.0.1#evil.example",),
    ("Host: 127.0.0.1/evil.example",),
    ("Host: 127.0.0.1:80:evil.example",),
    ("Host: 127.0.0.1 evil.example",),
    ("Host: 127.0.0.1, evil.example",),
    ("Host: evil.example", "Host: 127.0.0.1"),
    ("Host: 127.0.0.1", "Host: evil.example"),
    ("Host: evil.example", "X-Forwarded-Host: 127.0.0.1"),
    ("Host: evil.example", "Forwarded: host=127.0.0.1"),
    ("Host: evil.example", "X-Forwarded-For: 127.0.0.1", "X-Forwarded-Server: localhost"),
    ("Host: evil.example", "Origin: http://evil.example", "Sec-Fetch-Site: same-origin"),
    ("Host: [evil.example]",),
    ("Host: [::ffff:192.0.2.1]",),
    ("Host: 192.0.2.1:8000",),
    ("Host: 0x7f.1",),
    ("Host: xn--lcalhost-55a",),
    ("Host:",),
)

OWN: Final[tuple[tuple[str, ...], ...]] = (
    ("Host: 127.0.0.1",),
    ("Host: 127.0.0.1:1",),
    ("Host: LocalHost:8000",),
    ("Host: localhost.",),
    ("Host: [::1]:8000",),
    ("Host: [0:0:0:0:0:0:0:1]",),
    (),
)
"""What clients of this machine send; ports may be forwarded, and only programs send no name."""
