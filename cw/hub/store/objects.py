"""Replays, pictures and other large things: in a folder, or in a bucket of an S3 server."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Final

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError
from obstore.store import LocalStore, S3Store

from cw.errors import Failure

PATIENCE: Final = "10s"
"""For one request to the server."""

PACKED: Final = ".gz"
"""How the key of an object ends that is packed by gzip."""


class StoreAway(Failure):
    """The objects cannot be reached now."""


class ObjectStore:
    """Objects by their keys, such as `replays/2026/11/m_00c0ffee.json.gz`."""

    def __init__(self, url: str) -> None:
        """Open a folder, or `s3://bucket/prefix`; what an S3 server wants is in AWS_..."""
        self._is_remote = url.startswith("s3://")
        self._store: S3Store | LocalStore = (
            S3Store.from_url(
                url,
                client_options={"timeout": PATIENCE, "connect_timeout": PATIENCE},
                retry_config={"max_retries": 1, "retry_timeout": timedelta(seconds=10)},
            )
            if self._is_remote
            else LocalStore(Path(url), mkdir=True)
        )

    def put_new(self, key: str, data: bytes) -> bool:
        """Store an object under a key that nothing has; return whether nothing had it.

        What is there already stays as it is. Raises StoreAway if it cannot be reached.
        """
        # A folder keeps no attributes; who serves from it knows the key.
        packed = {"Content-Encoding": "gzip"} if key.endswith(PACKED) else {}
        attributes = packed if self._is_remote else None
        try:
            obstore.put(self._store, key, data, mode="create", attributes=attributes)
        except AlreadyExistsError:
            return False
        except (BaseError, OSError) as error:
            raise away(error) from error
        return True

    def get(self, key: str) -> bytes | None:
        """Return an object, None if there is none; raise StoreAway if it cannot be reached."""
        try:
            return bytes(obstore.get(self._store, key).bytes())
        except FileNotFoundError:
            return None
        except (BaseError, OSError) as error:
            raise away(error) from error

    def delete(self, key: str) -> None:
        """Delete an object if it is there; raise StoreAway if it cannot be reached."""
        try:
            obstore.delete(self._store, key)
        except FileNotFoundError:
            return
        except (BaseError, OSError) as error:
            raise away(error) from error

    def keys(self, prefix: str) -> Iterator[str]:
        """Give the keys below a prefix; raise StoreAway if they cannot be listed."""
        try:
            for several in obstore.list(self._store, prefix):
                yield from (one["path"] for one in several)
        except (BaseError, OSError) as error:
            raise away(error) from error


def away(error: Exception) -> StoreAway:
    """Say in one line what went wrong."""
    return StoreAway(f"the object store does not answer: {str(error).partition(chr(10))[0][:200]}")
