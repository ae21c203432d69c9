"""Replays, pictures and other large things: in a folder, or in a bucket of an S3 server."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import IO, Final, Literal
from urllib.parse import urlsplit

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError
from obstore.store import LocalStore, S3Store

from cw.errors import Failure

PATIENCE: Final = "10s"
"""For one request to the server."""

PACKED: Final = ".gz"
"""How the key of an object ends that is packed by gzip."""


NO_BUCKET: Final = "the object store has no such bucket: cw hub store create"

PIECE: Final = 64 * 1024
"""Bytes of an object that are in memory at a time while it is passed on."""


class StoreAway(Failure):
    """The objects cannot be reached now."""


class NoBucket(StoreAway):
    """The server has no bucket of this name."""


@dataclass(frozen=True, slots=True)
class Streamed:
    """An object that is read piece by piece."""

    size: int
    """In bytes."""
    pieces: Iterator[bytes]


class ObjectStore:
    """Objects by their keys, such as `replays/2026/11/m_00c0ffee.json.gz`."""

    def __init__(self, url: str, public_url: str = "") -> None:
        """Open a folder, or `s3://bucket/prefix`; what an S3 server wants is in AWS_...

        `public_url` is where browsers reach that server, "" if they do not.
        """
        is_s3 = url.startswith("s3://")
        self._folder = None if is_s3 else Path(url)
        self._store: S3Store | LocalStore = (
            bucket_at(url) if is_s3 else LocalStore(Path(url), mkdir=True)
        )
        self._public = bucket_at(url, public_url) if is_s3 and public_url else None
        self._public_url = public_url if is_s3 else ""

    def put_new(self, key: str, data: bytes) -> bool:
        """Store an object under a key that nothing has; return whether nothing had it.

        What is there already stays as it is: also beside others who store it at the same moment,
        unless it is a server that cannot promise that (AWS_CONDITIONAL_PUT=disabled). Raises
        StoreAway if it cannot be reached.
        """
        try:
            self._put(key, data, "create")
        except AlreadyExistsError:
            return False
        # Swift knows no conditional PUT; each attempt has a key of its own, so looking first is
        # enough (decisions 0008).
        except NotImplementedError:
            return self._put_where_nothing_is(key, data)
        except FileNotFoundError as error:
            raise NoBucket(NO_BUCKET) from error
        except (BaseError, OSError) as error:
            raise away(error) from error
        return True

    def _put_where_nothing_is(self, key: str, data: bytes) -> bool:
        """Store an object after a look whether its key is free."""
        try:
            if self._has(key):
                return False
            self._put(key, data, "overwrite")
        except FileNotFoundError as error:
            raise NoBucket(NO_BUCKET) from error
        except (BaseError, OSError) as error:
            raise away(error) from error
        return True

    def _has(self, key: str) -> bool:
        try:
            obstore.head(self._store, key)
        except FileNotFoundError:
            return False
        return True

    def has(self, key: str) -> bool:
        """Return whether there is an object; raise StoreAway if the store cannot be reached."""
        try:
            return self._has(key)
        except (BaseError, OSError) as error:
            raise away(error) from error

    def _put(self, key: str, data: bytes, mode: Literal["create", "overwrite"]) -> None:
        # A folder keeps no attributes; who serves from it knows the key.
        packed = {"Content-Encoding": "gzip"} if key.endswith(PACKED) else {}
        attributes = None if isinstance(self._store, LocalStore) else packed
        obstore.put(self._store, key, data, mode=mode, attributes=attributes)

    def put_private(self, key: str, file: IO[bytes]) -> None:
        """Store a file, however large, that nobody but the owner of the store may read.

        What was under its key is overwritten. Raises StoreAway if the store cannot be reached.
        """
        try:
            if self._folder is not None:
                # Nobody enters the folder while the file has the rights of every new one.
                path = self._folder / key
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                path.parent.chmod(0o700)
                obstore.put(self._store, key, file)
                path.chmod(0o600)
            else:
                obstore.put(self._store, key, file)
        except (BaseError, OSError) as error:
            raise away(error) from error

    def copy_missing(self, prefix: str, to: ObjectStore) -> int:
        """Copy the objects below a prefix that another store does not have; return how many.

        Raises StoreAway if one of the two cannot be reached; what was copied stays.
        """
        folders, keys = self._inside(prefix)
        there = set(to._inside(prefix)[1])
        count = 0
        for key in keys:
            if key not in there and (data := self.get(key)) is not None:
                count += to.put_new(key, data)
        return count + sum(self.copy_missing(folder, to) for folder in folders)

    def _inside(self, folder: str) -> tuple[Sequence[str], list[str]]:
        """Return the folders and the keys of a folder."""
        try:
            listing = obstore.list_with_delimiter(self._store, folder)
        except (BaseError, OSError) as error:
            raise away(error) from error
        keys = [entry["path"] for entry in listing["objects"]]
        return self._without_links(listing["common_prefixes"]), self._without_links(keys)

    def _without_links(self, keys: Sequence[str]) -> list[str]:
        """Leave out links: in a folder that others can write to they may lead to any file."""
        if self._folder is None:
            return list(keys)
        return [key for key in keys if not (self._folder / key).is_symlink()]

    def link(self, key: str, lasting: timedelta) -> str | None:
        """Return an address at which everybody may read an object for so long.

        None where browsers reach no store: the site passes its objects on.
        """
        if self._public is None:
            return None
        try:
            # Signed without asking the server: a page does not wait for the store.
            return obstore.sign(self._public, "GET", key, lasting)
        except (BaseError, OSError) as error:
            raise away(error) from error

    def origin(self) -> str | None:
        """Return where links lead: scheme, host and port; None for links to the site itself."""
        url = self._public_url
        return "{0.scheme}://{0.netloc}".format(urlsplit(url)) if url else None

    def streamed(self, key: str) -> Streamed | None:
        """Return an object to be passed on, however large, None if there is none.

        Raises StoreAway if it cannot be reached; its pieces do so too.
        """
        try:
            result = obstore.get(self._store, key)
        except FileNotFoundError:
            return None
        except (BaseError, OSError) as error:
            raise away(error) from error
        return Streamed(result.meta["size"], pieces_of(result.stream(min_chunk_size=PIECE)))

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

    def keys(self, prefix: str, before: datetime | None = None) -> Iterator[str]:
        """Give the keys below a prefix, of what was stored before a moment if one is given.

        Raises StoreAway if they cannot be listed.
        """
        for entry in self._entries(prefix):
            if before is None or entry["last_modified"] < before:
                yield entry["path"]

    def sizes(self, prefix: str) -> dict[str, int]:
        """Return the keys below a prefix with their bytes; raise StoreAway without a list."""
        return {entry["path"]: entry["size"] for entry in self._entries(prefix)}

    def _entries(self, prefix: str) -> Iterator[obstore.ObjectMeta]:
        try:
            for entries in obstore.list(self._store, prefix):
                yield from entries
        except (BaseError, OSError) as error:
            raise away(error) from error


def bucket_at(url: str, endpoint: str = "") -> S3Store:
    """Return a bucket; `endpoint` is another address of its server than AWS_ENDPOINT."""
    return S3Store.from_url(
        url,
        config={"endpoint": endpoint} if endpoint else {},
        client_options={
            "timeout": PATIENCE,
            "connect_timeout": PATIENCE,
            # Options given here go before all that the environment says of them.
            "allow_http": os.environ.get("AWS_ALLOW_HTTP", "").lower() in ("1", "true"),
        },
        # Callers retry in their own time, with the lease of the match renewed meanwhile.
        retry_config={"max_retries": 1, "retry_timeout": timedelta(seconds=10)},
    )


def pieces_of(stream: obstore.BytesStream) -> Iterator[bytes]:
    """Give the pieces of an object; raise StoreAway where the store goes away meanwhile."""
    try:
        yield from map(bytes, stream)
    except (BaseError, OSError) as error:
        raise away(error) from error


def away(error: Exception) -> StoreAway:
    """Say in one line what went wrong."""
    return StoreAway(f"the object store does not answer: {str(error).partition(chr(10))[0][:200]}")
