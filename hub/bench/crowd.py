"""Load of many browsers whose pages keep polling for changes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from random import Random
from time import perf_counter
from typing import Final, NamedTuple

import aiohttp

from bench.rows import NotMeasured

BROWSERS: Final = 500


class Polled(NamedTuple):
    """What a page asks for again and again."""

    url: str
    pace: float
    """Seconds from one poll to the next."""
    tag: str = ""
    """What the page knows from the beginning."""


def watch(polled: Sequence[Polled], seconds: float) -> list[float]:
    """Let all browsers poll for some time, and return the seconds of each poll."""
    return asyncio.run(poll_all(polled, seconds))


async def poll_all(polled: Sequence[Polled], seconds: float) -> list[float]:
    """Poll as browsers do, which have addresses of their own and know what they were told last."""
    rng, latencies = Random(1), list[float]()
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as session:
        until = perf_counter() + seconds

        async def browse(number: int, asked: Polled) -> None:
            headers = {"X-Forwarded-For": f"10.0.{number // 250}.{number % 250}"}
            headers |= {"If-None-Match": asked.tag} if asked.tag else {}
            await asyncio.sleep(rng.uniform(0, asked.pace))
            while (sent := perf_counter()) < until:
                async with session.get(asked.url, headers=headers) as answer:
                    await answer.read()
                    if answer.status not in (200, 304):
                        raise NotMeasured(f"a poll was answered {answer.status}")
                    headers["If-None-Match"] = answer.headers["ETag"]
                latencies.append(perf_counter() - sent)
                await asyncio.sleep(min(asked.pace, max(0.0, until - perf_counter())))

        await asyncio.gather(*(browse(one, each) for each in polled for one in range(BROWSERS)))
    return latencies
