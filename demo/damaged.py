"""Hand-ins to which something happened: cells lost, moved or doubled, files renamed or broken."""

from __future__ import annotations

from collections.abc import Iterator

from demo.hand_in import Expected, HandIn
from demo.notebook import Cell, Notebook, code
from demo.room import Room

THEIRS = "broken: theirs"


def damaged(room: Room) -> Iterator[HandIn]:
    """What editors, file managers and nervous fingers do to a notebook."""
    yield from damaged_cells(room)
    yield from damaged_files(room)
    yield from endless(room)


def damaged_cells(room: Room) -> Iterator[HandIn]:
    """Right answers in a notebook whose other cells are not as they were released."""
    right, at = room.right, room.right.check_at("softmax")
    stop = code("raise RuntimeError('I was here')", "stop")
    yield room.hand_in("raiser", "all right, `raise` in the first cell", right.inserted(0, stop))
    yield room.hand_in("deleter", "a test cell deleted", right.with_cells(at))
    changed = right.with_source(at, "14.0  # it says so")
    yield room.hand_in("changer", "a test cell changed to its full points", changed)
    copied = right.inserted(at, right.cells[at])
    yield room.hand_in("copier", "a test cell copied, with its id", copied)
    halves = [{**right.cells[at], "source": text} for text in ('name = "softmax"', "check(name)")]
    yield room.hand_in("splitter", "a test cell split in two", right.with_cells(at, *halves))
    yield room.hand_in("colab", "all metadata lost", stripped(right))


def damaged_files(room: Room) -> Iterator[HandIn]:
    """Right answers in a file that is not what the grader looks for, and files that are broken."""
    data = room.right.bytes()
    renamed = {"Lab 1 (final) émile.ipynb": data}
    yield room.of_files("renamer", "the notebook renamed", renamed)
    two = {room.name: data, "scratch.ipynb": scratch().bytes()}
    yield room.of_files("two", "two notebooks, one of them for trying things", two)
    cut = {room.name: data[: len(data) // 2]}
    broken = Expected(room.marks.none, THEIRS, ("damaged",))
    yield room.of_files("torn", "a notebook cut off in the middle", cut, broken)
    empty = {room.name: b""}
    broken = Expected(room.marks.none, THEIRS, ("empty",))
    yield room.of_files("void", "a file of 0 bytes", empty, broken)


def endless(room: Room) -> Iterator[HandIn]:
    """Loops without an end: in a cell, which costs nothing else; in an answer, which is lost."""
    loop = code("while True:\n    pass", "loop")
    at = room.right.answer_at("softmax")
    yield room.hand_in(
        "spinner",
        "all right, and an endless loop in a cell",
        room.right.inserted(at, loop),
        Expected(room.marks.full, words=("stopped after",)),
    )
    at = room.right.answer_at("softmax_backward")
    text = "def softmax_backward(p, grad_p):\n    while True:\n        p = p * grad_p\n"
    yield room.hand_in(
        "whirl",
        "an endless loop in one answer",
        room.right.with_source(at, text),
        Expected(room.without("softmax_backward")),
    )


def stripped(notebook: Notebook) -> Notebook:
    """Every cell's metadata and id gone, the kernel's name, too."""

    def bare(cell: Cell) -> Cell:
        return {**{key: value for key, value in cell.items() if key != "id"}, "metadata": {}}

    return Notebook(notebook.changed(bare).cells, {})


def scratch() -> Notebook:
    """A notebook that has nothing to do with the lab."""
    return Notebook((code("2 + 2", "a"), code("'so it works'", "b")), {})
