"""What ends a probe at once, from however deep in it: news that no probe may keep to itself."""

from __future__ import annotations


class LabError(Exception):
    """An error that a person can correct. Its message is one sentence: what, where, what to do."""


class MissingNameError(AttributeError):
    """A probe asked for a name that the notebook does not define."""


class MissingFileError(FileNotFoundError):
    """A probe asked for a file of weights that does not lie beside the notebook."""


class ForbiddenCallError(RuntimeError):
    """The student's code called what the exercise is there to build."""
