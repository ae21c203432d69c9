"""Object storage for replays, images and other large objects, in a folder or an S3 bucket."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import IO, Final, Literal
from urllib.parse import urlsplit

import obstore
import requests
from obstore.exceptions import AlreadyExistsError, BaseError
from obstore.store import LocalStore, S3Store

from cw.errors import Failure, ProtocolError
from cw.replays.archive import LARGEST, arena_replay, own_replay

PATIENCE: Final = "10s"
"""Timeout of a request to the object store."""

PACKED: Final = ".gz"
"""Key suffix of objects compressed with gzip."""


NO_BUCKET: Final = "the object store has no such bucket: cw hub store create"

PIECE: Final = 64 * 1024
"""Bytes of a streamed object that are in memory at a time."""


class StoreAway(Failure):
    """The object store cannot be reached."""


class NoBucket(StoreAway):
    """The server has no bucket of this name."""


@dataclass(frozen=True, slots=True)
class Streamed:
    """An object that is read piece by piece."""

    size: int
    """The size in bytes."""
    pieces: Iterator[bytes]


class ObjectStore:
    """Storage of objects by key, such as `replays/2026/11/m_00c0ffee.json.gz`."""

    def __init__(self, url: str, public_url: str = "") -> None:
        """Open a folder, or `s3://bucket/prefix`; S3 credentials come from AWS_...

        `public_url` is the URL by which browsers reach that server, or "" if they cannot.
        """
        is_s3 = url.startswith("s3://")
        self._folder = None if is_s3 else Path(url)
        self._store: S3Store | LocalStore = (
            bucket_at(url) if is_s3 else LocalStore(Path(url), mkdir=True)
        )
        self._public = bucket_at(url, public_url) if is_s3 and public_url else None
        self._public_url = public_url if is_s3 else ""

    def put_new(self, key: str, data: bytes) -> bool:
        """Store an object under an unused key; return whether the key was unused.

        An existing object is never overwritten, not even by concurrent callers, unless the server
        cannot guarantee that (AWS_CONDITIONAL_PUT=disabled). Raises StoreAway if the store cannot
        be reached.
        """
        try:
            self._put(key, data, "create")
        except AlreadyExistsError:
            return False
        # Swift has no conditional PUT. Each attempt has a key of its own, so checking first is
        # enough (decisions 0008).
        except NotImplementedError:
            return self._put_where_nothing_is(key, data)
        except FileNotFoundError as error:
            raise NoBucket(NO_BUCKET) from error
        except (BaseError, OSError) as error:
            raise away(error) from error
        return True

    def _put_where_nothing_is(self, key: str, data: bytes) -> bool:
        """Store an object after checking that its key is unused."""
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
        """Return whether an object exists; raise StoreAway if the store cannot be reached."""
        try:
            return self._has(key)
        except (BaseError, OSError) as error:
            raise away(error) from error

    def _put(self, key: str, data: bytes, mode: Literal["create", "overwrite"]) -> None:
        # A folder stores no attributes; its web server relies on the key.
        packed = {"Content-Encoding": "gzip"} if key.endswith(PACKED) else {}
        attributes = None if isinstance(self._store, LocalStore) else packed
        obstore.put(self._store, key, data, mode=mode, attributes=attributes)

    def put_private(self, key: str, file: IO[bytes]) -> None:
        """Store a file of any size so that only the store's owner may read it.

        Overwrites an existing object. Raises StoreAway if the store cannot be reached.
        """
        try:
            if self._folder is not None:
                # The file has default permissions at first, so its folder must be private.
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
        """Copy the objects under a prefix that another store lacks; return how many.

        Raises StoreAway if either store cannot be reached; objects copied so far stay.
        """
        folders, keys = self._inside(prefix)
        there = set(to._inside(prefix)[1])
        count = 0
        for key in keys:
            if key not in there and (data := self.get(key)) is not None:
                count += to.put_new(key, data)
        return count + sum(self.copy_missing(folder, to) for folder in folders)

    def _inside(self, folder: str) -> tuple[Sequence[str], list[str]]:
        """Return the subfolders and the keys of a folder."""
        try:
            listing = obstore.list_with_delimiter(self._store, folder)
        except (BaseError, OSError) as error:
            raise away(error) from error
        keys = [entry["path"] for entry in listing["objects"]]
        return self._without_links(listing["common_prefixes"]), self._without_links(keys)

    def _without_links(self, keys: Sequence[str]) -> list[str]:
        """Leave out symbolic links: others with access to the folder could point them anywhere."""
        if self._folder is None:
            return list(keys)
        return [key for key in keys if not (self._folder / key).is_symlink()]

    def link(self, key: str, lasting: timedelta) -> str | None:
        """Return a public URL of an object that is valid for the given time.

        None if browsers cannot reach the store: the site then serves its objects itself.
        """
        if self._public is None:
            return None
        try:
            # Signing needs no request, so a page does not wait for the store.
            return obstore.sign(self._public, "GET", key, lasting)
        except (BaseError, OSError) as error:
            raise away(error) from error

    def origin(self) -> str | None:
        """Return the origin of links: scheme, host, port; None if the site serves objects."""
        url = self._public_url
        return "{0.scheme}://{0.netloc}".format(urlsplit(url)) if url else None

    def streamed(self, key: str) -> Streamed | None:
        """Return an object of any size as a stream, or None if there is none.

        Raises StoreAway if the store cannot be reached, also while the pieces are read.
        """
        try:
            result = obstore.get(self._store, key)
        except FileNotFoundError:
            return None
        except (BaseError, OSError) as error:
            raise away(error) from error
        return Streamed(result.meta["size"], pieces_of(result.stream(min_chunk_size=PIECE)))

    def get(self, key: str) -> bytes | None:
        """Return an object, or None; raise StoreAway if the store cannot be reached."""
        try:
            return bytes(obstore.get(self._store, key).bytes())
        except FileNotFoundError:
            return None
        except (BaseError, OSError) as error:
            raise away(error) from error

    def delete(self, key: str) -> None:
        """Delete an object if it exists; raise StoreAway if the store cannot be reached."""
        try:
            obstore.delete(self._store, key)
        except FileNotFoundError:
            return
        except (BaseError, OSError) as error:
            raise away(error) from error

    def keys(self, prefix: str, before: datetime | None = None) -> Iterator[str]:
        """Yield the keys under a prefix, optionally only of objects stored before the given time.

        Raises StoreAway if they cannot be listed.
        """
        for entry in self._entries(prefix):
            if before is None or entry["last_modified"] < before:
                yield entry["path"]

    def sizes(self, prefix: str) -> dict[str, int]:
        """Return the keys under a prefix with their sizes in bytes; raise StoreAway on failure."""
        return {entry["path"]: entry["size"] for entry in self._entries(prefix)}

    def _entries(self, prefix: str) -> Iterator[obstore.ObjectMeta]:
        try:
            for entries in obstore.list(self._store, prefix):
                yield from entries
        except (BaseError, OSError) as error:
            raise away(error) from error


def bucket_at(url: str, endpoint: str = "") -> S3Store:
    """Return a bucket; `endpoint` overrides AWS_ENDPOINT."""
    return S3Store.from_url(
        url,
        config={"endpoint": endpoint} if endpoint else {},
        client_options={
            "timeout": PATIENCE,
            "connect_timeout": PATIENCE,
            # Options given here take precedence over the environment.
            "allow_http": os.environ.get("AWS_ALLOW_HTTP", "").lower() in ("1", "true"),
        },
        # Callers retry on their own schedule, and renew the match lease in the meantime.
        retry_config={"max_retries": 1, "retry_timeout": timedelta(seconds=10)},
    )


def pieces_of(stream: obstore.BytesStream) -> Iterator[bytes]:
    """Yield the pieces of an object; raise StoreAway if the store fails while reading."""
    try:
        yield from map(bytes, stream)
    except (BaseError, OSError) as error:
        raise away(error) from error


def away(error: Exception) -> StoreAway:
    """Return a StoreAway error that describes another error in one line."""
    return StoreAway(f"the object store does not answer: {str(error).partition(chr(10))[0][:200]}")


BUCKET_PATIENCE: Final = 10
"""Timeout of a request to the server, in seconds."""

FIRST_REGION: Final = "us-east-1"
"""The region that a request for a new bucket must not name."""

ELSEWHERE: Final = (
    '<CreateBucketConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
    "<LocationConstraint>{}</LocationConstraint></CreateBucketConfiguration>"
)


def make_bucket(url: str) -> bool:
    """Create the bucket of `s3://bucket/prefix`, configured by AWS_...; return whether it is new.

    Raises StoreAway if the server does not respond, Failure if it refuses.
    """
    name = bucket_of(url)
    try:
        link = obstore.sign(bucket_at(f"s3://{name}"), "PUT", "", timedelta(minutes=1))
        answer = requests.put(link, data=body_of_region(), timeout=BUCKET_PATIENCE)
    except (BaseError, OSError) as error:
        raise away(error) from error
    if answer.status_code == 200:
        return True
    if "BucketAlreadyOwnedByYou" in answer.text:
        return False
    if answer.status_code >= 500:
        raise StoreAway(f"the object store does not answer: {answer.status_code}")
    raise Failure(f"cannot create the bucket {name}: {code_of(answer)}")


def bucket_of(url: str) -> str:
    """Return the name of the bucket of `s3://bucket/prefix`."""
    return urlsplit(url).netloc


def body_of_region() -> str:
    """Return the request body for creating a bucket in a region."""
    region = os.environ.get("AWS_REGION", FIRST_REGION)
    return "" if region == FIRST_REGION else ELSEWHERE.format(region)


def code_of(answer: requests.Response) -> str:
    """Return the error code of a server's error response, or its status code if it has none."""
    return answer.text.partition("<Code>")[2].partition("</Code>")[0] or str(answer.status_code)


OWN_FORMAT: Final = ".json.gz"
ARENA_FORMAT: Final = ".cw.json.gz"
"""Suffix of the key of the arena's replay, if the game also has a replay format of its own."""

ARCHIVE: Final = ".archive.gz"
"""Suffix of the key of an archive file."""

LEVEL: Final = 6
"""The gzip level for a file that is generated for one reader."""


def file_at(objects: ObjectStore, key: str) -> bytes | None:
    """Return the file behind a link, as gzip, or None if it no longer exists.

    Raises StoreAway if the store cannot be reached, ProtocolError if the file cannot be generated.
    """
    return read_from_archive(objects, key) if is_from_archive(key) else objects.get(key)


def is_from_archive(key: str) -> bool:
    """Return whether a link names a file that is generated on reading."""
    return f"{ARCHIVE}/" in key


def read_from_archive(objects: ObjectStore, key: str) -> bytes | None:
    """Return a file generated from an archive file, as gzip, or None if the archive is missing.

    Raises StoreAway if the store cannot be reached, ProtocolError if the file cannot be generated.
    """
    stored, _, name = key.rpartition("/")
    stream = objects.streamed(stored)
    if stream is None:
        return None
    data = b"".join(archive_pieces(stream))
    file = arena_replay(data) if name.endswith(ARENA_FORMAT) else own_replay(data)
    return gzip.compress(file, LEVEL, mtime=0)


def archive_pieces(stream: Streamed) -> Iterator[bytes]:
    """Return the pieces of an archive file; raise ProtocolError if it is too large."""
    if stream.size > LARGEST:
        raise ProtocolError(f"the archive file is larger than {LARGEST} bytes")
    return stream.pieces
