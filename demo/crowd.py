"""A class of any size: the demo's students repeated, with no two equal submissions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import cycle, islice

from demo.notebook import Notebook, code
from demo.submission import DemoSubmission


def crowd(
    submissions: Sequence[DemoSubmission], count: int, notebook: str
) -> Iterator[DemoSubmission]:
    """`count` students who hand in copies of `submissions`, in turns.

    Args:
        notebook: the notebook's file name. Each notebook gets a cell of its own at its end, so that
            no result can serve two students; other files stay unchanged.
    """
    for number, submission in enumerate(islice(cycle(_mixed(submissions)), count)):
        yield replace(_unlike(submission, notebook, number), student=f"student{number:04}")


def _mixed(submissions: Sequence[DemoSubmission]) -> list[DemoSubmission]:
    """In steps, so that the first few are a fair sample: by themselves, mistakes are adjacent."""
    step = next(step for step in (7, 5, 3, 2, 1) if len(submissions) % step or step == 1)
    return [submissions[index * step % len(submissions)] for index in range(len(submissions))]


def _unlike(submission: DemoSubmission, name: str, number: int) -> DemoSubmission:
    try:
        notebook = Notebook.parse(submission.files[name])
    except (KeyError, ValueError, TypeError):
        return submission
    own = code(f"# hand-in {number}", f"number-{number}")
    return replace(submission, files={**submission.files, name: notebook.appended(own).bytes()})
