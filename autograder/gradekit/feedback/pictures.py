"""The size of a picture in pixels, as its file states it: what a browser will need to show it.

A picture of one colour is small as a file and, unpacked, fills the memory of the page that shows
it. Nothing is unpacked here, and no image library reads the hostile file: it would read much more
of it than its size, in the grader's own process.

Tested in tests/gradekit/feedback/test_pictures.py.
"""

from __future__ import annotations

import struct

_PNG, _JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8"
# Segments of a JPEG that have no length, and those that state the picture's size.
_BARE = {0x01, *range(0xD0, 0xD9)}
_FRAMES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}
_SCAN = 0xDA


def pixels(data: bytes) -> int:
    """The pixels of a PNG or JPEG, of all its frames together; 0 if the file does not say it."""
    try:
        if data.startswith(_PNG):
            return _pixels_of_png(data)
        if data.startswith(_JPEG):
            return _pixels_of_jpeg(data)
    except (struct.error, IndexError):  # it ends early, and no browser shows it
        return 0
    return 0


def _pixels_of_png(data: bytes) -> int:
    width, height = struct.unpack_from(">II", data, 16)
    frames, position = 1, 8
    # The number of frames of an animation comes before the first of them.
    while position + 12 <= len(data):
        length, kind = struct.unpack_from(">I4s", data, position)
        if kind == b"acTL":
            frames = max(frames, *struct.unpack_from(">I", data, position + 8))
        if kind == b"IDAT":
            break
        position += 12 + length
    return int(width * height * frames)


def _pixels_of_jpeg(data: bytes) -> int:
    most, position = 0, 2
    while True:
        # Readers skip bytes up to the next segment.
        position = data.find(b"\xff", position)
        if position < 0:
            return most
        kind = data[position + 1]
        if kind in (0x00, 0xFF):
            position += 1
        elif kind in _BARE:
            position += 2
        elif kind == _SCAN:
            return most
        else:
            (length,) = struct.unpack_from(">H", data, position + 2)
            if kind in _FRAMES:
                height, width = struct.unpack_from(">HH", data, position + 5)
                # A height of 0 is stated later, after the first scan.
                most = max(most, width * (height or 2**16))
            position += 2 + length
