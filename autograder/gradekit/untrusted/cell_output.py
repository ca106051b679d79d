"""What a cell prints, shows and writes, collected within a budget. Untrusted side."""

from __future__ import annotations

import io
import os
from typing import Any

KEPT_TYPES = ("text/plain", "image/png", "image/jpeg")
_ENTRY_BYTES = 64


class Outputs:
    """Collects the outputs of one cell at a time, within a budget.

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
        """What is left of the running cell's budget."""
        return self._left

    @property
    def is_cut(self) -> bool:
        """Whether some of the running cell's output was left out."""
        return self._cut > 0

    def begin(self) -> None:
        """Forget what was collected and start a new cell."""
        self._entries: list[dict[str, Any]] = []
        self._left = min(self._cell_bytes, self._total_left)
        self._cut = 0

    def finish(self) -> list[dict[str, Any]]:
        """The cell's outputs, with a last line where some were cut."""
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
        """Add text that was printed; what follows itself on the same stream is one output.

        Args:
            name: stdout or stderr.
            text: what was printed.
            cut: how many bytes of it the caller has left out.
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
        """Add a whole output of about `size` bytes, or leave it out where it does not fit."""
        if size + _ENTRY_BYTES > self._left:
            self._cut += size
            return
        self._spend(size + _ENTRY_BYTES)
        self._entries.append(entry)

    def show(self, kind: str, data: dict[str, Any], **fields: Any) -> None:
        """Add a bundle of representations; those that a page could not show safely are dropped."""
        kept = {key: as_text(data[key]) for key in KEPT_TYPES if key in data}
        if kept:
            entry = {"output_type": kind, "data": kept, "metadata": {}, **fields}
            self.add(entry, sum(map(len, kept.values())))

    def clear(self) -> None:
        """Forget what this cell has shown so far; its budget stays spent."""
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
        """The stream's name, as for Python's own."""
        return f"<{self._name}>"

    def writable(self) -> bool:
        """Text can be written."""
        return True

    def fileno(self) -> int:
        """The file beneath, for code that writes there by itself."""
        return self._fd

    def write(self, text: str) -> int:
        """Add `text` to the cell's output."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._outputs.stream(self._name, text)
        return len(text)


class RawOutput:
    """What is written to the files 1 and 2 themselves: by C code, by other programs.

    It goes to a file, whose size is limited, and is shown when the cell (or the ``!`` line) ends.
    """

    def __init__(self) -> None:
        self._file: int | None = None

    def take_over(self, path: str) -> None:
        """Send both files to `path` from now on."""
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        os.unlink(path)
        os.dup2(self._file, 1)
        os.dup2(self._file, 2)

    def fileno(self) -> int:
        """The file that is written to."""
        assert self._file is not None
        return self._file

    def drain(self, outputs: Outputs) -> None:
        """Move what was written to `outputs`."""
        if self._file is None:
            return
        size = os.fstat(self._file).st_size
        if size:
            text = os.pread(self._file, min(size, outputs.left), 0).decode("utf-8", "replace")
            outputs.stream("stdout", text, cut=max(0, size - outputs.left))
            os.ftruncate(self._file, 0)


def as_text(value: Any) -> str:
    """A value as text; an exception's own text is a student's code, too, and may raise."""
    if isinstance(value, bytes):
        return os.fsdecode(value)
    try:
        return str(value)
    except Exception:
        return f"<{type(value).__name__}>"
