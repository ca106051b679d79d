"""Attention, compared with the lectures' numbers and with torch's own attention."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from torch import Tensor
from torch.autograd import gradcheck

from attnlab.attention import (
    attention_loop,
    attention_weights,
    basic_self_attention,
    count_multiplications,
    fit_exponent,
    qkv,
    relevance_matrix,
    saturation,
    scaled_dot_product_attention,
    score_variance,
    weights_memory,
)
from attnlab.data.apples import (
    Sentence,
    attention_scores,
    brand_sentence,
    fruit_sentence,
    toy_alignment,
)


def normal(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(5), dtype=torch.float64)


def moved(sentence: Sentence, mode: str, word: str) -> list[float]:
    out = basic_self_attention(sentence.vectors, mode, sentence.similarity)
    result: list[float] = out[sentence.index(word)].tolist()
    return result


def weights(sentence: Sentence, mode: str, word: str) -> list[float]:
    axes = torch.eye(5, dtype=torch.float64)
    out = basic_self_attention(axes, mode, sentence.similarity)
    result: list[float] = out[sentence.index(word)].tolist()
    return result


def test_lecture_n_apples() -> None:
    fruit, brand = fruit_sentence(), brand_sentence()
    assert moved(fruit, "sum", "apple") == pytest.approx([4.0, 7.2])
    assert moved(fruit, "sum", "fruit") == pytest.approx([1.0, 7.8])
    assert moved(fruit, "sum", "my") == pytest.approx([1.0, 1.0])
    # The lecture rounds .11/1.11 to .1.
    assert moved(brand, "sum", "apple") == pytest.approx([5.1, 6.3], abs=0.01)
    assert weights(fruit, "sum", "apple") == pytest.approx([0, 0, 0.2, 0, 0.8])
    assert weights(brand, "sum", "apple") == pytest.approx([0, 0, 0.0991, 0, 0.9009], abs=5e-5)


def test_softmax_gives_other_weights() -> None:
    expected = [0.1428, 0.1428, 0.1834, 0.1428, 0.3882]
    assert weights(fruit_sentence(), "softmax", "apple") == pytest.approx(expected, abs=5e-5)


def test_the_lectures_tables_have_the_printed_numbers() -> None:
    fruit = fruit_sentence()
    assert fruit.words == ("my", "favourite", "fruit", "is", "apple")
    assert torch.equal(fruit.similarity, fruit.similarity.T)
    vectors = {word: fruit.vectors[fruit.index(word)] for word in ("apple", "fruit")}
    brand = brand_sentence()
    vectors["brand"] = brand.vectors[brand.index("brand")]
    assert float(vectors["apple"] @ vectors["fruit"]) == 56
    assert float(vectors["apple"] @ vectors["brand"]) == 30
    assert attention_scores().sum(1).tolist() == pytest.approx([1, 1, 1.1, 1])
    assert toy_alignment().sum(1).tolist() == pytest.approx([5 / 6, 2 / 3, 2 / 3, 2 / 3])
    assert toy_alignment().sum(0).tolist() == pytest.approx([1, 5 / 6, 1])


def test_softmax_mode_equals_torchs_attention_without_its_scale() -> None:
    X = normal(2, 5, 3)
    expected = torch.nn.functional.scaled_dot_product_attention(X, X, X, scale=1.0)
    assert torch.allclose(basic_self_attention(X), expected, atol=1e-12)


def test_sentences_of_a_batch_do_not_see_each_other() -> None:
    X = normal(2, 3, 5, 4).exp()
    for mode in ("softmax", "sum"):
        one_by_one = torch.stack(
            [torch.stack([basic_self_attention(x, mode) for x in row]) for row in X]
        )
        assert torch.allclose(basic_self_attention(X, mode), one_by_one, atol=1e-12)


def test_a_word_without_similar_words_gets_zeros() -> None:
    X = normal(4, 3).exp()
    X[2] = 0
    assert torch.equal(basic_self_attention(X, "sum")[2], torch.zeros(3))
    assert torch.allclose(basic_self_attention(X, "softmax")[2], X.mean(0))


def test_gradients_reach_words_and_table() -> None:
    X, table = normal(4, 3).exp().requires_grad_(), normal(4, 4).exp().requires_grad_()
    assert gradcheck(lambda X: basic_self_attention(X, "softmax"), X)
    assert gradcheck(lambda X, S: basic_self_attention(X, "sum", S), (X, table))


RANKS = [(4, 6, 3, 5), (7, 4, 2, 3), (2, 3, 5, 7, 11), (2, 3, 4, 5, 6, 7)]


def qkv_of(*sizes: int) -> tuple[Tensor, Tensor, Tensor]:
    *lead, Lq, Lk, d_k, d_v = sizes
    numbers = normal(*lead, 2 * max(Lq, Lk), 3 * max(d_k, d_v))
    q, k, v = numbers.chunk(3, -1)
    return q[..., :Lq, :d_k], k[..., -Lk:, :d_k], v[..., :Lk, :d_v]


def some_keys(*shape: int) -> Tensor:
    """A mask in which every query has allowed and forbidden keys."""
    mask = normal(*shape) > 0
    rows = torch.arange(shape[-2])
    mask[..., rows, rows % shape[-1]] = True
    mask[..., rows, (rows + 1) % shape[-1]] = False
    return mask


def generator(seed: int = 11) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_qkv_is_three_linear_layers() -> None:
    X, shapes = normal(2, 5, 7), [(7, 4), (7, 4), (7, 11)]
    weights = [normal(3, 7, 11)[i, :, : shape[1]] for i, shape in enumerate(shapes)]
    for out, W in zip(qkv(X, *weights), weights, strict=True):
        assert torch.allclose(out, torch.nn.functional.linear(X, W.T), atol=1e-12)
    assert all(
        torch.allclose(whole[1], alone, atol=1e-12)
        for whole, alone in zip(qkv(X, *weights), qkv(X[1], *weights), strict=True)
    )


@pytest.mark.parametrize("sizes", RANKS)
def test_attention_equals_torchs(sizes: tuple[int, ...]) -> None:
    q, k, v = qkv_of(*sizes)
    out, weights = scaled_dot_product_attention(q, k, v)
    expected = torch.nn.functional.scaled_dot_product_attention(q, k, v)
    assert torch.allclose(out, expected, atol=1e-12)
    assert torch.allclose(weights @ v, expected, atol=1e-12)
    assert torch.allclose(weights.sum(-1), torch.ones(()).double(), atol=1e-12)


@pytest.mark.parametrize("sizes", RANKS)
def test_masked_attention_equals_torchs(sizes: tuple[int, ...]) -> None:
    q, k, v = qkv_of(*sizes)
    lead, Lq, Lk = q.shape[:-2], q.shape[-2], k.shape[-2]
    for shape in {(Lq, Lk), (*lead, Lq, Lk), (*lead[:1], *(1 for _ in lead[1:]), Lq, Lk)}:
        mask = some_keys(*shape)
        out, weights = scaled_dot_product_attention(q, k, v, mask)
        expected = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        assert torch.allclose(out, expected, atol=1e-12)
        assert not weights[~mask.expand(weights.shape)].any()


def test_a_hand_example() -> None:
    q = torch.tensor([1.0, 0.0]).double()
    k = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]).double()
    out, weights = scaled_dot_product_attention(q[None], k, torch.eye(3).double())
    expected = [0.401112, 0.197776, 0.401112]
    assert weights[0].tolist() == pytest.approx(expected, abs=5e-7)
    assert torch.equal(out, weights)
    assert attention_loop(q, k, torch.eye(3).double()).tolist() == pytest.approx(expected, abs=5e-7)


def test_loop_and_matrices_agree() -> None:
    q, k, v = qkv_of(3, 5, 7, 11)
    rows = torch.stack([attention_loop(query, k, v) for query in q])
    assert torch.allclose(rows, scaled_dot_product_attention(q, k, v)[0], atol=1e-12)


def test_the_order_of_keys_has_no_effect() -> None:
    q, k, v = qkv_of(2, 3, 5, 7, 11)
    order = torch.tensor([3, 0, 4, 1, 2])
    out, weights = scaled_dot_product_attention(q, k, v)
    moved, moved_weights = scaled_dot_product_attention(q, k[:, order], v[:, order])
    assert torch.allclose(moved, out, atol=1e-12)
    assert torch.allclose(moved_weights, weights[..., order], atol=1e-12)


def test_a_forbidden_key_has_no_effect() -> None:
    q, k, v = qkv_of(2, 3, 5, 7, 11)
    allowed = [0, 2, 4]
    mask = torch.tensor([True, False, True, False, True])
    k[:, [1, 3]], v[:, [1, 3]] = 1e6, 1e6
    for scale in (1.0, 1e6, -1e6):
        out, weights = scaled_dot_product_attention(scale * q, k, v, mask)
        alone, few = scaled_dot_product_attention(scale * q, k[:, allowed], v[:, allowed])
        assert torch.allclose(out, alone, atol=1e-9)
        assert torch.allclose(weights[..., allowed], few, atol=1e-12)
        assert not weights[..., ~mask].any()


def test_a_query_without_keys_gets_zeros_and_finite_gradients() -> None:
    q, k, v = (x.clone().requires_grad_() for x in qkv_of(2, 3, 5, 7, 11))
    mask = some_keys(3, 5)
    mask[1] = False
    out, weights = scaled_dot_product_attention(q, k, v, mask)
    assert not out[:, 1].any()
    assert not weights[:, 1].any()
    (out.sum() + weights.square().sum()).backward()
    assert all(x.grad is not None and bool(x.grad.isfinite().all()) for x in (q, k, v))
    assert q.grad is not None
    assert not q.grad[:, 1].any()


@pytest.mark.parametrize("empty", [False, True])
def test_gradients_of_attention(empty: bool) -> None:
    inputs = tuple(x.clone().requires_grad_() for x in qkv_of(2, 3, 4, 2, 3))
    mask = some_keys(2, 3, 4)
    mask[1, 0] &= not empty
    assert gradcheck(lambda q, k, v: scaled_dot_product_attention(q, k, v, mask), inputs)
    assert gradcheck(scaled_dot_product_attention, inputs)
    q, k, v = inputs
    loose = tuple(x[0].detach().requires_grad_() for x in (q[:, 0], k, v))
    assert gradcheck(attention_loop, loose)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_the_dtype_is_kept_and_inputs_stay_unchanged(dtype: torch.dtype) -> None:
    given = [x.to(dtype) for x in qkv_of(2, 3, 5, 7, 11)]
    mask = some_keys(3, 5)
    before = [x.clone() for x in (*given, mask)]
    for result in (
        scaled_dot_product_attention(*given),
        scaled_dot_product_attention(*given, mask),
    ):
        assert [x.dtype for x in result] == [dtype, dtype]
        assert all(bool(x.isfinite().all()) for x in result)
    assert attention_loop(given[0][0, 0], given[1][0], given[2][0]).dtype == dtype
    assert all(torch.equal(a, b) for a, b in zip((*given, mask), before, strict=True))


def test_the_spread_of_scores_grows_with_the_root_of_d() -> None:
    for d, lectures in ((4, 2.03), (16, 4.0), (64, 8.06), (512, 22.6), (1024, 32)):
        std = float(score_variance(d, 8000, generator()).sqrt())
        assert std == pytest.approx(math.sqrt(d), rel=0.05)
        assert std == pytest.approx(lectures, rel=0.05)
        scaled = float(score_variance(d, 8000, generator(), scaled=True))
        assert scaled == pytest.approx(std * std / d, rel=1e-5)


def test_unscaled_softmax_saturates() -> None:
    # Lecture numbers for 32 keys at d=512: .93 unscaled, .167 scaled.
    unscaled = float(saturation(512, 32, 500, generator(), scaled=False))
    assert unscaled == pytest.approx(0.93, abs=0.03)
    assert float(saturation(512, 32, 500, generator())) == pytest.approx(0.167, abs=0.02)
    assert float(saturation(16, 1, 9, generator())) == 1


def test_random_numbers_come_from_the_generator() -> None:
    before = torch.get_rng_state()
    for measure in (lambda g: score_variance(5, 50, g), lambda g: saturation(5, 3, 50, g)):
        assert measure(generator(1)) == measure(generator(1))
        assert measure(generator(1)) != measure(generator(2))
    assert torch.equal(torch.get_rng_state(), before)


def test_relevance_is_not_symmetric() -> None:
    X, W = normal(2, 5, 7), normal(2, 7, 4)
    one, two = relevance_matrix(X, W[0], W[0]), relevance_matrix(X, W[0], W[1])
    assert torch.allclose(one, one.mT, atol=1e-12)
    assert (two - two.mT).abs().max() > 0.1
    assert torch.allclose(two.mT, relevance_matrix(X, W[1], W[0]), atol=1e-12)
    assert float(two[1, 2, 4]) == pytest.approx(float((X[1, 2] @ W[0]) @ (X[1, 4] @ W[1])))
    q, k, v = qkv(X, W[0], W[1], W[1])
    weights = scaled_dot_product_attention(q, k, v)[1]
    assert torch.allclose(torch.softmax(two / 2, -1), weights, atol=1e-12)


def test_multiplications_equal_a_count_one_by_one() -> None:
    Lq, Lk, d_k, d_v = 2, 3, 5, 7
    scores = sum(1 for _ in itertools.product(range(Lq), range(Lk), range(d_k)))
    mixing = sum(1 for _ in itertools.product(range(Lq), range(Lk), range(d_v)))
    assert count_multiplications(Lq, Lk, d_k, d_v) == scores + mixing


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_memory_equals_that_of_the_weights(dtype: torch.dtype) -> None:
    q, k, v = (x.to(dtype) for x in qkv_of(3, 5, 7, 11))
    weights = scaled_dot_product_attention(q, k, v)[1]
    assert weights_memory(3, 5, dtype) == weights.nelement() * weights.element_size()


def test_cost_grows_with_the_square() -> None:
    sizes = torch.tensor([64.0, 128, 256, 512, 1024]).double()
    for cost in (
        lambda T: count_multiplications(T, T, 64, 32),
        lambda T: weights_memory(T, T, torch.half),
    ):
        costs = torch.tensor([float(cost(int(T))) for T in sizes]).double()
        assert float(fit_exponent(sizes, costs)) == pytest.approx(2)


def test_the_exponent_equals_numpys_for_points_off_the_line() -> None:
    numpy = pytest.importorskip("numpy")
    sizes, costs = normal(2, 9).exp()
    expected = numpy.polyfit(sizes.log().numpy(), costs.log().numpy(), 1)[0]
    assert float(fit_exponent(sizes, costs)) == pytest.approx(float(expected))
    assert float(fit_exponent(sizes, 7 * sizes**-1.5)) == pytest.approx(-1.5)


def test_a_row_of_zeros_and_a_row_with_a_negative_sum_in_sum_mode() -> None:
    X, table = normal(3, 2), torch.tensor([[0.0, 0, 0], [-1, -2, 1], [1, 1, 2]]).double()
    out = basic_self_attention(X, "sum", table)
    assert torch.equal(out[0], torch.zeros(2).double())
    assert torch.allclose(out[1], (X[0] + 2 * X[1] - X[2]) / 2)
    padded = X.clone()
    padded[1] = 0
    padded.requires_grad_()
    (gradient,) = torch.autograd.grad(basic_self_attention(padded, "sum").sum(), padded)
    assert gradient.isfinite().all()


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(ValueError, match="'Softmax'"):
        basic_self_attention(normal(3, 2), "Softmax")


@pytest.mark.parametrize("masked", [False, True])
def test_float16_scores_may_overflow_before_the_root(masked: bool) -> None:
    q, k, v = (x.half() for x in qkv_of(2, 8, 9, 64, 5))
    mask = torch.ones(8, 9, dtype=torch.bool) if masked else None
    q, k = 80 * q, 80 * k
    assert (q @ k.mT).isinf().any()
    out, weights = scaled_dot_product_attention(q, k, v, mask)
    expected = torch.nn.functional.scaled_dot_product_attention(q.double(), k.double(), v.double())
    assert weights.isfinite().all()
    assert torch.allclose(out.double(), expected, atol=0.3)
    assert torch.allclose(weights.sum(-1), torch.ones(2, 8).half(), atol=2e-3)


@pytest.mark.parametrize("mask", [None, torch.ones(3, 0, dtype=torch.bool)])
def test_without_any_key_outputs_are_zeros(mask: Tensor | None) -> None:
    q, k, v = normal(2, 3, 4), normal(2, 0, 4), normal(2, 0, 11)
    out, weights = scaled_dot_product_attention(q, k, v, mask)
    assert torch.equal(out, torch.zeros(2, 3, 11).double())
    assert weights.shape == (2, 3, 0)


def test_the_weights_alone_equal_those_of_the_pair() -> None:
    q, k, v = qkv_of(2, 3, 5, 4, 11)
    mask = some_keys(2, 3, 5)
    for given in (None, mask):
        assert torch.equal(
            attention_weights(q, k, given), scaled_dot_product_attention(q, k, v, given)[1]
        )
