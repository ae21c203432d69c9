"""Script that reads an untrusted image and writes a small WebP of the given shape.

The decoders are written in C and process untrusted input, so they run in a separate process: with
little memory, for a short time, and without the hub's keys. An invalid or too large image ends the
process with exit code 1 and a message. Its only argument is the shape.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Mapping
from io import BytesIO
from typing import Final, Literal, TypeAlias, cast

from PIL import Image, ImageOps

FORMATS: Final = ("PNG", "JPEG", "WEBP")
MOST_BYTES: Final = 5 * 1024 * 1024
MOST_PIXELS: Final = 4_000_000

Shape: TypeAlias = Literal["square", "wide"]
"""Square for users; wide for competitions, in the size of link previews."""

SIZES: Final[Mapping[Shape, tuple[int, int]]] = {"square": (256, 256), "wide": (1200, 630)}
"""Width and height in pixels."""

MEMORY: Final = 384 * 1024 * 1024
"""Bytes of address space, of which Python and the decoders take a third at the start."""

CPU_SECONDS: Final = 10
PATIENT: Final = 10
"""The niceness of the process, so that it yields to processes that serve requests."""


def main() -> None:
    """Convert the image on standard input to a shape, and write it to standard output."""
    limit()
    try:
        picture = crop(sys.stdin.buffer.read(MOST_BYTES + 1), cast(Shape, sys.argv[1]))
    # Decoders raise all kinds of errors for broken files.
    except Exception as error:
        raise SystemExit(str(error) or type(error).__name__) from None
    sys.stdout.buffer.write(picture)


def limit() -> None:
    """Limit this process's resources; outside Linux, only the caller's timeout limits it."""
    if sys.platform == "linux":
        import resource  # noqa: PLC0415 - there is none on Windows

        os.nice(PATIENT)
        for what, most in (
            (resource.RLIMIT_AS, MEMORY),
            (resource.RLIMIT_CPU, CPU_SECONDS),
            (resource.RLIMIT_FSIZE, 0),
            (resource.RLIMIT_CORE, 0),
        ):
            resource.setrlimit(what, (most, most))


def crop(data: bytes, shape: Shape) -> bytes:
    """Return an image as a WebP of a shape, without metadata.

    It is rotated according to its metadata, and cropped to the centre. Its pixels are counted
    before any of them is decoded. Raises ValueError if it is too large, and any error of the
    decoder if it is invalid.
    """
    if len(data) > MOST_BYTES:
        raise ValueError(f"a picture may have at most {MOST_BYTES} bytes")
    with warnings.catch_warnings():
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        with Image.open(BytesIO(data), formats=FORMATS) as picture:
            if picture.width * picture.height > MOST_PIXELS:
                raise ValueError(f"a picture may have at most {MOST_PIXELS} pixels")
            turned = ImageOps.exif_transpose(picture)
    mode = "RGBA" if turned.has_transparency_data else "RGB"
    small = ImageOps.fit(turned.convert(mode), SIZES[shape], Image.Resampling.LANCZOS)
    packed = BytesIO()
    small.save(packed, "WEBP", quality=85, exif=b"", icc_profile=b"", xmp=b"")
    return packed.getvalue()


if __name__ == "__main__":
    main()
