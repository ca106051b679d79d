"""A picture's pixels are read from its file, and are those of a decoder."""

from __future__ import annotations

import io
import struct
import warnings
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from gradekit.feedback.pictures import pixels
from tests.helpers.fuzz import examples


def drawn(kind: str, **options: object) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (70, 30)).save(out, kind, **options)
    return out.getvalue()


@pytest.mark.parametrize(
    "data",
    [
        drawn("PNG"),
        drawn("JPEG"),
        drawn("JPEG", progressive=True, comment=b"\xff\xc0" * 50, exif=b"Exif\0\0" + bytes(99)),
    ],
)
def test_pixels_are_those_of_the_picture(data):
    assert pixels(data) == 70 * 30
    for end in range(len(data)):
        assert pixels(data[:end]) in (0, 70 * 30)


def test_frames_of_an_animation_add_up():
    more = [Image.new("RGB", (70, 30), (n, 0, 0)) for n in range(4)]
    assert pixels(drawn("PNG", save_all=True, append_images=more)) == 5 * 70 * 30


def test_a_height_that_is_stated_later_counts_as_the_largest():
    data = drawn("JPEG")
    at = data.index(b"\xff\xc0") + 5
    assert pixels(data[:at] + b"\0\0" + data[at + 2 :]) == 70 * 2**16


def test_a_small_file_of_many_pixels():
    """A browser would need 256 MiB for each of them, and a notebook has room for hundreds."""
    side = 2**13
    scan = zlib.compress((b"\0" * (1 + side // 8)) * side)
    head = struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)
    chunks = [(b"IHDR", head), (b"IDAT", scan), (b"IEND", b"")]
    data = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(part)) + kind + part + struct.pack(">I", zlib.crc32(kind + part))
        for kind, part in chunks
    )
    assert len(data) < 100_000
    with warnings.catch_warnings(action="ignore"):  # Pillow says that it may be a bomb
        assert Image.open(io.BytesIO(data)).size == (side, side)
    assert pixels(data) == side * side


@examples(300)
@given(start=st.sampled_from([b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"]), rest=st.binary(max_size=99))
def test_any_bytes_have_a_number(start, rest):
    assert pixels(start + rest) >= 0
