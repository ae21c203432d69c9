"""The object store, in a folder and on an S3 server."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cw_hub.store.objects import ObjectStore, StoreAway
from hub.tests.services import Swift, new_swift


@pytest.fixture(params=["folder", pytest.param("swift", marks=pytest.mark.thorough)])
def objects(request: pytest.FixtureRequest, tmp_path: Path) -> ObjectStore:
    if request.param == "folder":
        return ObjectStore(str(tmp_path / "objects"))
    return ObjectStore(request.getfixturevalue("bucket"))


def test_an_object_comes_back_as_it_went_in(objects: ObjectStore) -> None:
    assert objects.get("replays/a.json.gz") is None
    assert objects.put_new("replays/a.json.gz", b"\x1f\x8b...")
    assert objects.get("replays/a.json.gz") == b"\x1f\x8b..."
    assert [*objects.keys("replays")] == ["replays/a.json.gz"]
    assert [*objects.keys("avatars")] == []


def test_what_is_there_is_never_overwritten(objects: ObjectStore) -> None:
    assert objects.put_new("k", b"first")
    assert not objects.put_new("k", b"second")
    assert objects.get("k") == b"first"


def test_of_several_who_store_at_once_one_has_stored(tmp_path: Path) -> None:
    """Of a folder: Swift's S3 interface knows no PUT that can promise it."""
    objects = ObjectStore(str(tmp_path))

    def put(number: int) -> bool:
        return objects.put_new("k", b"%d" % number)

    with ThreadPoolExecutor(8) as threads:
        won = list(threads.map(put, range(8)))
    assert won.count(True) == 1
    assert objects.get("k") == b"%d" % won.index(True)


def test_all_keys_are_listed(objects: ObjectStore) -> None:
    keys = {f"replays/2026/11/m_{number:04}.json.gz" for number in range(30)}
    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(lambda key: objects.put_new(key, b"{}"), keys))
    assert set(objects.keys("replays")) == keys


def test_deleting_twice_is_deleting(objects: ObjectStore) -> None:
    objects.put_new("k", b"")
    objects.delete("k")
    objects.delete("k")
    assert objects.get("k") is None


@pytest.mark.thorough
def test_a_store_that_does_not_answer_is_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with new_swift(tmp_path) as swift:
        for name, value in swift.environment.items():
            monkeypatch.setenv(name, value)
        objects = ObjectStore(swift.new_bucket())
        objects.put_new("k", b"1")
        swift.kill()
        for ask in (
            lambda: objects.put_new("k", b""),
            lambda: objects.get("k"),
            lambda: objects.delete("k"),
            lambda: [*objects.keys("")],
        ):
            with pytest.raises(StoreAway, match="does not answer"):
                ask()
        swift.start()
        assert objects.get("k") == b"1"


@pytest.mark.thorough
def test_a_bucket_that_is_not_there_or_not_ours_is_away(
    swift: Swift, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(StoreAway, match="no such bucket"):
        ObjectStore("s3://no-such-bucket").put_new("k", b"")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    with pytest.raises(StoreAway, match="does not answer"):
        ObjectStore(bucket).get("k")
