"""One family of errors that the user can correct."""

from __future__ import annotations

import inspect

import pytest

from gradekit import errors
from gradekit.errors import LabError, RefusedError

CLASSES = [value for _, value in inspect.getmembers(errors, inspect.isclass)]


@pytest.mark.parametrize("error", CLASSES)
def test_every_error_is_a_lab_error_with_a_docstring_and_is_listed(error: type) -> None:
    assert issubclass(error, LabError)
    assert error.__doc__
    assert error.__name__ in errors.__all__
    assert error.__name__ in (errors.__doc__ or "")


def test_a_refused_file_says_what_it_cost() -> None:
    refused = RefusedError("it is damaged", 7)
    assert (str(refused), refused.cost) == ("it is damaged", 7)
