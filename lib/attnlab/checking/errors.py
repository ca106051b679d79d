"""What ends a probe at once, from however deep in it: news that no probe may keep to itself."""

from __future__ import annotations


class MissingNameError(AttributeError):  # noqa: N818 - it names what a notebook lacks
    """A probe asked for a name that the notebook does not define."""


class MissingFileError(FileNotFoundError):  # noqa: N818 - it names what a hand-in lacks
    """A probe asked for a file of weights that does not lie beside the notebook."""


class ForbiddenCallError(RuntimeError):  # noqa: N818 - it names what the student did
    """The student's code called what the exercise is there to build."""
