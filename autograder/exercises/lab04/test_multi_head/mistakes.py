"""Wrong tests of multi-head attention that students write: they ask too little, or too much."""

from __future__ import annotations

import torch

from attnlab.checking.torch_attention import torch_equivalent
from attnlab.multihead import MultiHeadAttention
from gradekit.exercise import FAILURES_CAUGHT, RESULTS_UNREAD, TUPLES_ASSERTED

from . import (  # noqa: F401 - to register their mistakes
    exercise,
    names_of_weights,
    square_weights,
    stops_too_early,
)
from .parts import (
    SIZES,
    alone,
    asserted,
    blocked,
    close,
    drops,
    filled,
    learns,
    nobody,
    numbers,
    texts,
)

NOTHING_COMPARED = (
    "Your test accepts your own layer, and also one that answers only zeros. Which `assert` in it "
    "compares numbers of the output, and does its failure leave your test?"
)


@exercise.mistake(NOTHING_COMPARED)
def asserts_nothing(impl):
    filled(impl)(*texts())


@exercise.mistake(
    "Your test accepts even a layer that stops with an error. Does it build and call `impl`, its "
    "argument, or always your own class?"
)
def never_calls_it(impl):
    assert filled(MultiHeadAttention)(*texts()).shape == (2, 4, 10)


@exercise.mistake(TUPLES_ASSERTED)
def tuple_asserted(impl):
    model, inputs = filled(impl).eval(), texts()
    mine, right = model(*inputs, need_weights=True), torch_equivalent(model, **SIZES)(*inputs)
    # A list is as true as a tuple, but Python does not warn of it here.
    assert [torch.allclose(mine[0], right[0]), "output"]
    assert [torch.allclose(mine[1], right[1]), "weights"]


@exercise.mistake(RESULTS_UNREAD)
def result_unread(impl):
    model, inputs = filled(impl).eval(), texts()
    mine, right = model(*inputs, need_weights=True), torch_equivalent(model, **SIZES)(*inputs)
    torch.allclose(mine[0], right[0])
    torch.allclose(mine[1], right[1])


@exercise.mistake(FAILURES_CAUGHT)
def failures_caught(impl):
    try:  # noqa: SIM105
        numbers(impl)
    except AssertionError:
        pass


@exercise.mistake(FAILURES_CAUGHT)
def all_errors_caught(impl):
    try:  # noqa: SIM105
        numbers(impl)
    except Exception:
        pass


@exercise.mistake(
    "Your test compares results of a layer only with other results of the same layer, so a version "
    "that is wrong in the same way each time passes. Which numbers do you know without calling it?"
)
def compared_with_itself(impl):
    model, inputs = filled(impl).eval(), texts()
    once, again = (model(*inputs, need_weights=True) for _ in range(2))
    assert torch.allclose(once[0], again[0])
    assert torch.allclose(once[1], again[1])


@exercise.mistake(
    "Your test returns its verdict, True or False, but nothing reads it. Which statement turns a "
    "False into an error?"
)
def returns_its_verdict(impl):
    model, inputs = filled(impl), texts()
    if model(*inputs).shape != inputs[0].shape:
        raise AssertionError("shape")
    return torch.allclose(model(*inputs), torch_equivalent(model, **SIZES)(*inputs)[0])


NO_RIGHT_NUMBERS = (
    "Your test calls the layer, but no `assert` of yours compares the output with right numbers. "
    "What does `torch_equivalent` give you?"
)


@exercise.mistake(NO_RIGHT_NUMBERS)
def shapes_only(impl):
    q, k, v = texts()
    out, weights = filled(impl)(q, k, v, need_weights=True)
    assert out.shape == q.shape
    assert weights.shape == (2, 3, 4, 7)


@exercise.mistake(NO_RIGHT_NUMBERS)
def dropout_only(impl):
    drops(impl)
    model, inputs = filled(impl, dropout=0.5).eval(), texts()
    close(model(*inputs), model(*inputs))


VALUES_OF_THE_KEYS = (
    "Your test accepts a layer that takes its values from the keys' text. Are k and v different "
    "texts in it, and does an `assert` compare the output with the right one?"
)


@exercise.mistake(VALUES_OF_THE_KEYS)
def one_text_for_all(impl):
    model = filled(impl).eval()
    x, changed = texts()[0], torch_equivalent(model, **SIZES)
    mask = torch.rand(2, 3, 4, 4) < 0.6
    mask[..., 0] = True
    for m in (None, mask):
        mine, torchs = model(x, x, x, m, need_weights=True), changed(x, x, x, m)
        close(mine[0], torchs[0])
        close(mine[1], torchs[1])


@exercise.mistake(VALUES_OF_THE_KEYS)
def one_text_for_all_and_dropout(impl):
    one_text_for_all(impl)
    drops(impl)
    alone(impl)


@exercise.mistake(
    "Your test accepts a layer that takes keys for values and values for keys. Are k and v "
    "different texts in it, and does an `assert` compare the output with the right one?"
)
def one_text_for_keys_and_values(impl):
    numbers(impl, dropout=0.5, one_text=True)
    asserted(nobody, learns, drops, alone, impl=impl)
    leaves = [x.requires_grad_() for x in texts()]
    gradients = torch.autograd.grad(filled(impl).eval()(*leaves).sum(), leaves, allow_unused=True)
    assert all(gradient is not None for gradient in gradients)


@exercise.mistake(
    "Your test accepts a layer that ignores its mask. Which shapes of mask does the task promise, "
    "and where does your test compare outputs with one?"
)
def no_masks(impl):
    numbers(impl, masks=())


@exercise.mistake(
    "Your test accepts a layer that ignores its mask, and one that reports the same weights for "
    "all heads. For which arguments and which results does no `assert` compare numbers?"
)
def output_only(impl):
    numbers(impl, masks=(), weights=False)


@exercise.mistake(
    "Your test accepts a layer that reports the same weights for all heads. Which `assert` "
    "compares the weights that `need_weights` returns, and can it fail?"
)
def weights_not_compared(impl):
    numbers(impl, weights=False, dropout=0.5)
    asserted(nobody, learns, drops, impl=impl)


TRUE_FORBIDS = (
    "Your test accepts a layer whose masks mean the opposite, and rejects right ones. What does "
    "True mean in a mask of the task, and what in one of torch's own layer?"
)


@exercise.mistake(TRUE_FORBIDS)
def true_forbids(impl):
    numbers(impl, opposite=True)


@exercise.mistake(TRUE_FORBIDS)
def true_forbids_in_outputs(impl):
    numbers(impl, weights=False, opposite=True)


@exercise.mistake(
    "Your test rejects a right layer whose parameters start with other numbers. Which promise of "
    "the task says how they start, and whose weights should the expected result be made of?"
)
def same_seed(impl):
    layers = []
    for made in (MultiHeadAttention, impl):
        torch.manual_seed(4)
        layers.append(made(**SIZES).double())
    mask = torch.rand(2, 1, 4, 7) < 0.6
    q, k, v = texts()
    for m in (None, mask):
        mine, yours = (layer(q, k, v, m, need_weights=True) for layer in layers)
        close(yours[0], mine[0])
        close(yours[1], mine[1])


# Said of every test that stops too early: the line in which it stops is quoted after this.
STOPS_AT_RIGHT_VERSIONS = (
    "Your test rejects right versions, too. On your own layer, does it stop in a call or in an "
    "`assert`? A call should keep to the task (the shapes of a mask, one dtype for all). An "
    "`assert` should allow for rounding, compare like with like (equal weights on both sides, "
    "dropout off), and ask only for what the task promises, such as for a query without keys."
)


@exercise.mistake(STOPS_AT_RIGHT_VERSIONS)
def exactly_equal(impl):
    model, inputs = filled(impl), texts()
    assert torch.equal(model(*inputs), torch_equivalent(model, **SIZES)(*inputs)[0])


@exercise.mistake(STOPS_AT_RIGHT_VERSIONS)
def mask_for_each_sentence(impl):
    numbers(impl, masks=((4, 7),))
    mask = torch.ones(2, 4, 7, dtype=torch.bool)
    filled(impl).eval()(*texts(), mask, need_weights=True)


@exercise.mistake(
    "Your test accepts layers that are wrong for a query with no allowed key, and layers whose "
    "dropout is wrong. Which sentences of the task does no line of your test ask about?"
)
def ordinary_cases_only(impl):
    numbers(impl)
    alone(impl)


@exercise.mistake(
    "Your test accepts a layer that adds a bias several times. Which numbers do the biases have in "
    "your layers, and would you see such a number twice?"
)
def biases_of_zero(impl):
    numbers(impl, dropout=0.5, biases=False)
    asserted(nobody, learns, drops, alone, impl=impl)


@exercise.mistake(
    "Your test accepts layers that are wrong only for a query with no allowed key. What does the "
    "task promise for it, and how could a test see it without torch's NaN?"
)
def no_blocked_query(impl):
    numbers(impl, dropout=0.5)
    asserted(learns, drops, alone, impl=impl)


@exercise.mistake(
    "For a query with no allowed key, your test only asks for finite numbers, so a layer passes "
    "that gives it a mean of all values. What does the task promise for its heads?"
)
def blocked_query_finite(impl):
    numbers(impl, dropout=0.5)
    asserted(learns, drops, alone, impl=impl)
    assert all(result.isfinite().all() for result in blocked(impl))


@exercise.mistake(
    "The layer that your test compares after `eval()` is built without dropout, so one that drops "
    "after `eval()`, too, passes. With which argument would that show?"
)
def no_dropout_after_eval(impl):
    numbers(impl)
    asserted(nobody, learns, drops, alone, impl=impl)


DROPOUT_UNSEEN = (
    "Your test accepts layers whose dropout is wrong. What does the task promise about it, while "
    "training and after `eval()`, and where does your test ask?"
)


@exercise.mistake(DROPOUT_UNSEEN)
def never_trains(impl):
    numbers(impl, dropout=0.5)
    asserted(nobody, learns, alone, impl=impl)


@exercise.mistake(DROPOUT_UNSEEN)
def never_drops(impl):
    numbers(impl)
    asserted(nobody, learns, alone, impl=impl)


@exercise.mistake(
    "Your test notices whether there is dropout, but not which numbers it drops. What would the "
    "output look like if its own features were dropped?"
)
def dropout_anywhere(impl):
    numbers(impl, dropout=0.5)
    asserted(nobody, learns, alone, impl=impl)
    drops(impl, where=False)


@exercise.mistake(
    "Your test accepts a layer whose attention weights are cut off from torch's graph. What does "
    "the task promise about gradients, and at which input would this show?"
)
def no_gradient(impl):
    numbers(impl, dropout=0.5)
    asserted(nobody, drops, alone, impl=impl)


@exercise.mistake(
    "Your test accepts a layer that always returns a pair. In which two ways can the layer be "
    "called, according to the task?"
)
def always_with_weights(impl):
    numbers(impl, dropout=0.5)
    asserted(nobody, learns, drops, impl=impl)


@exercise.mistake(
    "Your test accepts a layer that applies the first head's mask to all heads. Which shapes of "
    "mask does the task promise, and which of them does your test pass?"
)
def one_mask_for_all_heads(impl):
    numbers(impl, masks=((4, 7), (2, 1, 1, 7)), dropout=0.5)
    asserted(nobody, learns, drops, alone, impl=impl)


@exercise.mistake(
    "Your test accepts a layer that takes a mask of three axes for one mask a sentence. Which "
    "shapes of mask does the task name, and which of them does your test pass?"
)
def no_mask_of_three_axes(impl):
    numbers(impl, masks=((4, 7), (2, 1, 1, 7), (2, 3, 4, 7)), dropout=0.5)
    asserted(nobody, learns, drops, alone, impl=impl)


@exercise.mistake(
    "Every layer in your test has one head, so layers that mix up their heads pass. Which mistakes "
    "show only with several heads, and with which numbers of heads can a layer be made?"
)
def one_head(impl):
    sizes = {"d_model": 10, "num_heads": 1, "d_k": 4, "d_v": 5}
    numbers(impl, masks=((4, 7), (1, 4, 7), (2, 1, 1, 7)), sizes=sizes, dropout=0.5)
    asserted(learns, drops, alone, impl=impl)
