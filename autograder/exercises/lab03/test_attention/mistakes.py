"""Wrong tests of attention that students write; those that ask too little are in another file."""

from __future__ import annotations

import math

import torch

from gradekit.exercise import FAILURES_CAUGHT, RESULTS_UNREAD, TUPLES_ASSERTED

from . import missing_promises  # noqa: F401 - to register them
from .also_right import by_loops
from .asks_too_little import AXES, LAST_DIGITS, OUTPUTS, SQUARE, exercise


def by_formula(q, k, mask):
    """The weights by the formula; NaN for a query without allowed keys."""
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    return scores.masked_fill(~mask, -math.inf).softmax(-1)


def some_inputs():
    """Inputs of three lengths, with a mask that leaves a query without keys."""
    g = torch.Generator().manual_seed(2)
    q, k, v = (torch.randn(2, n, d, generator=g).double() for n, d in [(3, 4), (5, 4), (5, 7)])
    mask = torch.rand(2, 3, 5, generator=g) < 0.6
    mask[0, 0] = False
    return q, k, v, mask


def demand(impl, q, k, v, mask, inverted=False):
    out, weights = impl(q, k, v, mask)
    if mask is None:
        mask = torch.ones(q.shape[-2], k.shape[-2]).bool()
    right = by_formula(q, k, ~mask if inverted else mask).nan_to_num(0)
    assert (weights - right).abs().max() < 1e-8
    assert (out - right @ v).abs().max() < 1e-8


ASSERTS_NOTHING = (
    "Your test calls `impl` and lets every result pass. Does it reach an `assert` whose condition "
    "can be false?"
)


@exercise.mistake(ASSERTS_NOTHING)
def asserts_nothing(impl):
    impl(torch.randn(2, 3, 4), torch.randn(2, 5, 4), torch.randn(2, 5, 11))


@exercise.mistake(
    "Your test accepts even a version that stops with an error. Does it call `impl`, its argument, "
    "or always your own function?"
)
def never_calls_it(impl):
    q, k = torch.ones(2, 3, 4).double(), torch.ones(2, 5, 4).double()
    assert torch.allclose(
        by_formula(q, k, torch.ones(3, 5).bool()).sum(-1), torch.ones(2, 3).double()
    )


@exercise.mistake(
    "Your test checks only shapes. A table of equal weights has the right shape, too: which "
    "numbers distinguish it from attention?"
)
def shapes_only(impl):
    q, k, v = torch.randn(2, 3, 4), torch.randn(2, 5, 4), torch.randn(2, 5, 11)
    out, weights = impl(q, k, v)
    assert out.shape == (2, 3, 11)
    assert weights.shape == (2, 3, 5)


@exercise.mistake(
    "Your test asks for rows that sum to one and for outputs between the values. Scores that are "
    "not scaled, or scaled too much, pass both. What do you know about the weights themselves?"
)
def convexity_only(impl):
    q, k = torch.randn(2, 3, 4).double(), torch.randn(2, 5, 4).double()
    out, weights = impl(q, k, torch.ones(2, 5, 11).double())
    assert torch.allclose(weights.sum(-1), torch.ones(2, 3).double())
    assert torch.allclose(out, torch.ones(2, 3, 11).double())


@exercise.mistake(TUPLES_ASSERTED)
def tuple_asserted(impl):
    q, k, v, mask = some_inputs()
    out, weights = impl(q, k, v, mask)
    right = by_formula(q, k, mask).nan_to_num(0)
    # A list is as true as a tuple, but Python does not warn of it here.
    assert [torch.allclose(out, right @ v), "outputs"]
    assert [torch.allclose(weights, right), "weights"]


@exercise.mistake(RESULTS_UNREAD)
def result_unread(impl):
    q, k, v, mask = some_inputs()
    out, weights = impl(q, k, v, mask)
    right = by_formula(q, k, mask).nan_to_num(0)
    torch.allclose(out, right @ v)
    torch.allclose(weights, right)


@exercise.mistake(RESULTS_UNREAD)
def first_result_unread(impl):
    by_loops(impl)
    q, k, v, mask = some_inputs()
    out, weights = impl(q, k, v, mask)
    right = by_formula(q, k, mask).nan_to_num(0)
    same = torch.allclose(weights, right)
    same = torch.allclose(out, right @ v)
    assert same


@exercise.mistake(
    "Your test prints what it finds, and raises nothing. A test rejects by raising: which "
    "statement does that?"
)
def results_printed(impl):
    q, k, v, mask = some_inputs()
    out, weights = impl(q, k, v, mask)
    right = by_formula(q, k, mask).nan_to_num(0)
    if not torch.allclose(out, right @ v) or not torch.allclose(weights, right):
        print("wrong")


@exercise.mistake(ASSERTS_NOTHING)
def results_in_a_list(impl):
    """Loses failures as the two tests above do, but in a way that its code does not show."""
    q, k, v, mask = some_inputs()
    out, weights = impl(q, k, v, mask)
    right = by_formula(q, k, mask).nan_to_num(0)
    same = []
    same.append(torch.allclose(out, right @ v))
    same.append(torch.allclose(weights, right))


@exercise.mistake(FAILURES_CAUGHT)
def failures_caught(impl):
    try:  # noqa: SIM105
        demand(impl, *some_inputs())
    except AssertionError:
        pass


@exercise.mistake(FAILURES_CAUGHT)
def all_errors_caught(impl):
    try:  # noqa: SIM105
        demand(impl, *some_inputs())
    except Exception:
        pass


@exercise.mistake(FAILURES_CAUGHT)
def all_errors_printed(impl):
    try:
        demand(impl, *some_inputs())
    except Exception as error:
        print("wrong:", error)


@exercise.mistake(FAILURES_CAUGHT)
def some_failures_caught(impl):
    by_loops(impl)
    try:  # noqa: SIM105
        demand(impl, *some_inputs())
    except AssertionError:
        pass


ANOTHER_ERROR = (
    "Your test rejects wrong versions with another error than AssertionError. Which error does the "
    "task ask for?"
)


@exercise.mistake(ANOTHER_ERROR)
def another_error(impl):
    try:
        by_loops(impl)
        demand(impl, *some_inputs())
    except AssertionError as failure:
        raise ValueError("this version is wrong") from failure


@exercise.mistake(ANOTHER_ERROR)
def another_error_for_wrong_numbers(impl):
    q, k, v, mask = some_inputs()
    out, weights = impl(q, k, v, mask)
    right = by_formula(q, k, mask).nan_to_num(0)
    assert out.shape == (*q.shape[:-1], v.shape[-1])
    if not (torch.allclose(out, right @ v) and torch.allclose(weights, right)):
        raise ValueError("wrong numbers")


DIFFERENCE_DEMANDED = (
    "Your test rejects right versions and accepts wrong ones: it asks for a difference "
    "(`assert not …`, `!=`, or `>` for `<`). When does its condition hold, and when should it?"
)


def unlike(impl, looked_at):
    q, k, v, mask = some_inputs()
    weights = by_formula(q, k, mask).nan_to_num(0)
    results = impl(q, k, v, mask)
    for number in looked_at:
        assert not torch.allclose(results[number], (weights @ v, weights)[number])


@exercise.mistake(DIFFERENCE_DEMANDED)
def difference_demanded(impl):
    unlike(impl, (0, 1))


@exercise.mistake(DIFFERENCE_DEMANDED)
def difference_of_weights_demanded(impl):
    unlike(impl, (1,))


@exercise.mistake(
    "Your test compares results of `impl` only with other results of `impl`, so a version that is "
    "wrong in the same way each time passes. Which numbers do you know without calling `impl`?"
)
def compared_with_itself(impl):
    q, k, v, mask = some_inputs()
    for m in (None, mask):
        once, again = impl(q, k, v, m), impl(q, k, v, m)
        assert torch.allclose(once[0], again[0])
        assert torch.allclose(once[1], again[1])


def compare_square(impl, masks):
    g = torch.Generator().manual_seed(3)
    q, k, v = torch.randn(3, 4, 4, generator=g).double().unbind()
    for mask in masks:
        demand(impl, q, k, v, mask)


@exercise.mistake(SQUARE)
def square_and_causal(impl):
    compare_square(impl, [torch.ones(4, 4).bool().tril()])


@exercise.mistake(LAST_DIGITS)
def exactly_equal(impl):
    g = torch.Generator().manual_seed(4)
    q, k, v = (torch.randn(2, n, d, generator=g).double() for n, d in [(3, 4), (5, 4), (5, 7)])
    mask = torch.tensor([True, True, False, True, False])
    exp = (q @ k.mT / 2).exp() * mask
    weights = exp * (1 / exp.sum(-1, keepdim=True))
    assert torch.equal(impl(q, k, v, mask)[1], weights)


@exercise.mistake(
    "Your test rejects every version, the right ones, too. Try it on your own attention: does it "
    "stop in a call or in an assertion, and is that assertion true?"
)
def rejects_everything(impl):
    q, k, v, mask = some_inputs()
    assert impl(q, k, v, mask)[1].shape == (2, 3, 6)


@exercise.mistake(LAST_DIGITS)
def other_float32_in_each_run(impl):
    """Rarely rejects a right version, and only for its last digits."""
    q, k, v = torch.randn(2, 3, 4), torch.randn(2, 5, 4), torch.randn(2, 5, 7)
    mask = torch.rand(2, 3, 5) < 0.5
    mask[:, 1] = False
    for given in (None, mask):
        out, weights = impl(q, k, v, given)
        right = by_formula(q, k, torch.tensor(True) if given is None else given).nan_to_num(0)
        assert torch.allclose(weights, right)
        assert torch.allclose(out, right @ v)


@exercise.mistake(
    "Your test notices a mask that is ignored, but not wrong weights. Weights that sum to one and "
    "give the output, or that are 0 in the right places, can all be wrong. Where do you get right "
    "ones from?"
)
def consistent_with_itself(impl):
    g = torch.Generator().manual_seed(5)
    q, k, v = (torch.randn(2, n, d, generator=g).double() for n, d in [(3, 4), (5, 4), (5, 7)])
    for mask in (None, torch.tensor([True, True, False, True, False])):
        out, weights = impl(q, k, v, mask)
        assert (out - weights @ v).abs().max() < 1e-10
        assert (weights.sum(-1) - 1).abs().max() < 1e-10
        if mask is not None:
            assert (weights[..., ~mask] == 0).all()


@exercise.mistake(
    "Your test passes a mask, but accepts a version that ignores it. Which key does that mask "
    "forbid, and what does your test assert about the results of that call?"
)
def mask_without_consequence(impl):
    q, k, v, mask = some_inputs()
    demand(impl, q, k, v, None)
    out, weights = impl(q, k, v, mask)
    assert out.shape == (2, 3, 7)
    assert weights.shape == (2, 3, 5)


@exercise.mistake(
    "Your test accepts versions that look only at the keys that a mask forbids, and rejects right "
    "ones. What does True in a mask mean in the task?"
)
def mask_taken_the_other_way_round(impl):
    g = torch.Generator().manual_seed(6)
    q, k, v = (torch.randn(2, n, d, generator=g).double() for n, d in [(3, 4), (5, 4), (5, 7)])
    mask = torch.tensor([True, False, True, False, False])
    demand(impl, q, k, v, mask, inverted=True)


@exercise.mistake(
    "Your test takes the weights for the outputs, and the outputs for the weights. Which of the "
    "two does the task name first?"
)
def results_in_the_other_order(impl):
    demand(lambda *given: impl(*given)[::-1], *some_inputs())


@exercise.mistake(
    "Your test asks for scores that are not scaled, so it rejects your own attention. Which step "
    "of the formula is missing where you compute the expected weights?"
)
def no_scale_expected(impl):
    q, k, v, mask = some_inputs()
    out, weights = impl(q, k, v, mask)
    right = by_formula(2 * q, k, mask).nan_to_num(0)
    assert torch.allclose(weights, right)
    assert torch.allclose(out, right @ v)


@exercise.mistake(
    "Your test asks for NaN where a query may attend to no key, as the formula gives it. What does "
    "the task promise for such a query?"
)
def nan_asked_for(impl):
    g = torch.Generator().manual_seed(7)
    q, k, v = (torch.randn(2, n, d, generator=g).double() for n, d in [(3, 4), (5, 4), (5, 7)])
    mask = torch.ones(3, 5).bool()
    mask[1] = False
    out, weights = impl(q, k, v, mask)
    right = by_formula(q, k, mask)
    assert torch.allclose(weights, right, atol=1e-8, equal_nan=True)
    assert torch.allclose(out, right @ v, atol=1e-8, equal_nan=True)


@exercise.mistake(OUTPUTS)
def outputs_only(impl):
    g = torch.Generator().manual_seed(8)
    q, k, v = (torch.randn(2, n, d, generator=g).double() for n, d in [(3, 4), (5, 4), (5, 7)])
    for mask in (torch.ones(5).bool(), torch.tensor([True, True, False, True, True])):
        out, _ = impl(q, k, v, mask)
        assert (out - by_formula(q, k, mask) @ v).abs().max() < 1e-8


@exercise.mistake(AXES)
def one_sentence_only(impl):
    g = torch.Generator().manual_seed(9)
    q, k, v = (torch.randn(n, d, generator=g).double() for n, d in [(3, 4), (5, 4), (5, 7)])
    for mask in (torch.ones(3, 5).bool(), torch.ones(3, 5).bool().tril()):
        demand(impl, q, k, v, mask)
