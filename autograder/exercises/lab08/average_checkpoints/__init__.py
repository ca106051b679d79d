"""average_checkpoints: the mean of the weights of several checkpoints, name by name."""

from __future__ import annotations

import torch

from attnlab.checking.judges import Close
from attnlab.checking.observation import dtype_of
from attnlab.checkpoints import average_checkpoints
from gradekit.exercise import Exercise

exercise = Exercise(
    average_checkpoints,
    equivalent={
        "average_checkpoints: `if not states:` → `if False:`": (
            "unpacking no states is a ValueError, too, with a message that helps less"
        ),
    },
)


def states_of(draw, count, dtype=torch.float32):
    """State dicts of a small model with a table, a normalisation and its counter."""
    return [
        {
            "table.weight": draw.normal(5, 4, dtype=dtype),
            "norm.weight": draw.normal(4, dtype=dtype),
            "norm.running_var": draw.uniform(4, dtype=dtype),
            "norm.num_batches_tracked": torch.tensor(100 * (number + 1)),
        }
        for number in range(count)
    ]


def by_name(state):
    """The same in the order of names: the task promises none."""
    return {name: state[name] for name in sorted(state)}


def kept_checkpoints(lab, states, places):
    """Which checkpoints are as they were, after the call and after the result has changed."""
    before = [{name: x.clone() for name, x in state.items()} for state in states]
    averaged = by_name(lab.average_checkpoints(states))

    def kept():
        return {
            f"the {place} one": list(state) == list(then)
            and all(torch.equal(state[name], then[name]) for name in then)
            for place, state, then in zip(places, states, before, strict=True)
        }

    afterwards = kept()
    for tensor in averaged.values():
        tensor.add_(1)
    return {"after the call": afterwards, "after training on from the mean": kept()}


@exercise.check(points=2)
def nothing_changed(lab, draw):
    """The given checkpoints are as they were, also when the mean is trained further."""
    return {
        "of three": kept_checkpoints(lab, states_of(draw, 3), ("first", "second", "last")),
        "of one": kept_checkpoints(lab, states_of(draw, 1), ("only",)),
    }


@exercise.check(points=1.5)
def mean_of_three(lab, draw):
    """Each of the three counts one third: 1, 2 and 6 have the mean 3."""
    states = [{"w": torch.full((2, 3), value), "b": torch.tensor([value, 0.0])} for value in
              (1.0, 2.0, 6.0)]  # fmt: skip
    return by_name(lab.average_checkpoints(states))


@exercise.check(points=0.5)
def names_and_dtypes(lab, draw):
    """The result has all names, each with its shape and dtype."""
    averaged = by_name(lab.average_checkpoints(states_of(draw, 2)))
    shapes = {f"shape of {name}": list(x.shape) for name, x in averaged.items()}
    return {**shapes, **{name: dtype_of(x) for name, x in averaged.items()}}


@exercise.check(points=1, hidden=True)
def other_numbers(lab, draw):
    """Is right for one, two, five and forty checkpoints, in lists and tuples, of any shapes."""
    seen = {}
    for count in (1, 2, 5, 40):
        seen[f"{count}"] = by_name(lab.average_checkpoints(states_of(draw, count)))
    seen["a tuple"] = by_name(lab.average_checkpoints(tuple(states_of(draw, 3))))
    shapes = {"0-d": (), "one": (1,), "empty": (0, 3), "row": (1, 4), "column": (4, 1)}
    single = torch.float32
    states = [
        {name: draw.normal(*shape, dtype=single) for name, shape in shapes.items()}
        for _ in range(3)
    ]
    seen["shapes"] = by_name(lab.average_checkpoints(states))
    spread = [{"x": draw.strided(draw.normal(3, 4, dtype=single))} for _ in range(3)]
    seen["not contiguous"] = by_name(lab.average_checkpoints(spread))
    return seen


@exercise.check(points=0.75, hidden=True)
def last_counter(lab, draw):
    """Whole numbers and booleans are those of the last checkpoint."""
    huge = 2**53
    states = [
        {
            "steps": torch.tensor(steps),
            "ids": torch.tensor([number, 7, -number]),
            "small": torch.tensor([number, 9], dtype=torch.uint8),
            "huge": torch.tensor(huge + number),
            "frozen": torch.tensor([number == 1, number == 2, True]),
        }
        for number, steps in enumerate((100, 300, 250))
    ]
    averaged = by_name(lab.average_checkpoints(states))
    dtypes = {f"dtype of {name}": dtype_of(x) for name, x in averaged.items()}
    own = [averaged[name].data_ptr() != states[-1][name].data_ptr() for name in averaged]
    beyond = int(averaged["huge"]) - huge  # float64 cannot hold the last digit
    return {**averaged, **dtypes, "huge": beyond, "memory of its own": own}


@exercise.check(points=1, hidden=True)
def half_precision(lab, draw):
    """In half precision, neither sums nor means lose anything on the way."""
    seen = {}
    for dtype in (torch.float16, torch.bfloat16):
        name = str(dtype).removeprefix("torch.")
        numbers = (59904.0, 59904.0, 60672.0)  # they and their mean have few binary digits
        large = [{"x": torch.tensor([number, -number], dtype=dtype)} for number in numbers]
        found = lab.average_checkpoints(large)["x"]
        seen[f"{name}: three numbers of about 60,000"] = found.double()
        seen[f"{name}: dtype"] = dtype_of(found)
    tiny = [{"x": torch.full((2,), 2.0**-24, dtype=torch.float16)} for _ in range(3)]
    seen["times 2^-24"] = lab.average_checkpoints(tiny)["x"].double() * 2**24
    # In bfloat16, 256 + 1 is 256, so a sum there stops growing.
    many = [{"x": torch.ones(2, dtype=torch.bfloat16)} for _ in range(600)]
    seen["bfloat16: 1, 600 times"] = lab.average_checkpoints(many)["x"]
    for dtype in (torch.float16, torch.bfloat16):  # a running mean there is rounded 255 times
        falling = [{"x": torch.tensor([256.0 * (n == 0)], dtype=dtype)} for n in range(256)]
        name = str(dtype).removeprefix("torch.")
        seen[f"{name}: 256, then 0, 255 times"] = lab.average_checkpoints(falling)["x"].double()
    return seen


@exercise.check(points=0.25, hidden=True, judge=Close(atol=1e-14, rtol=1e-14))
def double_precision(lab, draw):
    """Numbers in float64 keep their digits."""
    averaged = by_name(lab.average_checkpoints(states_of(draw, 3, torch.float64)))
    floats = {name: x for name, x in averaged.items() if x.is_floating_point()}
    return {**floats, **{f"dtype of {name}": dtype_of(x) for name, x in floats.items()}}


@exercise.check(points=0.5, hidden=True)
def tied_tables(lab, draw):
    """A tensor that has two names, as tied tables do, has its mean under both."""
    states = []
    for _ in range(3):
        table = draw.normal(4, 3, dtype=torch.float32)
        states.append({"embedding.weight": table, "head.weight": table})
    return by_name(lab.average_checkpoints(states))


@exercise.check(points=0.5, hidden=True)
def states_that_differ(lab, draw):
    """ValueError: no checkpoints, other names, or other shapes."""
    ask = lab.average_checkpoints
    one, more = {"x": torch.ones(3)}, {"x": torch.ones(3), "y": torch.ones(1)}
    return {
        "no checkpoints": draw.raises(lambda: ask([])),
        "a name too many": draw.raises(lambda: ask([one, more])),
        "a name is missing": draw.raises(lambda: ask([more, one])),
        "in the middle": draw.raises(lambda: ask([one, {"y": torch.ones(3)}, one])),
        "another shape": draw.raises(lambda: ask([one, {"x": torch.ones(1)}])),
        "another shape first": draw.raises(lambda: ask([{"x": torch.ones(1)}, one])),
        "no tensors": draw.raises(lambda: ask([one, {}])),
        "another order of names": draw.raises(
            lambda: ask([more, {name: more[name] for name in ("y", "x")}])
        ),
    }


exercise.promises(
    {
        "The mean of the weights of several checkpoints, name by name.": (
            "mean_of_three names_and_dtypes"
        ),
        "in a list or a tuple.": "other_numbers",
        "They stay unchanged.": "nothing_changed",
        "A new state dict that shares no memory with any of them.": "nothing_changed last_counter",
        "Floating-point tensors are means, in their own dtype, but added and divided in float32 or "
        "a wider type: two numbers of 60,000 in float16 have a mean, although not a sum.": (
            "half_precision double_precision names_and_dtypes"
        ),
        "A tensor that has two names, as tied tables do, has its mean under both.": "tied_tables",
        "Whole numbers and booleans, such as a counter of steps, are those of the last state.": (
            "last_counter"
        ),
        "ValueError: there are no states, or their names or shapes differ.": "states_that_differ",
    },
    explained=["state dicts of one model at several times, the oldest first"],
)
