"""Two programs that must not know of each other try to exchange bits by what the machine shares."""

from __future__ import annotations

import asyncio
import json
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from hub.tests.attacks import escapes
from tests.arena.attacking import next_line, started, written
from tests.tools import NEEDS_BUBBLEWRAP

SENDS: Final = f"""{escapes.SOURCE.decode()}
for line in sys.stdin:
    send(line.strip() == "1")
    print("done", flush=True)
"""
RECEIVES: Final = f"""{escapes.SOURCE.decode()}
import json
look_around()
for line in sys.stdin:
    print(json.dumps(numbers()), flush=True)
"""


@NEEDS_BUBBLEWRAP
def test_no_file_of_the_machine_carries_bits_from_one_box_to_another(tmp_path: Path) -> None:
    """All bits arrive by /proc/sys/fs/file-nr, /proc/loadavg and others where these are seen."""

    async def play() -> list[dict[str, list[int]]]:
        with ExitStack() as stack:
            sender = await started(written(tmp_path / "sender", "sender", SENDS), stack)
            receiver = await started(written(tmp_path / "receiver", "receiver", RECEIVES), stack)
            async with sender, receiver:
                looks = []
                for bit in escapes.MESSAGE:
                    await sender.send(b"1" if bit else b"0", 60)
                    assert await next_line(sender) == "done"
                    await receiver.send(b"look", 60)
                    looks.append(json.loads(await next_line(receiver)))
                return looks

    assert escapes.carriers(asyncio.run(play())) <= escapes.LEFT
