"""Secrets at rest."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cw.errors import Failure
from cw_hub.store.sealing import Sealed, Sealer, new_master_key, new_secret_key, stored_key


def test_a_secret_is_opened_for_its_row_alone() -> None:
    sealer = Sealer(new_master_key())
    sealed = sealer.seal(b"a secret", "b_00000001.1")
    assert b"a secret" not in sealed.data
    assert sealer.open(sealed, "b_00000001.1") == b"a secret"
    with pytest.raises(Failure, match="encrypted for another"):
        sealer.open(sealed, "b_00000002.1")
    with pytest.raises(Failure, match="encrypted for another"):
        sealer.open(Sealed(sealed.key_id, b"short"), "b_00000001.1")


def test_no_two_seals_are_alike() -> None:
    sealer = Sealer(new_master_key())
    assert sealer.seal(b"x", "row").data != sealer.seal(b"x", "row").data


def test_the_first_key_seals_and_all_open() -> None:
    old, new = new_master_key(), new_master_key().replace("k1:", "k2:")
    sealed = Sealer(old).seal(b"x", "row")
    both = Sealer(f"{new},{old}")
    assert both.key_id == "k2"
    assert both.open(sealed, "row") == b"x"
    with pytest.raises(Failure, match="master key k1 is missing"):
        Sealer(new).open(sealed, "row")


def test_a_key_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "secret.key"
    with ThreadPoolExecutor(8) as threads:
        keys = set(threads.map(lambda _: stored_key(path, new_secret_key), range(16)))
    assert keys == {path.read_text().strip()}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [*tmp_path.iterdir()] == [path]


def test_a_key_that_cannot_be_read_is_a_failure(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="cannot be read"):
        stored_key(tmp_path, new_secret_key)
