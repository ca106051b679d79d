"""For a lab's last cells: tries the student's own test, prints predictions next to results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from attnlab.notebook.not_right_yet import failing_note
from attnlab.notebook.unwritten import why_not


def try_versions(test: Callable[[Any], Any], *versions: Any) -> None:
    """Print for each version of a function or class whether the student's `test` accepts it.

    Args:
        test: the student's test, called with one version; an AssertionError rejects it.
        versions: functions or classes.
    """
    for version in versions:
        name = version.__name__
        try:
            test(version)
            print(f"{name} passes your test")
        except AssertionError as error:
            reason = str(error).partition("\n")[0]
            print(f"{name} is rejected: {reason or 'the assert gives no reason'}")
        except Exception as error:
            print(f"{name}: no verdict yet: {why_not(error)}")


def compare_predictions(
    predictions: Mapping[str, Any], answers: Mapping[str, Callable[[], Any]]
) -> None:
    """Print each prediction next to the answer of the student's own functions.

    An answer is not shown before there is a prediction, so running all cells reveals none.

    Args:
        predictions: the student's answers, by the question's name; any may be missing or None.
        answers: for each question a function that computes the answer: a number, several numbers,
            or text.
    """
    if not isinstance(predictions, Mapping):
        print("your predictions should be a dictionary, such as {}; then run this cell again")
        return
    for name, answer in answers.items():
        guess = predictions.get(name)
        if guess is None:
            print(f"{name}: write your guess first, then run this cell again")
            continue
        try:
            said = f"{_rounded(answer())}"
        except Exception as error:
            said = f"nothing yet: {why_not(error, answer)}"
        doubt = failing_note(answer)
        said += f" ({doubt})" if doubt else ""
        print(f"{name}: you say {guess}, your functions say {said}")


def _rounded(answer: Any) -> Any:
    if isinstance(answer, str):
        return answer
    numbers = torch.as_tensor(answer).squeeze()
    if numbers.is_floating_point():
        numbers = numbers.double().round(decimals=3) + 0.0  # no minus sign before 0
    return numbers.tolist()
