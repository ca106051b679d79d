"""What is left in the students' library answers no step, under whatever name.

A figure of another step may need what the student is asked to write. Then it must not come with a
function that is the answer: one line of import would hand it in. So each function and class that
the released library still has is tried as each step's answer.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import attnlab
from gradekit.build.student_library import write_student_library
from gradekit.exercise.variants import Variants
from gradekit.late import answers_public_after_without_extensions
from tests.attacks.test_references_come_late import OPEN_TO_ALL
from tests.attacks.test_texts_that_answer import A_STUB, earned, takes
from tests.helpers.our_labs import LABS, OUR_LABS

OURS = Path(attnlab.__file__).parent
# They start other programs, change torch, or write into notebooks: none computes what a lab asks.
LEFT_OUT = {
    "__main__", "checking", "notebook", "pretend_gpu", "pretended_cuda", "pretended_rules",
    "processes", "train", "training_runs",
}  # fmt: skip


def definitions(path: Path) -> dict[str, str]:
    """The texts of the functions and classes of a module, by name."""
    nodes = ast.parse(path.read_text("utf-8")).body
    kinds = (ast.FunctionDef, ast.ClassDef)
    return {node.name: ast.unparse(node) for node in nodes if isinstance(node, kinds)}


def left_in_the_library(lab: str, folder: Path) -> Iterator[tuple[str, Callable[..., Any]]]:
    """What the library of a lab's students defines as ours does, each with its full name."""
    write_student_library(LABS, lab, folder, answers_public_after_without_extensions)
    package = folder / OURS.name
    for path in sorted(package.rglob("*.py")):
        ours = OURS / path.relative_to(package)
        if not ours.exists():
            continue
        kept = definitions(ours)
        same = [name for name, text in definitions(path).items() if kept.get(name) == text]
        parts = path.relative_to(folder).with_suffix("").parts
        if same and not LEFT_OUT & set(parts):
            module = ".".join(parts)
            found = importlib.import_module(module.removesuffix(".__init__"))
            yield from ((f"{module}.{name}", getattr(found, name)) for name in same)


def too_much(lab: str, left: dict[str, Callable[..., Any]]) -> Iterator[str]:
    """What earns more than a stub of the right shape, and as which answer."""
    variants = Variants(LABS[lab])
    for exercise in variants.lab.exercises:
        for name in set(exercise.names) - OPEN_TO_ALL.get(lab, set()):
            reference = variants.lab.reference.get(name)
            for where, value in left.items() if callable(reference) else ():
                is_other_kind = isinstance(reference, type) and not isinstance(value, type)
                if is_other_kind or not takes(value, reference):
                    continue
                points = 0.0
                with suppress(Exception):  # an object that cannot be packed is no answer
                    points = earned(variants, exercise, name, value)
                if points > A_STUB * exercise.points:
                    yield f"{where}: {points:g} of {exercise.points} for {name}"


@pytest.mark.filterwarnings("ignore")
def test_a_copy_of_an_answer_would_be_seen() -> None:
    def rows_and_masks(sequences: Any, pad: int) -> Any:
        import torch

        rows = [torch.tensor(one, dtype=torch.int64) for one in sequences]
        ids = torch.nn.utils.rnn.pad_sequence(rows, True, pad)
        return ids, torch.tensor([len(one) for one in sequences]), ids != pad

    assert any("for pad_batch" in line for line in too_much("lab02", {"copy": rows_and_masks}))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("lab", OUR_LABS)
def test_no_function_of_the_library_is_an_answer(
    lab: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # some of them write files
    left = dict(left_in_the_library(lab, tmp_path / "library"))
    assert len(left) > 100
    found = list(too_much(lab, left))
    assert not found, "\n".join(found)
