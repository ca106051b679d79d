"""Wrong versions of the loop that add up the wrong things, or in the wrong place."""

from . import exercise
from .also_right import two_loops

wrong = exercise.edits(two_loops)

wrong(
    "small_weights_left_out",
    "        out = out + weight * value",
    "        if weight > 1e-6:\n            out = out + weight * value",
    "Keys with a very small weight are left out of your mean. What if the values of such a key are "
    "very large?",
)

BEGIN = "out = torch.zeros_like(V[0])"
ADD = "out = out + weight * value"
LOOP = "for weight, value in zip(weights, V, strict=True):"

RETURNS_EARLY = (
    "Only the first key counts in your result, as if your function ended after the first turn of "
    "its loop. How far is your `return` indented, and which keys has the loop seen by then?"
)
wrong(
    "returned_inside_the_loop",
    ADD,
    f"{ADD}\n        return out",
    RETURNS_EARLY,
)
wrong(
    "one_score_before_the_return",
    BEGIN,
    "return V[0] * softmax(scores[:1])",
    RETURNS_EARLY,
)
for name, same, which in (
    ("first_value_each_time", "V[0]", "the first one"),
    ("last_value_each_time", "V[-1]", "the last one"),
):
    wrong(
        name,
        "weight * value",
        f"weight * {same}",
        f"Every weight is multiplied with the same value, {which}. Which value belongs to a "
        "weight, and what should change from turn to turn of your loop?",
    )
for name, same in (("first", "weights[0]"), ("last", "weights[-1]")):
    wrong(
        f"{name}_weight_each_time",
        "weight * value",
        f"{same} * value",
        "Every value is multiplied with the same weight. Which weight belongs to a value, and what "
        "should change from turn to turn of your loop?",
    )
FIRST_VALUE_CHANGED = (
    "Your sum starts from `V[0]` itself, not from a copy or zeros, so it is written into the "
    "caller's values (or, around torch's graph, its gradient is lost). From what can a sum start?"
)
wrong.several(
    "summed_in_the_first_value",
    {
        BEGIN: "out = V[0]\n    out *= weights[0]",
        LOOP: "for weight, value in zip(weights[1:], V[1:], strict=True):",
        ADD: "out += weight * value",
    },
    FIRST_VALUE_CHANGED,
)
wrong.several(
    "first_value_changed_behind_autograd",
    {
        BEGIN: "out = V[0]\n    out.data *= weights[0].detach()",
        LOOP: "for weight, value in zip(weights[1:], V[1:], strict=True):",
    },
    FIRST_VALUE_CHANGED,
)
wrong.several(
    "first_value_taken_for_the_sum",
    {
        "out = torch.zeros_like(V[0])": "out = V[0]\n    out *= weights[0]",
        "zip(weights, V, strict=True)": "zip(weights[1:], V[1:], strict=True)",
    },
    "Your sum begins as the first of the caller's values, and you write into it (`*=`, `+=`): an "
    "entry of V is no copy. What makes a new tensor?",
)
