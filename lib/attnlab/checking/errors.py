"""Errors that a person can fix, and errors that end a probe at once.

The second kind must reach :func:`attnlab.checking.lab.observe` from any depth, so
:meth:`attnlab.checking.draw.Draw.raises` lets it pass. Tested in ``test_lab.py`` and
``test_draw.py``.
"""

from __future__ import annotations


class LabError(Exception):
    """An error that a person can fix. Its message is one sentence: what, where, what to do."""


# The type of the error if a student's module lacks a weight that the task names (:mod:`.weights`).
MISSING_WEIGHT = "MissingWeightError"


class MissingNameError(AttributeError):
    """A probe asked for a name that the notebook does not define."""


class MissingFileError(FileNotFoundError):
    """A probe asked for a file of weights that is not next to the notebook."""


class ForbiddenCallError(RuntimeError):
    """The student's code called a function that the exercise asks the student to build."""
