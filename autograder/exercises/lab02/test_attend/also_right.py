"""Right tests of attend, in other styles, and the parts of which wrong ones are made."""

from __future__ import annotations

import torch

from . import exercise


def right_version(scores, hidden, mask=None):
    """Context and weights, sentence by sentence: a softmax over the tokens of each."""
    weights = torch.zeros_like(scores)
    for row, score in enumerate(scores):
        tokens = slice(None) if mask is None else mask[row]
        weights[row, tokens] = score[tokens].softmax(-1)
    return torch.einsum("bt,bth->bh", weights, hidden), weights


def called(impl, scores, hidden, mask):
    """What a version returns that may write into its mask."""
    return impl(scores, hidden, None if mask is None else mask.clone())


def on_copied_vectors(impl):
    """The same version, which never meets the test's own vectors."""
    return lambda scores, hidden, mask: impl(scores, hidden.clone(), mask)


def limit(scores):
    """How far a right number may be from the expected one, in the dtype of `scores`."""
    return 1e-6 if scores.dtype == torch.float64 else 1e-5


def roughly_the_same_values(impl, scores, hidden, mask):
    """Whether context, weights and dtypes are right, but for tiny weights at padding."""
    found, expected = called(impl, scores, hidden, mask), right_version(scores, hidden, mask)
    torch.testing.assert_close(found, expected, atol=limit(scores), rtol=limit(scores))
    return found


def same_values_in_float32(impl, scores, hidden, mask):
    """Whether context and weights are right, and the dtype of the weights."""
    context, weights = called(impl, scores, hidden, mask)
    found = context.to(scores.dtype), weights
    expected = right_version(scores, hidden, mask)
    torch.testing.assert_close(found, expected, atol=limit(scores), rtol=limit(scores))


def same_values(impl, scores, hidden, mask):
    """Whether context, weights and dtypes are right, and 0 at padding."""
    _, weights = roughly_the_same_values(impl, scores, hidden, mask)
    assert mask is None or (weights[~mask] == 0).all()


def same_numbers(impl, scores, hidden, mask):
    """Whether context, weights and dtypes are right, and the inputs stay as they are."""
    given = scores.clone(), hidden.clone()
    same_values(impl, *given, mask)
    torch.testing.assert_close(given, (scores, hidden), atol=0, rtol=0)


def same_mask(impl, scores, hidden, mask):
    """Whether the mask stays as it is."""
    if mask is not None:
        given = mask.clone()
        impl(scores.clone(), hidden.clone(), given)
        assert torch.equal(given, mask)


def same_gradients(impl, scores, hidden, mask):
    """Whether the gradients of both results are right."""
    grads = []
    for version in (impl, right_version):
        leaves = scores.clone().requires_grad_(), hidden.clone().requires_grad_()
        context, weights = called(version, *leaves, mask)
        (context.square().sum() + weights.square().sum()).backward()
        grads.append([leaf.grad for leaf in leaves])
    torch.testing.assert_close(*grads, atol=1e-6, rtol=1e-6)


def finite_gradients(impl, scores, hidden, mask):
    """Whether the sum of both results has gradients, and these are finite."""
    leaves = scores.clone().requires_grad_(), hidden.clone().requires_grad_()
    context, weights = called(impl, *leaves, mask)
    assert context.requires_grad
    assert weights.requires_grad
    (context.square().sum() + weights.square().sum()).backward()
    assert all(leaf.grad.isfinite().all() for leaf in leaves)


def batches(high=1e4, low=2e4, empty=0):
    """Ordinary scores, `high` ones at padding, all lowered by `low`; with and without a mask."""
    mask = torch.arange(5) < torch.tensor([[2], [empty], [5]])
    scores, hidden = torch.randn(3, 5).double(), torch.randn(3, 5, 2).double()
    for some in (scores, scores.where(mask, high), scores - low):
        yield some, hidden, mask
        yield some, hidden, None
    yield scores, hidden, mask.flip(1)  # padding comes first


def rare_batches(far=1e12, dtype=torch.float32):
    """Vectors of `far` at padding, and ordinary numbers in `dtype`."""
    mask = torch.arange(5) < torch.tensor([[2], [4], [5]])
    scores, hidden = torch.randn(3, 5).double(), torch.randn(3, 5, 2).double()
    yield scores, hidden.where(mask[..., None], far), mask
    yield scores.to(dtype), hidden.to(dtype), mask


def hold(impl, given, *checks):
    """Run each of `checks` on each of the batches `given`."""
    for batch in given:
        for check in checks:
            check(impl, *batch)


def context_compared(impl, scores, hidden, mask):
    """Whether the context and its dtype are right."""
    found, expected = called(impl, scores, hidden, mask)[0], right_version(scores, hidden, mask)[0]
    torch.testing.assert_close(found, expected, atol=limit(scores), rtol=0)


def contexts_compared_one_by_one(impl, scores, hidden, mask):
    """Whether each sentence's context is right, in whatever shape."""
    found = called(impl, scores, hidden, mask)[0]
    for row, expected in zip(found, right_version(scores, hidden, mask)[0], strict=True):
        assert (row - expected).abs().max() < limit(scores)


def inputs_kept(impl, scores, hidden, mask):
    """Whether the inputs stay as they are."""
    given = scores.clone(), hidden.clone()
    called(impl, *given, mask)
    torch.testing.assert_close(given, (scores, hidden), atol=0, rtol=0)


def gradients_of_the_context(impl, scores, hidden, mask):
    """Whether the gradients of the context are right."""
    grads = []
    for version in (impl, right_version):
        leaves = scores.clone().requires_grad_(), hidden.clone().requires_grad_()
        called(version, *leaves, mask)[0].square().sum().backward()
        grads.append([leaf.grad for leaf in leaves])
    torch.testing.assert_close(*grads, atol=1e-6, rtol=1e-6)


def same_gradients_of_copies(impl, scores, hidden, mask):
    """Whether the gradients are right at copies of the inputs."""

    def copied(scores, hidden, mask):
        return called(impl, 1 * scores, 1 * hidden, mask)

    def right(scores, hidden, mask):
        return right_version(1 * scores, 1 * hidden, mask)

    grads = []
    for version in (copied, right):
        leaves = scores.clone().requires_grad_(), hidden.clone().requires_grad_()
        context, weights = called(version, *leaves, mask)
        (context.square().sum() + weights.square().sum()).backward()
        grads.append([leaf.grad for leaf in leaves])
    torch.testing.assert_close(*grads, atol=1e-6, rtol=1e-6)


@exercise.also_right
def every_promise(impl):
    hold(impl, batches(), same_numbers, same_gradients, same_mask)
    hold(impl, rare_batches(), same_values)


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
                pull_weights = torch.randn(weights.shape, generator=g, dtype=torch.float64)
                (context.mul(pull).sum() + weights.mul(pull_weights).sum()).backward()
                through = (h * pull[:, None]).sum(-1) + pull_weights
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
