"""Collects what a cell prints, shows and writes, up to a budget. Untrusted side.

Tested in tests/gradekit/untrusted/test_cell_output.py.
"""

from __future__ import annotations

import io
import os
from typing import Any

KEPT_TYPES = ("text/plain", "image/png", "image/jpeg")
_ENTRY_BYTES = 64


class Outputs:
    """Collects the outputs of one cell at a time, up to a budget.

    Args:
        cell_bytes: the budget of one cell.
        total_bytes: the budget of all cells.
    """

    def __init__(self, cell_bytes: int, total_bytes: int) -> None:
        self._cell_bytes = cell_bytes
        self._total_left = self._all_bytes = total_bytes
        self.begin()

    @property
    def left(self) -> int:
        """The rest of the running cell's budget."""
        return self._left

    @property
    def is_cut(self) -> bool:
        """Whether a part of the running cell's output was left out."""
        return self._cut > 0

    def begin(self) -> None:
        """Forget the collected outputs and start a new cell."""
        self._entries: list[dict[str, Any]] = []
        self._left = min(self._cell_bytes, self._total_left)
        self._cut = 0

    def finish(self) -> list[dict[str, Any]]:
        """The cell's outputs, with a last line if some were cut."""
        if self._cut:
            most = f"{self._cell_bytes:,} for a cell, {self._all_bytes:,} for all cells"
            text = [f"[{self._cut:,} more bytes of output were cut: the limit is {most}]\n"]
            self._entries.append({"output_type": "stream", "name": "stderr", "text": text})
        for entry in self._entries:
            if entry["output_type"] == "stream":
                entry["text"] = "".join(entry["text"])
        self._total_left -= min(self._cell_bytes, self._total_left) - self._left
        return self._entries

    def stream(self, name: str, text: str, cut: int = 0) -> None:
        """Add printed text; consecutive texts on the same stream become one output.

        Args:
            name: stdout or stderr.
            text: the printed text.
            cut: the number of bytes that the caller has left out.
        """
        self._cut += cut
        if len(text) > self._left:
            self._cut += len(text) - self._left
            text = text[: self._left]
        if not text:
            return
        last = self._entries[-1] if self._entries else {}
        if last.get("name") != name:
            self._spend(_ENTRY_BYTES)
            self._entries.append({"output_type": "stream", "name": name, "text": []})
        self._entries[-1]["text"].append(text)
        self._spend(len(text))

    def add(self, entry: dict[str, Any], size: int) -> None:
        """Add an output of about `size` bytes, or leave it out if it does not fit."""
        if size + _ENTRY_BYTES > self._left:
            self._cut += size
            return
        self._spend(size + _ENTRY_BYTES)
        self._entries.append(entry)

    def show(self, kind: str, data: dict[str, Any], **fields: Any) -> None:
        """Add a bundle of representations, without those that a page could not show safely."""
        kept = {key: as_text(data[key]) for key in KEPT_TYPES if key in data}
        if kept:
            entry = {"output_type": kind, "data": kept, "metadata": {}, **fields}
            self.add(entry, sum(map(len, kept.values())))

    def clear(self) -> None:
        """Forget this cell's outputs so far; its budget stays spent."""
        self._entries = []

    def _spend(self, size: int) -> None:
        self._left = max(0, self._left - size)


class Stream(io.TextIOBase):
    """A standard stream whose text becomes output of the running cell."""

    def __init__(self, outputs: Outputs, name: str, fd: int) -> None:
        self._outputs = outputs
        self._name = name
        self._fd = fd

    encoding = "utf-8"
    errors = "replace"

    @property
    def name(self) -> str:
        """The stream's name, in the form of Python's own streams."""
        return f"<{self._name}>"

    def writable(self) -> bool:
        """Text can be written."""
        return True

    def fileno(self) -> int:
        """The file descriptor, for code that writes to it directly."""
        return self._fd

    def write(self, text: str) -> int:
        """Add `text` to the cell's output."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._outputs.stream(self._name, text)
        return len(text)


class RawOutput:
    """Output that C code and other programs write to the file descriptors 1 and 2 themselves.

    It goes to a file of limited size, and is shown when the cell (or the ``!`` line) ends.
    """

    def __init__(self) -> None:
        self._file: int | None = None

    def take_over(self, path: str) -> None:
        """Send both descriptors to `path` from now on."""
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        os.unlink(path)
        os.dup2(self._file, 1)
        os.dup2(self._file, 2)

    def fileno(self) -> int:
        """The descriptor of that file."""
        assert self._file is not None
        return self._file

    def drain(self, outputs: Outputs) -> None:
        """Move the written bytes to `outputs`."""
        if self._file is None:
            return
        size = os.fstat(self._file).st_size
        if size:
            text = os.pread(self._file, min(size, outputs.left), 0).decode("utf-8", "replace")
            outputs.stream("stdout", text, cut=max(0, size - outputs.left))
            os.ftruncate(self._file, 0)


def as_text(value: Any) -> str:
    """A value as text. A student may have written the code that makes it, so it may raise."""
    if isinstance(value, bytes):
        return os.fsdecode(value)
    try:
        return str(value)
    except Exception:
        return f"<{type(value).__name__}>"
