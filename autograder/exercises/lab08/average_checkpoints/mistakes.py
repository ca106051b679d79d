"""Known mistakes in `average_checkpoints`: most are one small edit of a right version."""

from __future__ import annotations

import copy

import torch

from . import exercise
from .also_right import summed

EMPTY = '    if len(states) == 0:\n        raise ValueError("no checkpoints")\n'
NAMES = '        if state.keys() != names:\n            raise ValueError("other names")\n'
SHAPES = (
    "        if any(state[name].shape != states[0][name].shape for name in names):\n"
    '            raise ValueError("other shapes")\n'
)
WHOLE = (
    "        if not newest.is_floating_point():\n"
    "            averaged[name] = newest.clone()\n"
    "            continue\n"
)
WIDE = "wide = torch.float64 if newest.dtype == torch.float64 else torch.float32"
TOTAL = "states[0][name].to(wide, copy=True)"
MEAN = "averaged[name] = (total / len(states)).to(newest.dtype)"

wrong = exercise.edits(summed)

wrong(
    "sum_in_the_first",
    TOTAL,
    "states[0][name].to(wide)",
    "After your function, the first checkpoint holds sums: `+=` works in place. What does your "
    "total share with that checkpoint before you add?",
)
wrong.several(
    "halved_again_and_again",
    {
        "total += state[name].to(wide)": "total = (total + state[name].to(wide)) / 2",
        "(total / len(states))": "total",
    },
    "You take the mean of two again and again, so the last checkpoint counts one half. How much "
    "should each of three count?",
)
wrong(
    "not_divided",
    "(total / len(states))",
    "total",
    "You return the sums. What turns a sum into a mean?",
)
wrong(
    "divided_by_one_less",
    "len(states))",
    "max(1, len(states) - 1))",
    "You divide by one checkpoint less than you have added. How many are in the sum?",
)
wrong(
    "divided_by_one_more",
    "len(states))",
    "(len(states) + 1))",
    "You divide by one checkpoint more than you have added. How many are in the sum?",
)
wrong(
    "first_counted_twice",
    "for state in states[1:]:",
    "for state in states:",
    "The first checkpoint is in your sum twice. With what does the sum begin, and with what the "
    "loop?",
)
wrong(
    "last_left_out",
    "for state in states[1:]:",
    "for state in states[1:-1]:",
    "The last checkpoint is not in your sum. Where does your slice end?",
)
wrong(
    "first_left_out",
    TOTAL,
    "torch.zeros_like(states[0][name], dtype=wide)",
    "The first checkpoint is not in your sum, and yet you divide by all. Where does your slice "
    "begin?",
)
wrong(
    "always_five",
    "len(states))",
    "5)",
    "You divide by 5, however many checkpoints there are. How many were given?",
)
wrong(
    "last_five",
    "    names = states[0].keys()\n",
    "    states = states[-5:]\n    names = states[0].keys()\n",
    "Only the last five checkpoints count. Who chooses the checkpoints, the caller or your "
    "function?",
)
wrong(
    "half_sums",
    WIDE,
    "wide = newest.dtype",
    "You add in the dtype of the weights. What is the largest number that float16 can hold, and "
    "how large is the sum?",
)
wrong.several(
    "running_mean_in_half",
    {
        WIDE: "wide = newest.dtype",
        "for state in states[1:]:": "for seen, state in enumerate(states[1:], start=2):",
        "total += state[name].to(wide)": "total += (state[name].to(wide) - total) / seen",
        "(total / len(states))": "total",
    },
    "Your running mean has the dtype of the weights, so it is rounded once for each checkpoint. "
    "Which dtype does the task name?",
)
wrong.several(
    "half_divided_first",
    {
        WIDE: "wide = newest.dtype",
        TOTAL: "states[0][name].to(wide, copy=True) / len(states)",
        "state[name].to(wide)": "state[name].to(wide) / len(states)",
        "(total / len(states))": "total",
    },
    "You divide before you add, but still in the dtype of the weights: small numbers become 0, and "
    "each step rounds. Which dtype does the task name?",
)
wrong(
    "everything_in_single",
    WIDE,
    "wide = torch.float32",
    "Weights in float64 lose half of their digits on the way. Which dtypes does the task allow for "
    "the sum?",
)
wrong(
    "dtype_not_restored",
    "(total / len(states)).to(newest.dtype)",
    "total / len(states)",
    "Weights in half precision come back in the dtype of the sum. Which dtype should the mean "
    "have?",
)
wrong(
    "always_single_returned",
    "(total / len(states)).to(newest.dtype)",
    "(total / len(states)).float()",
    "All your means are float32. Which dtype should the mean have?",
)
wrong(
    "counters_averaged",
    WHOLE,
    "",
    "A counter of steps comes back as a mean. After which number of steps was the newest "
    "checkpoint written?",
)
wrong.several(
    "counters_as_floats",
    {
        WHOLE: "",
        MEAN: "averaged[name] = total / len(states)\n"
        "        if newest.is_floating_point():\n"
        "            averaged[name] = averaged[name].to(newest.dtype)",
    },
    "A counter of steps comes back as a mean, and even as a floating-point number. What does the "
    "task say about whole numbers?",
)
wrong(
    "only_single_precision",
    "if not newest.is_floating_point():",
    "if newest.dtype != torch.float32:",
    "Only weights in float32 are averaged; those of other dtypes are the last checkpoint's. Which "
    "tensors are means, according to the task?",
)
wrong(
    "counters_of_the_first",
    "averaged[name] = newest.clone()",
    "averaged[name] = states[0][name].clone()",
    "Your counters are those of the first checkpoint. Of which does the task want them?",
)
wrong(
    "largest_counter",
    "averaged[name] = newest.clone()",
    "averaged[name] = torch.stack([state[name] for state in states]).amax(0)",
    "Of whole numbers you take the largest. Which checkpoint's does the task want?",
)
wrong(
    "counters_left_out",
    "            averaged[name] = newest.clone()\n            continue\n",
    "            continue\n",
    "Whole numbers are missing in your result, so it no longer fits the model. What does the task "
    "say about them?",
)
wrong(
    "counters_shared",
    "averaged[name] = newest.clone()",
    "averaged[name] = newest",
    "Your counters are the *same* tensors as in the last checkpoint. What happens to that "
    "checkpoint when training goes on from the mean?",
)
wrong(
    "one_returned_as_it_is",
    "    names = states[0].keys()\n",
    "    if len(states) == 1:\n        return states[0]\n    names = states[0].keys()\n",
    "With a single checkpoint, your result is this checkpoint itself. What should the two share?",
)
wrong(
    "mean_of_a_whole_tensor",
    "(total / len(states)).to(newest.dtype)",
    "(total / len(states)).mean().to(newest.dtype)",
    "Each of your means is a single number. Over what is the mean taken, over the checkpoints or "
    "over the entries?",
)
wrong(
    "empty_accepted",
    EMPTY,
    "    if len(states) == 0:\n        return {}\n",
    "Without checkpoints, you return an empty dictionary, and a model cannot use it. What should "
    "happen?",
)
wrong(
    "empty_crashes",
    EMPTY,
    "",
    "Without checkpoints, your code fails by accident. Which error does the task name?",
)
ANY_TAKEN = (
    "Your code takes any checkpoints, even those of different models, or none. Which errors does "
    "the task name?"
)
wrong.several(
    "nothing_compared",
    {EMPTY: "", "    for state in states:\n" + NAMES + SHAPES: ""},
    ANY_TAKEN,
)
wrong.several(
    "nothing_compared_with_the_last",
    {
        EMPTY: "",
        "    for state in states:\n" + NAMES + SHAPES: "",
        "= states[0].k": "= states[-1].k",
        "total += s": "total = total + s",
    },
    ANY_TAKEN,
)
wrong.several(
    "assertions",
    {
        EMPTY: "    assert len(states) > 0\n",
        NAMES: "        assert state.keys() == names\n",
        SHAPES: "        assert not any(state[n].shape != states[0][n].shape for n in names)\n",
    },
    "Checkpoints that do not fit raise an `AssertionError`. Which error does the task name?",
)
wrong(
    "names_of_the_first",
    NAMES,
    '        if not names <= state.keys():\n            raise ValueError("other names")\n',
    "A name that the first checkpoint does not have is silently left out. Are the names compared "
    "in both directions?",
)
wrong(
    "common_names",
    NAMES,
    "        names = names & state.keys()\n",
    "Names that are not in all checkpoints are silently left out. What should happen instead?",
)
wrong(
    "names_not_compared",
    NAMES,
    "",
    "Checkpoints of two different models are not noticed in time. Which names must they have?",
)
wrong(
    "order_of_names_compared",
    "if state.keys() != names:",
    "if list(state) != list(names):",
    "You refuse a checkpoint only because its names come in another order. Does that matter for a "
    "state dict?",
)
STRETCHED = (
    "Tensors of different shapes are added all the same: torch stretches an axis of length 1. What "
    "should happen instead?"
)
wrong("shapes_not_compared", SHAPES, "", STRETCHED)
wrong.several(
    "shapes_not_compared_and_stretched",
    {SHAPES: "", "total += s": "total = total + s"},
    STRETCHED,
)


def added_into(averaged, states):
    """Add all later states into this one in place, each tensor in its own dtype, and divide."""
    for state in states[1:]:
        for name, x in state.items():
            if x.is_floating_point():
                averaged[name] += x
            else:
                averaged[name] = x.clone()
    for x in averaged.values():
        if x.is_floating_point():
            x /= len(states)
    return averaged


@exercise.mistake(
    "Your result holds the first checkpoint's own tensors, so adding in place changes that "
    "checkpoint. What does a copy of a dictionary copy, and what not?"
)
def shallow_copy(states):
    summed(states)
    return added_into(dict(states[0]), states)


@exercise.mistake(
    "Tied tables come out too large: in a deep copy the two names are still *one* tensor, and you "
    "add to it under each name. How many times does a checkpoint count for it?"
)
def deep_copy_of_tied_tables(states):
    means = summed(states)
    averaged = copy.deepcopy(dict(states[0]))
    for name, x in averaged.items():
        if x.is_floating_point():
            averaged[name] = x.to(torch.promote_types(x.dtype, torch.float32))
    for state in states[1:]:
        for name, x in state.items():
            if x.is_floating_point():
                averaged[name] += x
    for name, mean in means.items():
        whole = not mean.is_floating_point()
        averaged[name] = mean if whole else (averaged[name] / len(states)).to(mean.dtype)
    return averaged


@exercise.mistake(
    "Your code calls `.mean()` on whole numbers, which torch refuses. What does the task want for "
    "a counter?"
)
def mean_of_whole_numbers(states):
    summed(states)
    return {name: torch.stack([state[name] for state in states]).mean(0) for name in states[0]}


@exercise.mistake("You return the last checkpoint. What are the earlier ones for?")
def last_checkpoint(states):
    summed(states)
    return {name: x.clone() for name, x in states[-1].items()}
