"""Known mistakes of a training loop, whatever it trains: each is an edit of a right one.

Tested in tests/gradekit/exercise/test_training_loop.py; `lab verify` proves that each is caught.
"""

from __future__ import annotations

from collections.abc import Mapping

from gradekit.exercise.edits import Edits

CLIP = "nn.utils.clip_grad_norm_(model.parameters(), max_norm)"
COLLECT = "losses.append(loss.item())"

_ADD_UP = (
    "From the second batch on, the gradients of all batches add up: they are never reset, or only "
    "once, before the loop. Which call resets them, and how often does the loop need it?"
)

# By name: what is written in place of what, and the advice.
_MISTAKES: Mapping[str, tuple[Mapping[str, str], str]] = {
    "no_zero_grad": (
        {"        optimizer.zero_grad()\n": ""},
        _ADD_UP,
    ),
    "zero_grad_once": (
        {
            "    for batch in batches:\n        optimizer.zero_grad()": (
                "    optimizer.zero_grad()\n    for batch in batches:"
            )
        },
        _ADD_UP,
    ),
    "zero_grad_at_the_end": (
        {
            "        optimizer.zero_grad()\n": "",
            COLLECT: f"{COLLECT}\n        optimizer.zero_grad()",
        },
        "Later steps start from zero, but the first one adds to gradients that were there before "
        "your function was called. Is your zero_grad() before the first backward()?",
    ),
    "zeroed_before_step": (
        {CLIP: "optimizer.zero_grad(set_to_none=False)"},
        "The weights do not move: the optimizer finds no gradients. They are reset after "
        "backward(), computed after step(), or never computed. In which order do the calls come?",
    ),
    "no_step": (
        {"        optimizer.step()\n": ""},
        "The weights do not change: the optimizer never takes a step. What are the gradients for?",
    ),
    "clipped_after_step": (
        {f"{CLIP}\n        optimizer.step()": f"optimizer.step()\n        {CLIP}"},
        "Clipping comes after the optimizer has used the gradients, so it has no effect. Between "
        "which two calls does it belong?",
    ),
    "clipped_by_value": (
        {"clip_grad_norm_": "clip_grad_value_"},
        "You limit each entry of the gradients to max_norm, and that changes their direction. "
        "Which of torch's two clipping functions uses the *norm* of all gradients together?",
    ),
    "clipped_one_by_one": (
        {
            CLIP: "for parameter in model.parameters():\n"
            "            nn.utils.clip_grad_norm_(parameter, max_norm)"
        },
        "Each parameter's gradient is clipped by itself, so together they are longer than "
        "max_norm, and their direction changes. Whose norm should be limited?",
    ),
    "clipped_at_one": (
        {"(), max_norm)": "(), 1.0)"},
        "You always clip at 1, whatever `max_norm` says. Where is the argument used?",
    ),
    "always_scaled": (
        {
            CLIP: "norm = torch.stack([p.grad.norm() for p in model.parameters()]).norm()\n"
            "        for parameter in model.parameters():\n"
            "            parameter.grad *= max_norm / norm"
        },
        "The gradients get the length max_norm even if they were shorter. Clipping never makes a "
        "gradient longer: when is there nothing to do?",
    ),
    "always_scaled_with_an_epsilon": (
        {
            CLIP: "norm = torch.stack([p.grad.norm() for p in model.parameters()]).norm()\n"
            "        for parameter in model.parameters():\n"
            "            parameter.grad *= max_norm / (norm + 1e-6)"
        },
        "The gradients get the length max_norm even if they were shorter. Clipping never makes a "
        "gradient longer: when is there nothing to do?",
    ),
    "mode_left_as_it_was": (
        {"    model.train()\n": ""},
        "The model stays in the mode that it had before. If its accuracy was measured just before,"
        " which mode is that?",
    ),
    "loss_of_the_last_batch": (
        {"return losses": "return losses[-1:]"},
        "You return one number: the loss of the last batch. The curve of the losses needs all of "
        "them: where are they collected?",
    ),
    "mean_of_losses": (
        {"return losses": "return [sum(losses) / len(losses)]"},
        "You return one number: the mean of the losses. Which numbers does the task ask for?",
    ),
    "tensors_returned": (
        {"loss.item()": "loss"},
        "Your list holds tensors. A loss that is a tensor can keep its batch's whole graph in "
        "memory. Which method gives the plain number?",
    ),
    "yielded_one_by_one": (
        {COLLECT: "yield loss.item()", "    return losses\n": ""},
        "Your function contains a `yield`, so calling it trains nothing: it returns a generator "
        "that has not started yet. What collects the losses while the loop runs?",
    ),
    "batches_counted": (
        {"for batch in batches:": "for i in range(len(batches)):\n        batch = batches[i]"},
        "Your code asks for the number of batches, but a generator has no len() and can be read "
        "only once. Does your loop need to know how many batches there are?",
    ),
}


def loop_mistakes(wrong: Edits) -> None:
    """Add the mistakes to an exercise.

    Args:
        wrong: edits of a right version that clears the gradients, computes `loss`, goes backward,
            clips, steps and keeps the loss, in one line each, as CLIP and COLLECT are written.
    """
    for name, (changes, advice) in _MISTAKES.items():
        wrong.several(name, changes, advice)
