"""The object store, in a folder."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cw.hub.store.objects import ObjectStore, StoreAway


@pytest.fixture
def objects(tmp_path: Path) -> ObjectStore:
    return ObjectStore(str(tmp_path / "objects"))


def test_an_object_comes_back_as_it_went_in(objects: ObjectStore) -> None:
    assert objects.get("replays/a.json.gz") is None
    assert objects.put_new("replays/a.json.gz", b"\x1f\x8b...")
    assert objects.get("replays/a.json.gz") == b"\x1f\x8b..."
    assert [*objects.keys("replays")] == ["replays/a.json.gz"]
    assert [*objects.keys("avatars")] == []


def test_nothing_is_ever_overwritten(objects: ObjectStore) -> None:
    def put(number: int) -> bool:
        return objects.put_new("k", b"%d" % number)

    with ThreadPoolExecutor(8) as threads:
        won = list(threads.map(put, range(8)))
    assert won.count(True) == 1
    assert objects.get("k") == b"%d" % won.index(True)


def test_deleting_twice_is_deleting(objects: ObjectStore) -> None:
    objects.put_new("k", b"")
    objects.delete("k")
    objects.delete("k")
    assert objects.get("k") is None


def test_a_store_that_does_not_answer_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "x")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")
    away = ObjectStore("s3://bucket/prefix")
    with pytest.raises(StoreAway, match="does not answer"):
        away.put_new("k", b"")
    with pytest.raises(StoreAway, match="does not answer"):
        away.get("k")
