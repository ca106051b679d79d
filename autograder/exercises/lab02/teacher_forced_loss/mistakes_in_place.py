"""Wrong teacher-forced losses that write into the batch that they were given."""

from __future__ import annotations

from . import exercise
from .also_right import step_by_step

wrong = exercise.edits(step_by_step)

WRITTEN_INTO = (
    "You write another number at the padding of `batch.target` (-100, for example): a part of a "
    "tensor is no copy, so the batch itself has changed, and the next step or call is fed that "
    "number. What makes a new tensor?"
)
LABELS = "inputs, labels = batch.target[:, :-1], batch.target[:, 1:]\n"
OVERWRITE = "    labels[labels == PAD] = -100\n"
STACKED = "    logits = torch.stack(steps, 1)"
IGNORED = {"ignore_index=PAD": "ignore_index=-100"}
for name, changes in (
    ("before_the_steps", {LABELS: LABELS + OVERWRITE}),
    ("after_the_steps", {STACKED: OVERWRITE + STACKED}),
):
    wrong.several(f"padding_overwritten_{name}", changes | IGNORED, WRITTEN_INTO)
