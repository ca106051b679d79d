"""What a student wrote down or tested, beside what comes out: for the labs' last cells."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch


def try_versions(test: Callable[[Any], Any], *versions: Any) -> None:
    """Say for each version of a function or class whether the student's `test` lets it pass."""
    for version in versions:
        name = version.__name__
        try:
            test(version)
            print(f"{name} passes your test")
        except AssertionError as error:
            reason = str(error).partition("\n")[0]
            print(f"{name} is caught: {reason or 'the assert gives no reason'}")
        except NotImplementedError:
            print(f"{name}: your test, or what it tests, is still to be written")


def guesses_beside(
    predictions: Mapping[str, Any], answers: Mapping[str, Callable[[], Any]]
) -> None:
    """Print each prediction and what the student's own functions answer.

    Args:
        predictions: the guesses, by the question's name; any may be missing.
        answers: for each question what computes its answer: a number, several, or text.
    """
    for name, answer in answers.items():
        try:
            said = _rounded(answer())
        except NotImplementedError:
            said = "nothing yet: a step above is open"
        print(f"{name}: you say {predictions.get(name)}, your functions say {said}")


def _rounded(answer: Any) -> Any:
    if isinstance(answer, str):
        return answer
    numbers = torch.as_tensor(answer).squeeze()
    if numbers.is_floating_point():
        numbers = numbers.double().round(decimals=3) + 0.0  # no minus before a zero
    return numbers.tolist()
