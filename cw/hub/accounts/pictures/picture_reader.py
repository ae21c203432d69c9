"""A process that reads one picture: a file of anybody in, a small one of a known shape out.

Decoders are written in C and are given whatever strangers send, so they work here: with little
memory, for a short time, and without the keys of the hub. What is not a picture, or is too large,
ends it with exit code 1 and a sentence. Its one argument is the shape.
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
"""A square is of a person; a wide one is of a competition, and as large as links show it."""

SIZES: Final[Mapping[Shape, tuple[int, int]]] = {"square": (256, 256), "wide": (1200, 630)}
"""Width and height in pixels."""

MEMORY: Final = 384 * 1024 * 1024
"""Bytes of addresses, of which Python and the decoders take a third before they begin."""

CPU_SECONDS: Final = 10
PATIENT: Final = 10
"""How much the process stands back behind those that answer."""


def main() -> None:
    """Turn the picture of standard input into one of a shape on standard output."""
    limit()
    try:
        picture = crop(sys.stdin.buffer.read(MOST_BYTES + 1), cast(Shape, sys.argv[1]))
    # Decoders of broken files raise all kinds of errors.
    except Exception as error:
        raise SystemExit(str(error) or type(error).__name__) from None
    sys.stdout.buffer.write(picture)


def limit() -> None:
    """Bound what this process may take; beyond Linux its time alone is bounded, by who waits."""
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
    """Return a picture as a WebP of a shape, without metadata.

    It is turned as its camera was held, and cropped to its middle. Its pixels are counted before
    any of them is decoded. Raises ValueError for too large a picture, and whatever
    the decoder does for what is none.
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
