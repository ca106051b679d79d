"""test_attend: a test that accepts right versions of attend and rejects wrong ones."""

from __future__ import annotations

import torch

from attnlab.seq2seq import attend
from gradekit.exercise import write_a_test

# Without versions that are wrong only for scores or batches that no test needs to try.
VERSIONS = [
    "softmax_over_batch",
    "tokens_filled_with_infinity",
    "masked_after_softmax",
    "scaled_up_afterwards",
    "filled_with_zero",
    "filled_with_some_number",
    "penalty_added",
    "mask_ignored",
    "mask_the_other_way",
    "hidden_masked_only",
    "context_by_scores",
    "scores_returned",
    "context_alone",
    "weights_first",
    "summed_over_features",
    "mean_instead_of_sum",
    "row_axis_kept",
    "nan_for_padding_alone",
    "equal_for_padding_alone",
    "scores_assigned_to",
    "weights_detached",
    "mask_required",
    "always_float32",
    "hard_attention",
    "log_probabilities_returned",
]

exercise = write_a_test(
    "test_attend",
    of=attend,
    points=4,
    title="Rejects the wrong versions of attend that students write, and accepts the right ones.",
    versions=VERSIONS,
)


def right_version(scores, hidden, mask=None):
    """Context and weights, sentence by sentence: a softmax over the tokens of each."""
    weights = torch.zeros_like(scores)
    for row, score in enumerate(scores):
        tokens = slice(None) if mask is None else mask[row]
        weights[row, tokens] = score[tokens].softmax(-1)
    return torch.einsum("bt,bth->bh", weights, hidden), weights


@exercise.check(points=2)
def openly_wrong(lab, draw):
    """Accepts your own attend, whatever its last digits; rejects it once it is obviously wrong."""

    def last_digits(scores, hidden, mask=None):
        return tuple(part * (1 + 2**-50) for part in lab.attend(scores, hidden, mask))

    def plain_mean(scores, hidden, mask=None):
        return lab.attend(torch.zeros_like(scores), hidden, mask)

    def padding_counts(scores, hidden, mask=None):
        return lab.attend(scores, hidden)

    def other_sentence(scores, hidden, mask=None):
        context, weights = lab.attend(scores, hidden, mask)
        return context.flip(0), weights

    return {
        "accepts your own": draw.accepted(lab.test_attend, lab.attend),
        "your own passes with other last digits": draw.raises(lab.test_attend, last_digits) is None,
        "rejects a plain mean": draw.rejects(lab.test_attend, plain_mean),
        "rejects attention to padding": draw.rejects(lab.test_attend, padding_counts),
        "rejects the context of another sentence": draw.rejects(lab.test_attend, other_sentence),
    }


@exercise.mistake(
    "Your test lets three openly wrong versions pass, even a plain mean of the vectors. Does it "
    "test `impl`, its argument, and does it reach an `assert` whose condition is false for them?"
)
def asserts_nothing(impl):
    impl(torch.randn(2, 5), torch.randn(2, 5, 3))


@exercise.mistake(
    "Your test returns its verdict, True or False, but nothing reads it. A test reports "
    "by raising: which statement turns a False into an error?"
)
def returns_its_verdict(impl):
    scores, hidden = torch.randn(2, 5), torch.randn(2, 5, 3)
    context, weights = impl(scores, hidden)
    if context.shape != (2, 3):
        raise AssertionError("shape")
    return torch.allclose(weights, scores.softmax(-1), atol=1e-6)


SUMS = (
    "Your test checks only shapes and sums. Which attention has weights that sum to one and "
    "never looks at a score?"
)


@exercise.mistake(SUMS)
def shapes_only(impl):
    context, weights = impl(torch.randn(2, 5), torch.randn(2, 5, 3))
    assert context.shape == (2, 3)
    assert weights.shape == (2, 5)


@exercise.mistake(SUMS)
def sums_without_padding(impl):
    _, weights = impl(torch.randn(2, 5), torch.randn(2, 5, 3))
    assert torch.allclose(weights.sum(1), torch.ones(2))


@exercise.mistake(SUMS)
def sums_only(impl):
    mask = torch.arange(5) < torch.tensor([[3], [5]])
    context, weights = impl(torch.randn(2, 5), torch.randn(2, 5, 3), mask)
    assert context.shape == (2, 3)
    assert torch.allclose(weights.sum(1), torch.ones(2))
    assert (weights[~mask] == 0).all()


@exercise.mistake(
    "Your test has no padding in it. Most wrong versions fail at the third argument of `attend`: "
    "which masks should a test try?"
)
def never_masks(impl):
    scores, hidden = torch.randn(2, 5).double(), torch.randn(2, 5, 3).double()
    context, weights = impl(scores, hidden)
    expected, shares = right_version(scores, hidden)
    assert torch.allclose(context, expected)
    assert torch.allclose(weights, shares)


@exercise.mistake(
    "Your test rejects right versions. Two right ways to add up the same numbers differ in their "
    "last digits, inputs are finite, and a sentence of padding gets neither NaN nor equal weights. "
    "Which of your lines asks for more than the task of `attend` promises?"
)
def exactly_equal(impl):
    for size in (41, 57):
        scores = torch.randn(31, size, dtype=torch.float64)
        hidden = torch.randn(31, size, 7, dtype=torch.float64)
        context, _ = impl(scores, hidden)
        assert torch.equal(context, (scores.softmax(1)[..., None] * hidden).sum(1))


@exercise.mistake(
    "Your test accepts the right weights with the context of another sentence: perhaps it never "
    "looks at the context's numbers, or each of its batches has a single sentence. What do you "
    "know about the context of each sentence?"
)
def weights_only(impl):
    mask = torch.arange(5) < torch.tensor([[3], [5]])
    scores, hidden = torch.randn(2, 5).double(), torch.randn(2, 5, 3).double()
    for given in (mask, None):
        _, weights = impl(scores, hidden, given)
        assert torch.allclose(weights, right_version(scores, hidden, given)[1])


@exercise.mistake(
    "Your test accepts a plain mean, whose weights ignore the scores: perhaps it takes the weights "
    "from `impl` itself, or all its scores are equal. From what can you compute the right ones?"
)
def context_of_its_own_weights(impl):
    mask = torch.arange(5) < torch.tensor([[3], [5]])
    scores, hidden = torch.randn(2, 5).double(), torch.randn(2, 5, 3).double()
    context, weights = impl(scores, hidden, mask)
    assert torch.allclose(context, torch.einsum("bt,bth->bh", weights, hidden))
    assert (weights[~mask] == 0).all()


@exercise.mistake(
    "A plain mean passes your test, and so does attention to padding: perhaps `impl` is compared "
    "only with its own results. What is a right answer, computed without `impl`?"
)
def impl_against_itself(impl):
    mask = torch.arange(5) < torch.tensor([[3], [5]])
    scores, hidden = torch.randn(2, 5).double(), torch.randn(2, 5, 3).double()
    context, weights = impl(scores, hidden, mask)
    assert torch.allclose(context, torch.einsum("bt,bth->bh", weights, hidden))
    assert torch.allclose(context, impl(scores, hidden, mask)[0])


def same_values(impl, scores, hidden, mask):
    """Whether context, weights and dtypes are right."""
    found, expected = impl(scores, hidden, mask), right_version(scores, hidden, mask)
    torch.testing.assert_close(found, expected, atol=1e-6, rtol=1e-6)


def same_numbers(impl, scores, hidden, mask):
    """Whether context, weights and dtypes are right, and the inputs stay as they are."""
    given = scores.clone(), hidden.clone()
    same_values(impl, *given, mask)
    torch.testing.assert_close(given, (scores, hidden), atol=0, rtol=0)


def same_gradients(impl, scores, hidden, mask):
    """Whether the gradients of both results are right."""
    grads = []
    for version in (impl, right_version):
        leaves = scores.clone().requires_grad_(), hidden.clone().requires_grad_()
        context, weights = version(*leaves, mask)
        (context.square().sum() + weights.square().sum()).backward()
        grads.append([leaf.grad for leaf in leaves])
    torch.testing.assert_close(*grads, atol=1e-6, rtol=1e-6)


def batches(high=1e4, low=2e4, empty=0):
    """Ordinary scores, `high` ones at padding, all lowered by `low`; with and without a mask."""
    mask = torch.arange(5) < torch.tensor([[2], [empty], [5]])
    scores, hidden = torch.randn(3, 5).double(), torch.randn(3, 5, 2).double()
    for some in (scores, scores.where(mask, high), scores - low):
        yield some, hidden, mask
        yield some, hidden, None


def hold(impl, given, *checks):
    """Run each of `checks` on each of the batches `given`."""
    for batch in given:
        for check in checks:
            check(impl, *batch)


@exercise.mistake(
    "A version whose weights are cut from torch's graph passes your test, because its numbers are "
    "right. What would show that nothing can be learned about the scores with it?"
)
def numbers_alone(impl):
    hold(impl, batches(), same_numbers)


@exercise.mistake(
    "No score at padding in your test is very far above the tokens' scores. The task of `attend` "
    "says that padding never gets weight, `whatever its score`: which scores have you not tried?"
)
def ordinary_scores_at_padding(impl):
    hold(impl, batches(high=1.0), same_numbers, same_gradients)


@exercise.mistake(
    "A version that puts a low number at padding, but not a very low one, passes your test. The "
    "task of `attend` allows any finite score at a token: which scores have you not tried?"
)
def ordinary_scores_at_tokens(impl):
    hold(impl, batches(low=0.0), same_numbers, same_gradients)


@exercise.mistake(
    "Versions that are wrong for very high scores at padding, or for very low ones at tokens, pass "
    "your test. The task of `attend` allows any finite score: which have you not tried?"
)
def ordinary_scores(impl):
    hold(impl, batches(1.0, 0.0), same_numbers, same_gradients)


@exercise.mistake(
    "Your test looks at results alone: a version that writes into its inputs passes, and so does "
    "one whose weights are cut from torch's graph. What is left to look at after a call?"
)
def results_alone(impl):
    hold(impl, batches(), same_values)


ORDINARY_RESULTS = (
    "Your test compares ordinary results well, with and without padding, but several versions that "
    "fail elsewhere pass. Read the task again: what does it promise for very high and very low "
    "scores, for gradients, and for the inputs?"
)


@exercise.mistake(ORDINARY_RESULTS)
def ordinary_results(impl):
    hold(impl, batches(1.0, 0.0), same_values)


@exercise.mistake(ORDINARY_RESULTS)
def ordinary_results_and_inputs(impl):
    hold(impl, batches(1.0, 0.0), same_numbers)


@exercise.mistake(
    "Your test has no sentence that is all padding, although the task of `attend` makes a promise "
    "about it. Which lengths does a batch need?"
)
def no_empty_sentence(impl):
    hold(impl, batches(empty=3), same_numbers, same_gradients)


@exercise.mistake(
    "Your test rejects your own `attend` as soon as its numbers change in their last digits. How "
    "far apart may two right results be, according to the task?"
)
def equal_to_the_last_digit(impl):
    for batch in batches():
        torch.testing.assert_close(impl(*batch), attend(*batch), atol=0, rtol=0)


@exercise.mistake(
    "Your test tries only ordinary numbers with a mask. Read the task of `attend` again: what does "
    "it promise for huge numbers at padding, for a sentence that is all padding, for gradients, "
    "the dtype and the inputs?"
)
def ordinary_padding_only(impl):
    mask = torch.arange(5) < torch.tensor([[3], [5]])
    same_values(impl, torch.randn(2, 5).double(), torch.randn(2, 5, 3).double(), mask)


@exercise.also_right
def by_properties(impl):
    def near(a, b):
        return a.shape == b.shape and bool((a - b).abs().max() < 1e-10)

    g = torch.Generator().manual_seed(7)
    for batch, places in ((3, 5), (4, 4), (1, 6)):
        scores = 3 * torch.randn(batch, places, generator=g, dtype=torch.float64)
        hidden = torch.randn(batch, places, 2, generator=g, dtype=torch.float64)
        masks = [
            None,
            torch.arange(places) < torch.arange(1, batch + 1)[:, None],
            torch.arange(places) >= torch.arange(batch)[:, None] + 1,
            torch.zeros(batch, places).bool(),
        ]
        for mask in masks:
            live = torch.ones(batch, places).bool() if mask is None else mask
            given = scores.where(live, 5e3), hidden.where(live[..., None], 1e5)
            for s, h in ((scores, hidden), given, (scores - 2e4, hidden)):
                leaf_s, leaf_h = s.clone().requires_grad_(), h.clone().requires_grad_()
                kept = None if mask is None else mask.clone()
                plain = s.clone(), h.clone()
                impl(*plain, mask)
                assert torch.equal(plain[0], s)
                assert torch.equal(plain[1], h)
                context, weights = impl(leaf_s, leaf_h, mask)
                assert mask is None or torch.equal(mask, kept)
                assert context.dtype == weights.dtype == torch.float64
                exp = (s - s.where(live, -1e300).amax(1, keepdim=True)).where(live, -1e300)
                share = exp.exp().where(live, 0.0)
                share = share / share.sum(1, keepdim=True).clamp(min=1e-30)
                assert near(weights, share)
                assert (weights[~live] == 0).all()
                assert near(context, torch.einsum("bt,bth->bh", share, h))
                pull = torch.randn(context.shape, generator=g, dtype=torch.float64)
                context.mul(pull).sum().backward()
                through = (h * pull[:, None]).sum(-1)
                mean = (share * through).sum(1, keepdim=True)
                assert torch.allclose(leaf_s.grad, share * (through - mean), atol=1e-6)
                assert torch.allclose(leaf_h.grad, share[..., None] * pull[:, None])
    single = impl(scores.float(), hidden.float(), None)
    assert {part.dtype for part in single} == {torch.float32}


@exercise.also_right
def sentence_by_sentence(impl):
    def one(s, h, live):
        """A sentence's attention, over its tokens alone."""
        weights, context = torch.zeros_like(s), torch.zeros_like(h[0])
        if live.any():
            weights = weights.index_put((live.nonzero()[:, 0],), s[live].softmax(0))
            context = s[live].softmax(0) @ h[live]
        return context, weights

    g = torch.Generator().manual_seed(3)
    mask = torch.tensor(
        [[1, 1, 0, 0], [1, 1, 1, 1], [0, 0, 0, 0], [0, 1, 0, 1], [1, 0, 0, 0]]
    ).bool()
    for offset, pad_score, pad_vector in ((0, 0, 0), (0, 9e3, 9e5), (-3e4, 0, -9e5)):
        s = torch.randn(5, 4, generator=g, dtype=torch.float64) + offset
        h = torch.randn(5, 4, 3, generator=g, dtype=torch.float64)
        s[~mask], h[~mask] = pad_score, pad_vector
        for live in (mask, torch.ones(5, 4).bool(), None):
            known = torch.ones(5, 4).bool() if live is None else live.clone()
            copies = s.clone(), h.clone()
            out = impl(*copies, live)
            torch.testing.assert_close(copies, (s, h), atol=0, rtol=0)
            assert live is None or torch.equal(live, known)
            leaves = s.clone().requires_grad_(), h.clone().requires_grad_()
            mine = s.clone().requires_grad_(), h.clone().requires_grad_()
            out = impl(*leaves, live)
            rows = [one(a, b, m) for a, b, m in zip(*mine, known, strict=True)]
            right = tuple(torch.stack(parts) for parts in zip(*rows, strict=True))
            torch.testing.assert_close(out, right, atol=1e-9, rtol=1e-9)
            assert bool((out[1][~known] == 0).all())
            pulls = [torch.randn(x.shape, generator=g, dtype=torch.float64) for x in right]
            sum((a * p).sum() for a, p in zip(out, pulls, strict=True)).backward()
            sum((a * p).sum() for a, p in zip(right, pulls, strict=True)).backward()
            for got, want in zip(leaves, mine, strict=True):
                torch.testing.assert_close(got.grad, want.grad, atol=1e-6, rtol=1e-6)
    low = impl(s.float(), h.float(), mask)
    assert all(part.dtype == torch.float32 for part in low)
