"""Known mistakes in `clip_global_norm`: most are edits of a right version."""

from __future__ import annotations

from . import exercise
from .also_right import sum_of_squares
from .mistakes_in_other_styles import NONE, NOT_IN_PLACE  # that module has other known mistakes

wrong = exercise.edits(sum_of_squares)

wrong(
    "always_rescaled",
    "if norm > max_norm:",
    "if True:",
    "Your gradients get the length `max_norm` even if they are shorter, so small gradients grow. "
    "Which gradients should stay as they are?",
)
wrong(
    "condition_inverted",
    "if norm > max_norm:",
    "if norm < max_norm:",
    "You lengthen short gradients and leave long ones alone. Which of the two are a danger?",
)
wrong(
    "factor_inverted",
    "max_norm / norm)",
    "norm / max_norm)",
    "Long gradients become even longer: your factor is above 1. Which length should they have "
    "afterwards?",
)
wrong(
    "length_one",
    "max_norm / norm)",
    "1 / norm)",
    "Your gradients have the length 1 afterwards, whatever the limit is. Where should `max_norm` "
    "come in?",
)
wrong(
    "limit_as_factor",
    "max_norm / norm)",
    "max_norm)",
    "You multiply by the limit itself. Which factor takes the length that you measured to it?",
)
wrong(
    "difference_as_factor",
    "max_norm / norm)",
    "max_norm - norm)",
    "Your factor is a difference of two lengths. Which factor takes one of them to the other?",
)
wrong(
    "nothing_clipped",
    "p.grad.mul_(max_norm / norm)",
    "p.grad.mul(max_norm / norm)",
    NOT_IN_PLACE,
)
wrong(
    "new_tensors",
    "p.grad.mul_(max_norm / norm)",
    "p.grad = p.grad * (max_norm / norm)",
    "Each parameter gets a new tensor as its gradient, and code that holds the old one (another "
    "process, say) does not see the change. What changes a tensor in place?",
)
wrong(
    "weights_scaled",
    "p.grad.mul_(max_norm / norm)",
    "p.data.mul_(max_norm / norm)",
    "Your code scales the weights themselves. What has to become shorter?",
)
wrong(
    "weights_measured",
    "p.grad.pow(2)",
    "p.detach().pow(2)",
    "You measure the length of the weights. Which vector is limited?",
)
wrong(
    "no_root",
    "norm = total.sqrt()",
    "norm = total",
    "Your length is a sum of squares. What is the Euclidean norm of (3, 4)?",
)
wrong(
    "compared_without_the_root",
    "if norm > max_norm:",
    "if total > max_norm:",
    "You compare the sum of squares with the limit, so some gradients that are short enough are "
    "changed. What do you compare with a length?",
)
wrong(
    "compared_with_the_squared_limit_only",
    "if norm > max_norm:",
    "if norm > max_norm**2:",
    "You compare the length with the square of the limit. Which two numbers have the same unit?",
)
wrong(
    "sum_of_lengths",
    "    norm = total.sqrt()\n",
    "    norm = torch.tensor([p.grad.norm() for p in with_gradient]).double().sum()\n",
    "You add up the lengths of the tensors. How long is one vector that consists of a part of "
    "length 3 and a part of length 4?",
)
wrong(
    "sum_of_magnitudes",
    "    norm = total.sqrt()\n",
    "    norm = sum((p.grad.abs().sum() for p in with_gradient), torch.tensor(0.0))\n",
    "You add up the magnitudes of all numbers, which is another norm. Which norm is asked for?",
)
wrong(
    "largest_number",
    "    norm = total.sqrt()\n",
    "    norm = torch.tensor([abs(x) for p in with_gradient for x in p.grad.flatten().tolist()] "
    "or [0.0]).double().max()\n",
    "You take the largest number of all gradients, the maximum norm. Which norm is asked for?",
)
wrong(
    "largest_length",
    "    norm = total.sqrt()\n",
    "    norm = torch.tensor([p.grad.norm() for p in with_gradient] or [0.0]).double().max()\n",
    "Your length is that of the longest tensor. What do the others contribute?",
)
wrong(
    "mean_of_squares",
    "norm = total.sqrt()",
    "norm = (total / max(1, sum(p.grad.numel() for p in with_gradient))).sqrt()",
    "You divide by the number of entries, which makes a typical size of one number. Does the "
    "length of a vector depend on how many numbers it has?",
)
wrong(
    "mean_of_lengths",
    "    norm = total.sqrt()\n",
    "    norm = torch.tensor([p.grad.norm() for p in with_gradient] or [0.0]).double().mean()\n",
    "Your length is the mean of the tensors' lengths. How long is one vector that consists of all "
    "of them?",
)
wrong(
    "last_length",
    "total = total + p.grad.pow(2).sum()",
    "total = p.grad.pow(2).sum()",
    "Your length is that of the last gradient alone. What happens to the earlier ones in the loop?",
)
wrong(
    "first_length",
    "return norm",
    "return with_gradient[0].grad.norm() if with_gradient else norm",
    "You return the length of the first gradient. Which length was limited?",
)
wrong(
    "length_afterwards",
    "return norm",
    "return norm.clamp(max=max_norm)",
    "You return the length after the limit, which looks the same for every large gradient. Which "
    "length shows that a training becomes unstable?",
)
wrong(
    "factor_returned",
    "return norm",
    "return (max_norm / norm).clamp(max=1)",
    "You return the factor. What does the task ask for?",
)
wrong(
    "whether_clipped",
    "return norm",
    "return norm > max_norm",
    "You return whether something was clipped. What does the task ask for?",
)
wrong(
    "nothing_returned",
    "    return norm\n",
    "",
    "Your function returns nothing. What would a log of the training show?",
)
wrong(
    "python_number",
    "return norm",
    "return norm.item()",
    "You return a Python number. On a GPU, `.item()` waits in every step until all else is "
    "done. What does the task ask for?",
)
wrong(
    "one_dimension",
    "return norm",
    "return norm[None]",
    "The length that you return has one dimension. How many does a single number have?",
)
wrong(
    "iterator_used_twice",
    "        for p in with_gradient:\n            p.grad",
    "        for p in (p for p in parameters if p.grad is not None):\n            p.grad",
    "Your code goes through `parameters` twice. `model.parameters()` is an iterator: what does a "
    "second loop over it see?",
)
wrong(
    "none_is_an_error",
    "with_gradient = [p for p in parameters if p.grad is not None]",
    "with_gradient = list(parameters)",
    NONE,
)
wrong(
    "stops_at_none",
    "    with_gradient = [p for p in parameters if p.grad is not None]\n",
    "    with_gradient = []\n    for p in parameters:\n        if p.grad is None:\n"
    "            break\n        with_gradient.append(p)\n",
    "Your loop ends at the first parameter without a gradient. What about those after it?",
)
wrong(
    "nothing_if_one_has_none",
    "    with_gradient = [p for p in parameters if p.grad is not None]\n",
    "    with_gradient = list(parameters)\n    if any(p.grad is None for p in with_gradient):\n"
    "        return torch.tensor(0.0)\n",
    "If one parameter has no gradient, your code returns 0 and limits nothing. What about the "
    "others?",
)
wrong(
    "two_dimensions_only",
    "p.grad.pow(2).sum()",
    "p.grad.pow(2).sum(0).sum(0)",
    "Your sum is over two axes. How many axes may a gradient have?",
)
wrong(
    "one_axis_measured",
    "p.grad.pow(2).sum()",
    "p.grad.reshape(p.grad.shape[0] if p.grad.ndim else 1, -1)[:, :1].pow(2).sum()",
    "Only the first column of each gradient counts in your length. Which numbers should?",
)
wrong(
    "clipped_while_measured",
    "        total = total + p.grad.pow(2).sum()\n",
    "        total = total + p.grad.pow(2).sum()\n        if total.sqrt() > max_norm:\n"
    "            p.grad.mul_(max_norm / total.sqrt())\n",
    "You clip each gradient while the later ones are not measured yet. When do you know the "
    "common length?",
)
wrong(
    "not_finite_is_an_error",
    "    if norm > max_norm:",
    '    if not norm.isfinite():\n        raise RuntimeError("the length is not finite")\n'
    "    if norm > max_norm:",
    "Your code raises an error if a gradient is not finite. (torch does so if you ask for it.) "
    "What should the caller get, so that it can skip the update?",
)
wrong(
    "not_finite_is_zero",
    "    if norm > max_norm:",
    "    norm = torch.nan_to_num(norm, 0.0, 0.0)\n    if norm > max_norm:",
    "A length that is not finite becomes 0, so nothing shows that the gradients are unusable. What "
    "should the caller get?",
)
wrong(
    "largest_float",
    "    if norm > max_norm:",
    "    norm = torch.nan_to_num(norm)\n    if norm > max_norm:",
    "A length that is not finite becomes a number (`nan_to_num`), so nothing shows that the "
    "gradients are unusable. What should the caller get?",
)
wrong(
    "zeros_for_infinity",
    "p.grad.pow(2).sum()",
    "p.grad.masked_fill(~p.grad.isfinite(), 0).pow(2).sum()",
    "You leave out numbers that are not finite, and the rest looks harmless. What should the "
    "caller get?",
)
wrong(
    "rounded",
    "return norm",
    "return norm.round(decimals=2)",
    "The length that you return is rounded. Who should decide on the number of digits?",
)
