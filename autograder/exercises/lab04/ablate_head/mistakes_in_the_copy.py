"""Known mistakes in copying: the model is changed or returned, or nothing; tensors and modes."""

from __future__ import annotations

from . import exercise
from .also_right import columns_zeroed

wrong = exercise.edits(columns_zeroed)

PERMANENT = (
    "The change is permanent: you modify the model you were given, and the next head is measured "
    "on a damaged one. What should you modify instead?"
)
wrong(
    "model_changed",
    "copy.deepcopy(model)",
    "model",
    PERMANENT,
)
wrong(
    "model_changed_then_copied",
    "changed.out_proj.weight[:, start:stop] = 0",
    "model.out_proj.weight[:, start:stop] = 0\n    changed = copy.deepcopy(model)",
    PERMANENT,
)
wrong(
    "written_into_the_model",
    "changed.out_proj.weight[:, start:stop] = 0",
    "model.out_proj.weight[:, start:stop] = 0",
    "You write into the given model, not into the copy, so the copy is as the model was before. "
    "Look at the line that should remove the head: which of the two does it name?",
)
wrong(
    "model_returned",
    "return changed",
    "return model",
    "You return the model that you were given, and it still has all its heads. Which module should "
    "the caller get?",
)
MODELS_OWN_TENSORS = (
    "Your copy holds the model's own tensors, so the model changes with it. Do you copy with "
    "`copy.copy`, or does a line put a tensor of the model into the copy?"
)
wrong(
    "shallow_copy",
    "copy.deepcopy",
    "copy.copy",
    MODELS_OWN_TENSORS,
)
wrong(
    "models_own_weight_in_the_copy",
    "changed.out_proj.weight[:, start:stop] = 0",
    "weight = model.out_proj.weight.detach()\n"
    "    weight[:, start:stop] = 0\n"
    "    changed.out_proj.weight = torch.nn.Parameter(weight)",
    MODELS_OWN_TENSORS,
)
wrong(
    "layers_shared",
    "changed = copy.deepcopy(model)",
    "changed = copy.copy(model)\n"
    "    changed._modules = dict(model._modules)\n"
    "    changed.out_proj = copy.deepcopy(model.out_proj)",
    "The copy has its own last layer, but shares the other layers with the model. What happens to "
    "the model when the copy is trained?",
)
wrong(
    "nothing_returned",
    "return changed",
    "return None",
    "In at least one call, your function returns None. Which line hands the copy to the caller: is "
    "a `return` missing, or in a branch that is not always reached?",
)
MODEL_IN_ANOTHER_MODE = (
    "The model that you were given is in another mode afterwards: a line calls `eval()` or "
    "`train()` on it. Which of the two modules may your function change?"
)
for name, line in (
    ("model_in_evaluation_mode", "model.eval()"),
    ("model_in_training_mode", "model.train()"),
):
    for when, old, new in (
        ("before", "changed = copy", f"{line}\n    changed = copy"),
        ("afterwards", "return changed", f"{line}\n    return changed"),
    ):
        wrong(f"{name}_{when}", old, new, MODEL_IN_ANOTHER_MODE)
wrong(
    "frozen_and_in_evaluation_mode",
    "return changed",
    "return changed.eval().requires_grad_(False)",
    "Your copy is always in evaluation mode, and all its parameters are frozen. What does the task "
    "say about its mode, and what should a caller be able to do with it?",
)
