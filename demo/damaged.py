"""Damaged submissions: cells lost, moved or doubled, files renamed or broken."""

from __future__ import annotations

from collections.abc import Iterator

from demo.material import Material
from demo.notebook import Cell, Notebook, code
from demo.submission import DemoSubmission, Expected

THEIRS = "broken: theirs"


def damaged(material: Material) -> Iterator[DemoSubmission]:
    """Damage by editors, file managers and accidents."""
    yield from damaged_cells(material)
    yield from damaged_files(material)
    yield from endless(material)


def damaged_cells(material: Material) -> Iterator[DemoSubmission]:
    """Right answers in a notebook whose other cells differ from the released ones."""
    right, at = material.right, material.right.check_at("softmax")
    stop = code("raise RuntimeError('I was here')", "stop")
    yield material.submission(
        "raiser", "all right, `raise` in the first cell", right.inserted(0, stop)
    )
    yield material.submission("deleter", "a test cell deleted", right.with_cells(at))
    changed = right.with_source(at, "14.0  # it says so")
    yield material.submission("changer", "a test cell changed to its full points", changed)
    copied = right.inserted(at, right.cells[at])
    yield material.submission("copier", "a test cell copied, with its id", copied)
    halves = [{**right.cells[at], "source": text} for text in ('name = "softmax"', "check(name)")]
    yield material.submission("splitter", "a test cell split in two", right.with_cells(at, *halves))
    yield material.submission("colab", "all metadata lost", stripped(right))


def damaged_files(material: Material) -> Iterator[DemoSubmission]:
    """Right answers in a file that the grader does not expect, and broken files."""
    data = material.right.bytes()
    renamed = {"Lab 1 (final) émile.ipynb": data}
    yield material.of_files("renamer", "the notebook renamed", renamed)
    two = {material.name: data, "scratch.ipynb": scratch().bytes()}
    yield material.of_files("two", "two notebooks, one of them for trying things", two)
    cut = {material.name: data[: len(data) // 2]}
    broken = Expected(material.marks.none, THEIRS, ("damaged",))
    yield material.of_files("torn", "a notebook cut off in the middle", cut, broken)
    empty = {material.name: b""}
    broken = Expected(material.marks.none, THEIRS, ("empty",))
    yield material.of_files("void", "a file of 0 bytes", empty, broken)


def endless(material: Material) -> Iterator[DemoSubmission]:
    """Infinite loops: in a cell, which costs nothing else, and in an answer, which is lost."""
    loop = code("while True:\n    pass", "loop")
    at = material.right.answer_at("softmax")
    yield material.submission(
        "spinner",
        "all right, and an infinite loop in a cell",
        material.right.inserted(at, loop),
        Expected(material.marks.full, words=("stopped after",)),
    )
    at = material.right.answer_at("softmax_backward")
    text = "def softmax_backward(p, grad_p):\n    while True:\n        p = p * grad_p\n"
    yield material.submission(
        "whirl",
        "an infinite loop in one answer",
        material.right.with_source(at, text),
        Expected(material.without("softmax_backward")),
    )


def stripped(notebook: Notebook) -> Notebook:
    """The notebook without any cell's metadata and id, and without the kernel's name."""

    def bare(cell: Cell) -> Cell:
        return {**{key: value for key, value in cell.items() if key != "id"}, "metadata": {}}

    return Notebook(notebook.changed(bare).cells, {})


def scratch() -> Notebook:
    """A notebook that has nothing to do with the lab."""
    return Notebook((code("2 + 2", "a"), code("'so it works'", "b")), {})
