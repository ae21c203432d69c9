"""Whoever can write to the second store of a hub wants to decide what is restored from it."""

from __future__ import annotations

import gzip
import json
import shutil
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from cw.errors import Failure, UsageError
from cw_hub.operation import backups
from cw_hub.store.sealing import FORMAT, PIECE, TAG, Sealer, seal_file
from hub.tests.attacks.hubs import open_hub
from hub.tests.campaign import run

pytestmark = pytest.mark.thorough

KEY: Final = "k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
OTHER_KEY: Final = "k1:BAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
FUTURE: Final = "backups/20991231T000000Z.jsonl.gz"


@dataclass(frozen=True)
class Copies:
    """The second store of a hub, with an old back-up of one person and a new one of two."""

    store: Path
    plain: Path
    """The newer one, as the hub's own store has it."""

    @property
    def sealed(self) -> list[Path]:
        """The sealed back-ups, the oldest first."""
        return sorted(self.store.glob("backups/*.sealed"))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Copies:
    folder = tmp_path_factory.mktemp("made")
    store = folder / "copies"
    with open_hub("one server", folder, CW_MASTER_KEYS=KEY) as hub:
        hub.player("early")
        hub.operate("backup", "--objects", str(store))
        hub.player("late")
        while len(list(store.glob("backups/*"))) < 2:
            hub.operate("backup", "--objects", str(store))
        newest = max(hub.data.glob("objects/backups/*"))
        plain = folder / "plain.jsonl.gz"
        shutil.copy(newest, plain)
    return Copies(store, plain)


@pytest.fixture
def copies(made: Copies, tmp_path: Path) -> Copies:
    """The same, to be changed."""
    shutil.copytree(made.store, tmp_path / "copies")
    return Copies(tmp_path / "copies", made.plain)


def restored(tmp_path: Path, source: Path, keys: str = KEY) -> tuple[int, str, list[str]]:
    """Restore into a new hub; return the exit code, what was said, and who has an account."""
    data = tmp_path / "new"
    shutil.rmtree(data, ignore_errors=True)
    environment = {"CW_DATA": str(data), "CW_MASTER_KEYS": keys}
    done = run("restore", str(source), "--objects", **environment)
    assert "Traceback" not in done.stderr
    database = data / "hub.sqlite"
    if not database.is_file():
        return done.returncode, done.stderr, []
    with closing(sqlite3.connect(database)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master")]
        if "users" not in tables:
            return done.returncode, done.stderr, []
        rows = connection.execute("SELECT username FROM users WHERE username IS NOT NULL")
        people = sorted(name for (name,) in rows if name != "house")
        return done.returncode, done.stderr, people


def read_newest(copies: Copies) -> bytes:
    """Read what would be restored, in this process."""
    source = backups.find(str(copies.store), "")
    with backups.opened(source, lambda: Sealer(KEY)) as file:
        return file.read()


def forged(plain: Path, *, at: str = "") -> bytes:
    """Return a back-up with another admin, and perhaps another time."""
    first, *rows = gzip.decompress(plain.read_bytes()).splitlines(keepends=True)
    header = json.loads(first)
    header["at"] = at or header["at"]
    changed = [row.replace(b'"late"', b'"evil"') for row in rows]
    assert changed != rows
    return gzip.compress(json.dumps(header).encode() + b"\n" + b"".join(changed))


def seal(data: bytes, to: Path, key: str) -> None:
    with (to.parent / "clear").open("w+b") as clear, to.open("wb") as sealed:
        clear.write(data)
        clear.seek(0)
        seal_file(Sealer(key), clear, sealed)
    (to.parent / "clear").unlink()


def test_an_unsealed_one_beside_them_does_not_count(copies: Copies, tmp_path: Path) -> None:
    """The newest of the sealed ones is restored, as if nobody had forged."""
    (copies.store / FUTURE).write_bytes(forged(copies.plain, at="2099-12-31T00:00:00Z"))
    code, words, people = restored(tmp_path, copies.store)
    assert (code, people) == (0, ["early", "late"]), words
    for sealed in copies.sealed:
        sealed.unlink()
    code, words, people = restored(tmp_path, copies.store)
    assert (code, people) == (2, [])
    assert "is not sealed" in words


def test_an_older_one_under_a_newer_name_is_refused(copies: Copies, tmp_path: Path) -> None:
    shutil.copy(copies.sealed[0], copies.store / f"{FUTURE}.sealed")
    code, words, people = restored(tmp_path, copies.store)
    assert (code, people) == (2, [])
    assert "it was replaced by another one" in words


def test_one_that_is_sealed_with_another_key_is_refused(copies: Copies, tmp_path: Path) -> None:
    place = copies.store / f"{FUTURE}.sealed"
    seal(forged(copies.plain, at="2099-12-31T00:00:00Z"), place, OTHER_KEY)
    code, words, people = restored(tmp_path, copies.store)
    assert (code, people) == (2, []), words
    seal(forged(copies.plain, at="2099-12-31T00:00:00Z"), place, OTHER_KEY.replace("k1", "k2"))
    with pytest.raises((UsageError, Failure), match="k2"):
        read_newest(copies)


def test_no_byte_of_a_sealed_one_can_be_changed(copies: Copies, tmp_path: Path) -> None:
    place = copies.sealed[-1]
    whole = place.read_bytes()
    head = len(FORMAT) + 3
    pieces = [whole[i : i + PIECE + TAG] for i in range(head + 16, len(whole), PIECE + TAG)]
    others = copies.sealed[0].read_bytes()
    variants = [
        whole[:-1],
        whole[: len(whole) // 2],
        whole + b"\0",
        whole + whole,
        whole[: head + 16],
        whole[: head + 16] + b"".join(reversed(pieces)) + pieces[0],
        whole[:head] + others[head : head + 16] + whole[head + 16 :],
        whole[: head + 16] + others[head + 16 :],
        b"",
        b"circuit-wars-sealed-1 ../../k1\n" + whole[head:],
        b"circuit-wars-sealed-2 k1\n" + whole[head:],
        *(
            whole[:i] + bytes([whole[i] ^ 1]) + whole[i + 1 :]
            for i in (0, head - 2, head, head + 15, head + 16, head + 40, len(whole) - 1)
        ),
    ]
    for variant in variants:
        place.write_bytes(variant)
        with pytest.raises((UsageError, Failure)):
            read_newest(copies)
    code, words, people = restored(tmp_path, copies.store)
    assert (code, people) == (2, []), words


def test_objects_of_a_store_lead_nowhere_else(copies: Copies, tmp_path: Path) -> None:
    """A folder may have links: what they lead to does not become an object of the new hub."""
    secret = tmp_path / "secret"
    secret.write_text("top secret")
    for kind in ("replays", "maps", "bots", "avatars"):
        (copies.store / kind).mkdir(exist_ok=True)
        (copies.store / kind / "link.json").symlink_to(secret)
        (copies.store / kind / "folder").symlink_to(tmp_path)
    code, words, _ = restored(tmp_path, copies.store)
    assert code in (0, 1), words
    objects = tmp_path / "new" / "objects"
    assert not [one for one in objects.rglob("*") if one.is_file() and b"top" in one.read_bytes()]
    assert {one.name for one in (tmp_path / "new").iterdir()} <= {
        "hub.sqlite",
        "hub.sqlite-shm",
        "hub.sqlite-wal",
        "objects",
        "lock",
        "hub.lock",
    }
