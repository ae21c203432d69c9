"""Pictures of people: what is uploaded becomes a small square, and nothing else of it is kept."""

from __future__ import annotations

import warnings
from hashlib import sha256
from io import BytesIO
from typing import Final

from PIL import Image, ImageOps

from cw.errors import UsageError

FORMATS: Final = ("PNG", "JPEG", "WEBP")
MOST_BYTES: Final = 5 * 1024 * 1024
MOST_PIXELS: Final = 24_000_000
SIDE: Final = 256


def make_avatar(data: bytes) -> bytes:
    """Return a picture as a WebP of 256 x 256 without metadata; raise UsageError if it is none.

    It is turned as its camera was held, and cropped to the square in its middle.
    """
    if len(data) > MOST_BYTES:
        raise UsageError(f"a picture may have at most {MOST_BYTES} bytes")
    try:
        return _square(data)
    # Decoders of broken files raise all kinds of errors.
    except Exception as error:
        raise UsageError(f"this is no picture that can be read: {error}") from None


def _square(data: bytes) -> bytes:
    with warnings.catch_warnings():
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        with Image.open(BytesIO(data), formats=FORMATS) as picture:
            if picture.width * picture.height > MOST_PIXELS:
                raise UsageError(f"a picture may have at most {MOST_PIXELS} pixels")
            turned = ImageOps.exif_transpose(picture)
    mode = "RGBA" if turned.has_transparency_data else "RGB"
    small = ImageOps.fit(turned.convert(mode), (SIDE, SIDE), Image.Resampling.LANCZOS)
    packed = BytesIO()
    small.save(packed, "WEBP", quality=85, exif=b"", icc_profile=b"", xmp=b"")
    return packed.getvalue()


def digest_of(picture: bytes) -> str:
    """Return the name of a picture: its SHA-256."""
    return sha256(picture).hexdigest()


def key_of(digest: str) -> str:
    """Return the key under which a picture is stored."""
    return f"avatars/{digest}.webp"
