"""Honest submissions: right in four styles, wrong in known ways, half done."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from demo.answers import answered, in_style, put_in, right_answer
from demo.material import Material
from demo.notebook import code
from demo.submission import DemoSubmission, Expected
from gradekit.exercise.definition import Exercise, Version

STYLES = ("ada", "emmy", "sofia")
MISTAKEN = ("softmax", "cross_entropy")


def honest(material: Material) -> Iterator[DemoSubmission]:
    """Right, wrong, half done and untouched, on time and late."""
    yield material.submission("noether", "all right, like the reference", material.right)
    for style, student in enumerate(STYLES):
        answers = {e.name: in_style(material.solved, e, style) for e in material.lab.exercises}
        notebook = answered(material.released, answers)
        yield material.submission(student, f"all right, in another way ({style + 1})", notebook)
    yield from mistaken(material)
    yield material.submission(
        "untouched",
        "unchanged since the release",
        material.released,
        Expected(material.marks.none),
    )
    yield half_done(material)
    yield syntax_error(material)
    yield warned(material)
    yield late(material)


def mistaken(material: Material) -> Iterator[DemoSubmission]:
    """A known mistake for each advice of two exercises: one of each in a notebook, else right."""
    first, second = (material.lab[name] for name in MISTAKEN)
    pairs = zip_longest(first_of_each_advice(first), first_of_each_advice(second))
    for number, pair in enumerate(pairs, start=1):
        made = [(e, m) for e, m in zip((first, second), pair, strict=True) if m is not None]
        yield _with_mistakes(material, f"m{number:02}", made)


def first_of_each_advice(exercise: Exercise) -> list[Version]:
    """The known mistakes of an exercise without further variants of the same misunderstanding."""
    return list({mistake.advice: mistake for mistake in reversed(exercise.mistakes)}.values())[::-1]


def _with_mistakes(
    material: Material, student: str, made: list[tuple[Exercise, Version]]
) -> DemoSubmission:
    answers = {
        exercise.name: put_in(right_answer(material.solved, exercise.name), exercise, mistake)
        for exercise, mistake in made
    }
    notebook = answered(material.right, answers)
    why = ", ".join(f"{exercise.name}: {mistake.name}" for exercise, mistake in made)
    mistakes = {exercise.name: mistake.name for exercise, mistake in made}
    expected = Expected(material.marks.of(notebook, mistakes), mistakes=mistakes)
    return material.submission(student, why.replace("_", " "), notebook, expected)


def half_done(material: Material) -> DemoSubmission:
    """The first half of the exercises, and the rest as released."""
    names = [e.name for e in material.lab.exercises]
    done = names[: len(names) // 2]
    notebook = answered(
        material.released, {name: right_answer(material.solved, name) for name in done}
    )
    points = {name: material.marks.full[name] if name in done else 0.0 for name in names}
    return material.submission("half", "the first half done, all right", notebook, Expected(points))


def syntax_error(material: Material) -> DemoSubmission:
    """A bracket that is never closed, in one answer: that exercise is lost, and no other."""
    at = material.right.answer_at("softmax_backward")
    notebook = material.right.with_source(at, material.right.source(at) + "\nprint((1, 2)")
    expected = Expected(material.without("softmax_backward"))
    return material.submission("bracket", "a syntax error in one answer", notebook, expected)


def warned(material: Material) -> DemoSubmission:
    """Right, with a warning on stderr, for which nbgrader by itself gives no points."""
    warning = "import sys, warnings\nwarnings.warn('slow')\nprint('careful', file=sys.stderr)"
    at = material.right.answer_at("softmax")
    text = material.right.source(at).replace(
        "    exp =", "    import warnings\n    warnings.warn('my own warning')\n    exp =", 1
    )
    assert "my own warning" in text, "the reference's softmax is written differently now"
    notebook = material.right.with_source(at, text).inserted(at, code(warning))
    return material.submission("warner", "all right, with warnings on stderr", notebook)


def late(material: Material) -> DemoSubmission:
    """All right, thirty hours after the due date: the second day has begun, so it counts as two."""
    return material.submission(
        "tardy",
        "all right, thirty hours late",
        material.right,
        Expected(material.marks.full, state="late", factor=0.8),
        hours_late=30,
    )
