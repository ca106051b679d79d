"""Known mistakes in `accumulate`: most are edits of a right version."""

from __future__ import annotations

import torch

from attnlab.train_step import Sums

from . import exercise
from .also_right import as_in_nanogpt, by_autograd_grad, divided_at_the_end

NONE = (
    "Your code fails if a parameter has no gradient. What is `grad` if the loss does not depend on "
    "a parameter?"
)
COUNTED_FIRST = (
    "The loss of each micro-batch is computed twice: once to count tokens, and once for the "
    "gradients. That doubles the work. When do you need the total?"
)

wrong = exercise.edits(divided_at_the_end)

DIVIDED = "        if p.grad is not None:\n            p.grad.div_(max(int(total_count), 1))\n"

wrong.several(
    "mean_of_means",
    {
        "    for micro_batch in micro_batches:\n": (
            "    micro_batches = list(micro_batches)\n    for micro_batch in micro_batches:\n"
        ),
        "part.backward()": "(part / max(int(count), 1) / len(micro_batches)).backward()",
        f"    for p in model.parameters():\n{DIVIDED}": "",
    },
    "You take the mean of the micro-batches' means, so a token counts more if its micro-batch is "
    "small. How much should each token count?",
)
wrong.several(
    "sum_of_means",
    {
        "part.backward()": "(part / max(int(count), 1)).backward()",
        f"    for p in model.parameters():\n{DIVIDED}": "",
    },
    "You add up the means of the micro-batches, so the gradients grow with their number. Which "
    "number of tokens belongs under all losses together?",
)
wrong(
    "not_divided",
    DIVIDED,
    "        pass\n",
    "Your gradients are those of the sum. Which loss should they belong to?",
)
wrong.several(
    "divided_by_the_number_of_micro_batches",
    {
        "        total_count = total_count + count\n": (
            "        total_count = total_count + count\n        steps = steps + 1\n"
        ),
        "total_loss, total_count = 0.0, 0": "total_loss, total_count, steps = 0.0, 0, 0",
        "max(int(total_count), 1)": "steps",
    },
    "You divide by the number of micro-batches. `loss` returns sums over tokens: what makes a mean "
    "of them?",
)
wrong.several(
    "divided_in_the_loop",
    {
        f"    for p in model.parameters():\n{DIVIDED}": "",
        "        total_count = total_count + count\n": (
            "        total_count = total_count + count\n"
            "        for p in model.parameters():\n"
            "            if p.grad is not None:\n"
            "                p.grad.div_(max(int(total_count), 1))\n"
        ),
    },
    "You divide the gradients after every micro-batch, so those of the first are divided again and "
    "again. When is the number of all tokens known?",
)
wrong(
    "divided_by_the_last_count",
    "max(int(total_count), 1)",
    "max(int(count), 1)",
    "You divide by the tokens of the last micro-batch. Over which tokens is the mean?",
)
wrong(
    "divided_by_the_largest_count",
    "total_count = total_count + count\n",
    "total_count = max(total_count, count)\n",
    "Your count is that of the largest micro-batch. Over which tokens is the mean?",
)
wrong(
    "one_token_too_many",
    "max(int(total_count), 1)",
    "(int(total_count) + 1)",
    "You divide by one token more than there are. What is the division needed for if there is no "
    "token at all?",
)
wrong(
    "divided_twice",
    "part.backward()",
    "(part / max(int(count), 1)).backward()",
    "Each loss is divided by its own tokens, and then the gradients are divided again. How often "
    "should a sum be divided?",
)
wrong(
    "gradients_dropped_each_time",
    "        part.backward()\n",
    "        model.zero_grad()\n        part.backward()\n",
    "`zero_grad` in the loop drops the gradients of the micro-batches before, so only the last "
    "one counts. How often should gradients be dropped?",
)
wrong(
    "earlier_gradients_kept",
    "    model.zero_grad()\n",
    "",
    "Gradients from before the call are still in the sum. What does `backward` do with a gradient "
    "that is there already?",
)
wrong.several(
    "dropped_at_the_end",
    {
        "    model.zero_grad()\n": "",
        "    return Sums": "    model.zero_grad()\n    return Sums",
    },
    "You drop the gradients at the end, so no update can use them. When are they not needed?",
)
wrong(
    "only_the_last_micro_batch",
    "        part.backward()\n        total_loss = total_loss + part.detach()\n"
    "        total_count = total_count + count\n",
    "        total_loss = total_loss + part.detach()\n"
    "        total_count = total_count + count\n    part.backward()\n",
    "`backward` is called after the loop, for the last micro-batch alone. What about the others?",
)
wrong(
    "only_the_first_micro_batch",
    "        total_count = total_count + count\n",
    "        total_count = total_count + count\n        break\n",
    "Your loop ends after the first micro-batch. Which tokens are left out?",
)
wrong.several(
    "one_backward_at_the_end",
    {
        "        part.backward()\n        total_loss = total_loss + part.detach()\n": (
            "        total_loss = total_loss + part\n"
        ),
        "    for p in model.parameters():\n": (
            "    total_loss.backward()\n    for p in model.parameters():\n"
        ),
        "Sums(total_loss, total_count)": "Sums(total_loss.detach(), total_count)",
    },
    "You add up all losses and call `backward` once. The gradients are right, but until then every "
    "micro-batch takes memory, as the large batch would. When can that memory be released?",
)
wrong.several(
    "backward_of_the_running_sum",
    {
        "        part.backward()\n        total_loss = total_loss + part.detach()\n": (
            "        total_loss = total_loss + part\n"
            "        total_loss.backward(retain_graph=True)\n"
        ),
        "Sums(total_loss, total_count)": "Sums(total_loss.detach(), total_count)",
    },
    "You call `backward` on the sum so far, so the first micro-batch counts again with each later "
    "one. Which loss is new in each turn?",
)
wrong(
    "none_is_an_error",
    DIVIDED,
    "        p.grad.div_(max(int(total_count), 1))\n",
    NONE,
)
wrong(
    "none_cannot_be_divided",
    DIVIDED,
    "        p.grad /= max(int(total_count), 1)\n",
    NONE,
)
wrong(
    "none_cannot_be_divided_by_a_tensor",
    DIVIDED,
    "        p.grad /= total_count\n",
    NONE,
)
wrong(
    "zero_tokens_give_nan",
    "p.grad.div_(max(int(total_count), 1))",
    "p.grad.div_(total_count)",
    "If there are no tokens at all, you divide by 0, and the next update makes all weights NaN. "
    "What should the gradients be?",
)
wrong(
    "micro_batches_without_tokens_end_the_loop",
    "        part.backward()\n",
    "        if count == 0:\n            break\n        part.backward()\n",
    "Your loop ends at the first micro-batch without tokens. What about those after it?",
)
wrong(
    "loss_not_added_up",
    "total_loss = total_loss + part.detach()",
    "total_loss = part.detach()",
    "You return the loss of the last micro-batch alone. Which sum does the task ask for?",
)
wrong(
    "count_not_added_up",
    "return Sums(total_loss, total_count)",
    "return Sums(total_loss, count)",
    "You return the count of the last micro-batch alone. Which sum does the task ask for?",
)
wrong(
    "mean_returned",
    "return Sums(total_loss, total_count)",
    "return Sums(total_loss / max(int(total_count), 1), total_count)",
    "You return a mean loss. Two batches of different size cannot be added up then. What does "
    "`Sums` hold?",
)
wrong.several(
    "mean_of_the_sums_returned",
    {
        "total_loss, total_count = 0.0, 0": "total_loss, total_count, steps = 0.0, 0, 0",
        "        part.backward()\n": "        steps += 1\n        part.backward()\n",
        "Sums(total_loss, total_count)": "Sums(total_loss / steps, total_count)",
    },
    "You divide the sum of the losses by the number of micro-batches. What does `Sums` hold?",
)
wrong.several(
    "one_entry_for_each_micro_batch",
    {
        "total_loss, total_count = 0.0, 0": "parts, total_count = [], 0",
        "total_loss = total_loss + part.detach()": "parts.append((part.detach(), count))",
        "Sums(total_loss, total_count)": (
            "Sums(*(torch.stack(column) for column in zip(*parts, strict=True)))"
        ),
    },
    "You return one entry for each micro-batch. How many dimensions should loss and count have?",
)
wrong(
    "multiplied_by_the_count",
    "part.backward()",
    "(part * count).backward()",
    "You multiply each loss by its number of tokens. What does `loss` return, a sum or a mean?",
)
wrong(
    "ends_at_a_micro_batch_without_tokens",
    "        part.backward()\n",
    "        if count == 0:\n            return Sums(total_loss, total_count)\n"
    "        part.backward()\n",
    "Your function returns at the first micro-batch without tokens. What about those after it?",
)
wrong(
    "graph_kept",
    "total_loss + part.detach()",
    "total_loss + part",
    "The sum that you return still has a graph, so the memory of all micro-batches is kept as long "
    "as anyone holds it. What cuts a tensor from its graph?",
)
wrong(
    "python_numbers",
    "return Sums(total_loss, total_count)",
    "return Sums(float(total_loss), int(total_count))",
    "You return Python numbers. On a GPU, making one waits until all computations are done. What "
    "does the task ask for?",
)
wrong(
    "loss_alone",
    "return Sums(total_loss, total_count)",
    "return total_loss",
    "You return the loss alone. Without which other number can it not be compared with another "
    "batch's?",
)
wrong(
    "plain_tuple",
    "return Sums(total_loss, total_count)",
    "return total_loss, total_count",
    "You return a plain tuple, whose entries have no names. What makes `Sums` of two tensors?",
)
wrong(
    "exchanged",
    "return Sums(total_loss, total_count)",
    "return Sums(total_count, total_loss)",
    "Loss and count are exchanged. In which order does `Sums` name them?",
)
wrong(
    "micro_batches_counted",
    "total_count = total_count + count\n",
    "total_count = total_count + torch.tensor(1)\n",
    "You count micro-batches. What does `count` hold for each of them?",
)
wrong(
    "nothing_returned",
    "    return Sums(total_loss, total_count)\n",
    "",
    "Your function returns nothing. How would a training know its loss?",
)
wrong(
    "weights_updated",
    "            p.grad.div_(max(int(total_count), 1))\n",
    "            p.grad.div_(max(int(total_count), 1))\n            p.data.sub_(0.1 * p.grad)\n",
    "Your code changes the weights. Who makes the update, according to the task?",
)
wrong(
    "gradients_limited",
    "            p.grad.div_(max(int(total_count), 1))\n",
    "            p.grad.div_(max(int(total_count), 1))\n"
    "    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)\n",
    "Your code limits the gradients as well, which is another step's work (8.6). What should they "
    "be after this one?",
)

nano = exercise.edits(as_in_nanogpt)

nano(
    "length_of_an_iterator",
    "    micro_batches = list(micro_batches)\n    lossf, tokens = 0, 0\n"
    "    for micro_step in range(len(micro_batches)):\n"
    "        out = loss(model, micro_batches[micro_step])\n",
    "    lossf, tokens, steps = 0, 0, len(micro_batches)\n"
    "    for batch in micro_batches:\n"
    "        out = loss(model, batch)\n",
    "You ask for `len(micro_batches)`, and an iterator has no length. What do you need to know "
    "before the loop?",
)
nano(
    "iterator_used_twice",
    "    micro_batches = list(micro_batches)\n    lossf, tokens = 0, 0\n",
    "    steps = sum(1 for _ in micro_batches)\n    micro_batches = list(micro_batches)[:steps]\n"
    "    lossf, tokens = torch.tensor(0.0), torch.tensor(0)\n",
    "You go through `micro_batches` twice, and an iterator is empty after the first time. What do "
    "you need to know before the loop?",
)
nano(
    "losses_divided_before_they_are_returned",
    "lossf += out.loss.detach()",
    "lossf += out.loss.detach() / out.count.clamp(min=1)",
    "You return a sum of means. What does `Sums` hold?",
)
nano(
    "epsilon_added",
    "scale = 1.0 / tokens if tokens > 0 else 0.0",
    "scale = 1.0 / (tokens + 1e-3)",
    "You add a small number to the count, so every gradient is slightly too small. When is there "
    "anything to protect from?",
)

graded = exercise.edits(by_autograd_grad)

graded(
    "unused_is_an_error",
    "allow_unused=True",
    "allow_unused=False",
    "Your code fails if the loss does not depend on a parameter. What does torch let you say about "
    "such parameters?",
)


@exercise.mistake(COUNTED_FIRST)
def counted_first_from_an_iterator(model, loss, micro_batches):
    model.zero_grad()
    total = sum(loss(model, batch).count for batch in micro_batches)
    losses = torch.tensor(0.0, dtype=torch.float64)
    for batch in micro_batches:
        part = loss(model, batch).loss
        (part / total.clamp(min=1)).backward()
        losses = losses + part.detach()
    return Sums(losses, total)


@exercise.mistake(COUNTED_FIRST)
def counted_first(model, loss, micro_batches):
    micro_batches = list(micro_batches)
    with torch.no_grad():
        total = sum(loss(model, batch).count for batch in micro_batches)
    model.zero_grad()
    losses = []
    for batch in micro_batches:
        part = loss(model, batch).loss
        (part / total.clamp(min=1)).backward()
        losses.append(part.detach())
    return Sums(torch.stack(losses).sum(), total)


@exercise.mistake(
    "You take the mean of the micro-batches' means, and call `backward` once, so all of them take "
    "memory until then. How much should each token count?"
)
def mean_of_the_losses(model, loss, micro_batches):
    model.zero_grad()
    sums = [loss(model, batch) for batch in micro_batches]
    means = [found.loss / found.count.clamp(min=1) for found in sums]
    torch.stack(means).mean().backward()
    return Sums(
        torch.stack([found.loss.detach() for found in sums]).sum(),
        torch.stack([found.count for found in sums]).sum(),
    )
