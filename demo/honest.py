"""Hand-ins of students who mean well: right in four styles, wrong in known ways, half done."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from demo.answers import answered, in_style, put_in, right_answer
from demo.hand_in import Expected, HandIn
from demo.notebook import code
from demo.room import Room
from gradekit.exercise.definition import Exercise, Version

STYLES = ("ada", "emmy", "sofia")
MISTAKEN = ("softmax", "cross_entropy")


def honest(room: Room) -> Iterator[HandIn]:
    """Right, wrong, half done and untouched, on time and late."""
    yield room.hand_in("noether", "all right, as the reference does it", room.right)
    for style, student in enumerate(STYLES):
        answers = {e.name: in_style(room.solved, e, style) for e in room.lab.exercises}
        notebook = answered(room.released, answers)
        yield room.hand_in(student, f"all right, in another way ({style + 1})", notebook)
    yield from mistaken(room)
    yield room.hand_in(
        "untouched", "handed in as it was released", room.released, Expected(room.marks.none)
    )
    yield half_done(room)
    yield syntax_error(room)
    yield warned(room)
    yield late(room)


def mistaken(room: Room) -> Iterator[HandIn]:
    """Each known mistake of two exercises once: one of each in a notebook, all else right."""
    first, second = (room.lab[name] for name in MISTAKEN)
    pairs = zip_longest(first.mistakes, second.mistakes)
    for number, pair in enumerate(pairs, start=1):
        made = [(e, m) for e, m in zip((first, second), pair, strict=True) if m is not None]
        yield _with_mistakes(room, f"m{number:02}", made)


def _with_mistakes(room: Room, student: str, made: list[tuple[Exercise, Version]]) -> HandIn:
    answers = {
        exercise.name: put_in(right_answer(room.solved, exercise.name), exercise, mistake)
        for exercise, mistake in made
    }
    notebook = answered(room.right, answers)
    why = ", ".join(f"{exercise.name}: {mistake.name}" for exercise, mistake in made)
    mistakes = {exercise.name: mistake.name for exercise, mistake in made}
    expected = Expected(room.marks.of(notebook, mistakes), mistakes=mistakes)
    return room.hand_in(student, why.replace("_", " "), notebook, expected)


def half_done(room: Room) -> HandIn:
    """The first half of the exercises, and the rest as released."""
    names = [e.name for e in room.lab.exercises]
    done = names[: len(names) // 2]
    notebook = answered(room.released, {name: right_answer(room.solved, name) for name in done})
    points = {name: room.marks.full[name] if name in done else 0.0 for name in names}
    return room.hand_in("half", "the first half done, all right", notebook, Expected(points))


def syntax_error(room: Room) -> HandIn:
    """A bracket that is never closed, in one answer: that exercise is lost, and no other."""
    at = room.right.answer_at("softmax_backward")
    notebook = room.right.with_source(at, room.right.source(at) + "\nprint((1, 2)")
    expected = Expected(room.without("softmax_backward"))
    return room.hand_in("bracket", "a syntax error in one answer", notebook, expected)


def warned(room: Room) -> HandIn:
    """Right, and it warns on stderr, for which nbgrader by itself gives nothing."""
    warning = "import sys, warnings\nwarnings.warn('slow')\nprint('careful', file=sys.stderr)"
    at = room.right.answer_at("softmax")
    text = room.right.source(at).replace(
        "    exp =", "    import warnings\n    warnings.warn('my own warning')\n    exp =", 1
    )
    assert "my own warning" in text, "the reference's softmax has another shape now"
    notebook = room.right.with_source(at, text).inserted(at, code(warning))
    return room.hand_in("warner", "all right, with warnings on stderr", notebook)


def late(room: Room) -> HandIn:
    """All right, thirty hours after the due date: two days, the second one begun."""
    return room.hand_in(
        "tardy",
        "all right, thirty hours late",
        room.right,
        Expected(room.marks.full, state="late", share=0.8),
        hours_late=30,
    )
