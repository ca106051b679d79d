"""Tests of attention that ask too little, or more than the task: one right test, weakened."""

from itertools import product

from . import exercise
from .also_right import ordinary_first

wrong = exercise.edits(ordinary_first)

# The parts of the right test that are weakened.
LEADS, MASKS = "[(), (2,), (2, 3)]", "[None, *holes()]"
OF_WEIGHTS, OF_OUTPUTS = "near(weights, right)", "near(out, right @ v)"
GRADIENTS, MORE = "finite_gradients(impl, q, k, v, mask)", "enormous(impl)\n    by_loops(impl)"
FORMULA = "formula(q, k, mask)"
CALL, RIGHT = "out, weights = impl(q, k, v, mask)", "right = formula(q, k, mask)"
OWN = "right_outputs, right = own_attention(q, k, v, mask)"
AFTER, BEFORE = f"{CALL}\n            {RIGHT}", f"{RIGHT}\n            {CALL}"

NO_MASK = (
    "Your test never passes a mask, so every mistake with masks gets through. What does the task "
    "promise for a forbidden key, and for a query without allowed keys?"
)
OUTPUTS = (
    "Your test accepts a version that returns scores in place of weights: nothing that it asserts "
    "is about the numbers of the second result. Which promises does the task make about it?"
)
WEIGHTS = (
    "Your test accepts a version whose outputs are wrong although its weights are right: nothing "
    "that it asserts is about the numbers of the first result. What are they, by the formula?"
)
SQUARE = (
    "Your test uses as many queries as keys and as many numbers in a value as in a key. Then a "
    "version that confuses two lengths looks right. Which shapes distinguish them?"
)
LOOSE = (
    "Your test accepts weights that sum to a little less than one. How large a difference does "
    "your comparison allow? (`allclose` also allows a share of each number, its `rtol`.)"
)
AXES = (
    "Much of what gets through your test is wrong only for another number of axes (one sentence, a "
    "batch, heads), with enormous numbers, without allowed keys or in its gradients. How many axes "
    "do your inputs have?"
)
ORDINARY = (
    "Much of what gets through your test is wrong only with enormous numbers, without allowed keys "
    "or in its gradients. Which inputs of your test have them?"
)
NO_GRADIENTS = (
    "Much of what gets through your test is wrong only with enormous numbers or in its gradients. "
    "Which of your calls goes back through the graph, and which scores are in the millions?"
)
INPUTS = (
    "Your test accepts a version that writes into what it is given: the right numbers are computed "
    "before the call. What do you know about the inputs after it?"
)
SMALL_NUMBERS = (
    "Much of what gets through your test is wrong only with enormous numbers. In which of your "
    "inputs is a score in the millions, above or below zero, allowed or forbidden?"
)
SUM_OF_ONE = (
    "Where a query may attend to no key, your test asks for equal weights or for a sum of one, and "
    "so rejects right versions. What does the task promise for such a query?"
)
NAN = (
    "Your test accepts a version that returns NaN. Whether NaN is above a limit, or below it, the "
    "answer is always False. What does your test do with such a result?"
)
LAST_DIGITS = (
    "Your test rejects right versions whose numbers differ from its own in the last digits. Two "
    "ways to multiply the same numbers are not equal bit by bit: in which dtype do you compare, "
    "and how large a difference do you allow?"
)

SIGN = (
    "Your test accepts numbers that are too small, or too large. A difference that is far below 0 "
    "is smaller than every limit: what do you compare with the limit?"
)

ranks = {"": LEADS, "_of_one_sentence": "[()]", "_of_a_batch": "[(2,)]"}
masks = {"no_mask": "[None]", "some_masks": "[None, *some()]", "holes": MASKS}
seen = {
    "": {},
    "_outputs_alone": {OF_WEIGHTS: "pass"},
    "_weights_alone": {OF_OUTPUTS: "pass"},
}


def weakened(name, advice, *changes):
    """A known mistake that lacks all that is enormous, and has these changes, too."""
    edits = {MORE: "return"}
    for change in changes:
        edits |= change
    wrong.several(name, edits, advice)


def compared_by(call, parts):
    """The edits that compare with another function."""
    calls = {OF_WEIGHTS: f"{call}(weights, right)", OF_OUTPUTS: f"{call}(out, right @ v)"}
    return calls | parts


def gap(mask, part, call, rank):
    """The advice on what matters most of all that a test leaves out."""
    if mask == "no_mask":
        return NO_MASK
    if part:
        return OUTPUTS if part == "_outputs_alone" else WEIGHTS
    if call == "loosely":
        return LOOSE
    if rank:
        return AXES
    return ORDINARY if mask == "some_masks" else NO_GRADIENTS


for rank, mask, part, call in product(ranks, masks, seen, ("near", "loosely")):
    if part == "_weights_alone" and call == "loosely":
        continue
    weakened(
        f"{mask}{rank}{part}_{call}",
        gap(mask, part, call, rank),
        {LEADS: ranks[rank], MASKS: masks[mask], GRADIENTS: "pass"},
        compared_by(call, seen[part]),
    )
for rank, mask, call in product(ranks, masks, ("near", "loosely")):
    advice = gap(mask, "", call, rank)
    weakened(
        f"{mask}{rank}_computed_before_{call}",
        INPUTS if advice in (ORDINARY, NO_GRADIENTS) else advice,
        {LEADS: ranks[rank], MASKS: masks[mask], GRADIENTS: "pass", AFTER: BEFORE},
        compared_by(call, {}),
    )
for mask in masks:
    weakened(
        f"{mask}_equal_to_own",
        LAST_DIGITS,
        {MASKS: masks[mask], GRADIENTS: "pass", RIGHT: OWN},
        {OF_WEIGHTS: "bit_by_bit(weights, right)", OF_OUTPUTS: "bit_by_bit(out, right_outputs)"},
    )
for mask, order in product(masks, (AFTER, BEFORE)):
    weakened(
        f"{mask}_equal_computed_{'after' if order == AFTER else 'before'}",
        LAST_DIGITS,
        {MASKS: masks[mask], GRADIENTS: "pass", AFTER: order},
        compared_by("bit_by_bit", {}),
    )
for rank, call in product(ranks, ("near", "loosely")):
    weakened(
        f"squares{rank}_{call}",
        SQUARE,
        {LEADS: ranks[rank], MASKS: "[None, torch.ones(4, 4).bool().tril()]", GRADIENTS: "pass"},
        {"drawn(lead)": "drawn(lead, ((4, 4),) * 3)"},
        compared_by(call, {}),
    )
for name, mask, sizes, advice in (
    (
        "equal_lengths",
        "[None, torch.ones(5, 5).bool().tril()]",
        "((5, 4), (5, 4), (5, 7))",
        "Your test uses as many queries as keys. Then a version that confuses these two lengths "
        "looks right. Which shapes distinguish them?",
    ),
    (
        "equal_widths",
        MASKS,
        "((3, 4), (5, 4), (5, 4))",
        "In your test, a value has as many numbers as a key. Then a version that confuses these "
        "two lengths looks right. Which shapes distinguish them?",
    ),
):
    weakened(
        name,
        advice,
        {MASKS: mask, GRADIENTS: "pass"},
        {"drawn(lead)": f"drawn(lead, {sizes})"},
    )
for signed, mask in product(("below", "above"), ("some_masks", "holes")):
    weakened(
        f"{mask}_{signed}",
        SIGN,
        {MASKS: masks[mask], GRADIENTS: "pass"},
        compared_by(signed, {}),
    )
    parts = {"outputs": OF_OUTPUTS, "weights": OF_WEIGHTS} if mask == "holes" else {}
    for part, line in parts.items():
        weakened(
            f"{mask}_{part}_{signed}",
            SIGN,
            {GRADIENTS: "pass", line: line.replace("near", signed)},
        )
    for part in ("_outputs_alone", "_weights_alone"):
        weakened(
            f"{mask}{part}_{signed}",
            SIGN,
            {MASKS: masks[mask], GRADIENTS: "pass"},
            compared_by(signed, seen[part]),
        )
for part in ("", "_weights_alone"):
    weakened(
        f"equal_shares_asked_for{part}",
        SUM_OF_ONE,
        {FORMULA: "formula(q, k, mask, -1e9)", GRADIENTS: "pass"},
        seen[part],
    )
for rank, call in product(ranks, ("near", "loosely")):
    weakened(
        f"holes{rank}_{call}_and_gradients",
        LOOSE if call == "loosely" else AXES if rank else SMALL_NUMBERS,
        {LEADS: ranks[rank]},
        compared_by(call, {}),
    )
weakened(
    "sums_of_all_rows",
    SUM_OF_ONE,
    {OF_WEIGHTS: "assert (weights.sum(-1) - 1).abs().max() < 1e-6", OF_OUTPUTS: "pass"},
    {GRADIENTS: "pass"},
)
for rank, part in product(ranks, ("_outputs_alone", "_weights_alone")):
    weakened(
        f"holes{rank}{part}_and_gradients",
        OUTPUTS if part == "_outputs_alone" else WEIGHTS,
        {LEADS: ranks[rank]},
        seen[part],
    )
for part, looked_at in (("_outputs_alone", "(0,)"), ("_weights_alone", "(1,)")):
    for gradients in ("", "_and_gradients"):
        weakened(
            f"enormous{part}{gradients}",
            OUTPUTS if part == "_outputs_alone" else WEIGHTS,
            {MORE: f"enormous(impl, {looked_at})"} | seen[part],
            {} if gradients else {GRADIENTS: "pass"},
        )
for rank, call in product(ranks, ("near", "loosely")):
    weakened(
        f"some_masks{rank}_{call}_and_gradients",
        gap("some_masks", "", call, rank),
        {LEADS: ranks[rank], MASKS: masks["some_masks"]},
        compared_by(call, {}),
    )
for mask, rank, order in product(("some_masks", "holes"), ranks, (AFTER, BEFORE)):
    weakened(
        f"nan_not_noticed_{mask}{rank}_computed_{'after' if order == AFTER else 'before'}",
        NAN,
        {LEADS: ranks[rank], MASKS: masks[mask], GRADIENTS: "pass", AFTER: order},
        compared_by("not_far", {}),
    )
for part in ("_outputs_alone", "_weights_alone"):
    weakened(
        f"nan_not_noticed{part}",
        NAN,
        compared_by("not_far", seen[part]),
        {GRADIENTS: "pass"},
    )
for line in (OF_WEIGHTS, OF_OUTPUTS):
    weakened(
        f"nan_not_noticed_in_{'weights' if line == OF_WEIGHTS else 'outputs'}",
        NAN,
        {line: line.replace("near", "not_far"), GRADIENTS: "pass"},
    )
weakened(
    "nan_not_noticed_among_enormous_numbers",
    NAN,
    {MORE: "enormous(impl, compare_by=not_far)", GRADIENTS: "pass"},
    compared_by("not_far", {}),
)
