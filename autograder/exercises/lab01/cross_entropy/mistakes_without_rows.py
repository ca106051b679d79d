"""Wrong losses of a batch in which no row counts, each a change of ``step_by_step``."""

from __future__ import annotations

from . import exercise
from .also_right import step_by_step

wrong = exercise.edits(step_by_step)

FRESH_ZERO = (
    "If no row counts, you return a new zero, and torch's graph does not connect it with the "
    "logits. What does `backward()` do for a batch that is all padding?"
)

wrong(
    "nan_when_all_ignored",
    ".clamp(min=1)",
    "",
    "If every row is ignored, you divide 0 by 0. What should a batch that is all padding cost?",
)
wrong(
    "one_zero_when_all_ignored",
    "    column = target",
    "    if not counts.any():\n        return torch.tensor(0.0)\n    column = target",
    "If no row counts, you return a single 0, whatever `reduction` is. How many losses does "
    '"none" promise?',
)
for name, asked in (
    ("for_the_mean", ' and reduction == "mean"'),
    ("for_mean_and_sum", ' and reduction != "none"'),
):
    for dtype, zero in (("float32", "torch.tensor(0.0)"), ("the_right", "logits.new_zeros(())")):
        wrong(
            f"fresh_zero_{name}_in_{dtype}_dtype",
            "    column = target",
            f"    if not counts.any(){asked}:\n        return {zero}\n    column = target",
            FRESH_ZERO,
        )
wrong(
    "fresh_zeros_for_none_as_well",
    "    column = target",
    "    if not counts.any():\n"
    '        return logits.new_zeros(len(target) if reduction == "none" else ())\n'
    "    column = target",
    FRESH_ZERO,
)
for name, mean in (
    ("replaced", "(total / counts.sum()).nan_to_num()"),
    ("not_chosen", "torch.where(counts.any(), total / counts.sum(), 0.0)"),
):
    wrong.several(
        f"nan_{name}_in_the_loss_alone",
        {
            "torch.where(counts, losses, 0.0)": "losses * counts",
            "total / counts.sum().clamp(min=1)": mean,
        },
        "If no row counts, you compute 0/0 and put 0 in its place. The loss is then 0, but its "
        "gradients are NaN. What could your code find out before it divides?",
    )
for digits in (6, 8):
    wrong(
        f"divided_by_a_bit_more_{digits}",
        "counts.sum().clamp(min=1)",
        f"(counts.to(logits.dtype).sum() + 1e-{digits})",
        "You add a small number to how many rows count, so every mean is a little too small. Which "
        "batch needs help, and can it get it without changing the others?",
    )
