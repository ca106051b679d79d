"""Lab 2's references, compared with torch's modules and with the lecture's example."""

from __future__ import annotations

import json
import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd import gradcheck
from torch.nn.utils.rnn import pad_sequence

from attnlab.data.dates import BOS, EOS, PAD, Batch
from attnlab.models.dates_translator import Encoder, Translator
from attnlab.seq2seq import (
    AdditiveScore,
    AttentionDecoderCell,
    attend,
    pad_batch,
    teacher_forced_loss,
    train_translator,
)
from demo.course_folder import REPOSITORY
from gradekit.course import load_course
from gradekit.exercise import Band, ScoreBands
from gradekit.exercise.loader import load_lab

TRAINED = REPOSITORY / "autograder" / "exercises" / "lab02" / "train_translator"


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


def bands() -> tuple[Band, ...]:
    """The bands by which the exercise grades saved weights."""
    exercise = load_lab(load_course(REPOSITORY), "lab02")["train_translator"]
    (judge,) = (check.judge for check in exercise.checks if isinstance(check.judge, ScoreBands))
    return tuple(judge.bands)


def normal(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64)


def small_translator() -> Translator:
    cell = AttentionDecoderCell(vocab=9, d_embed=5, d_state=7, d_hidden=6, d_score=4)
    return Translator(Encoder(11, 3, 6), cell, d_hidden=6, d_state=7).double()


def small_batch() -> Batch:
    source, _, source_mask = pad_batch([[3, 4, 5, 6], [7, 8], [9, 10, 3]], PAD)
    target, _, target_mask = pad_batch([[BOS, 3, EOS], [BOS, 4, 5, 6, 7, EOS], [BOS, EOS]], PAD)
    return Batch(source, source_mask, target, target_mask)


def test_padding_equals_torchs() -> None:
    rows = [[3, 9, 4], [], [5], [7, 3, 3, 8, 6]]
    ids, lengths, mask = pad_batch(rows, 9)
    theirs = pad_sequence([torch.tensor(row, dtype=torch.int64) for row in rows], True, 9)
    assert torch.equal(ids, theirs)
    assert ids.dtype == lengths.dtype == torch.int64
    assert lengths.tolist() == [3, 0, 1, 5]
    assert torch.equal(mask.sum(1), lengths)
    assert mask.dtype == torch.bool


def test_the_hand_example() -> None:
    score = AdditiveScore(d_state=1, d_hidden=2, d_score=2).double()
    with torch.no_grad():
        score.W.weight.copy_(torch.tensor([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]))
        score.a.weight.copy_(torch.tensor([[1.0, -1.0]]))
    hidden = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]]).double()
    scores = score(torch.ones(1, 1).double(), hidden)
    context, weights = attend(scores, hidden)
    assert scores[0].tolist() == pytest.approx([0, 0.964028, 0.202433], abs=5e-7)
    assert weights[0].tolist() == pytest.approx([0.206330, 0.541045, 0.252626], abs=5e-7)
    assert context[0].tolist() == pytest.approx([0.458955, 0.793670], abs=1e-6)


def test_the_score_equals_the_papers_formula() -> None:
    score = AdditiveScore(3, 7, 4).double()
    state, hidden = normal(2, 3), normal(2, 5, 7)
    W, a = score.W.weight, score.a.weight[0]
    for b in range(2):
        for t in range(5):
            one = a @ torch.tanh(W @ torch.cat([state[b], hidden[b, t]]))
            assert torch.allclose(score(state, hidden)[b, t], one)
    state.requires_grad_()
    hidden.requires_grad_()
    assert gradcheck(score, (state, hidden))


def test_attend_equals_torchs_attention() -> None:
    # One query of zeros plus the scores as an additive mask: softmax(0 + scores) @ hidden.
    scores, hidden = normal(3, 5), normal(3, 5, 7)
    mask = torch.arange(5) < torch.tensor([2, 5, 3])[:, None]
    bias = scores.masked_fill(~mask, -math.inf)[:, None]
    theirs = F.scaled_dot_product_attention(torch.zeros_like(hidden[:, :1]), hidden, hidden, bias)
    context, weights = attend(scores, hidden, mask)
    assert torch.allclose(context, theirs[:, 0])
    assert torch.allclose(weights.sum(1), torch.ones(3).double())
    scores.requires_grad_()
    assert gradcheck(lambda s, h: attend(s, h, mask), (scores, hidden))


def test_a_sentence_of_padding_gets_zeros_and_no_gradient() -> None:
    scores = normal(2, 4).requires_grad_()
    mask = torch.tensor([[True, True, False, False], [False] * 4])
    context, weights = attend(scores, normal(2, 4, 3), mask)
    assert not context[1].any()
    assert not weights[1].any()
    context.sum().backward()
    assert scores.grad is not None
    assert bool(scores.grad.isfinite().all())
    assert not scores.grad[1].any()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_attend_keeps_the_dtype(dtype: torch.dtype) -> None:
    mask = torch.tensor([[True, False], [False, False]])
    context, weights = attend(normal(2, 2).to(dtype), normal(2, 2, 3).to(dtype), mask)
    assert context.dtype == weights.dtype == dtype
    assert bool(context.isfinite().all())


def test_the_cell_equals_torchs_gru() -> None:
    cell = AttentionDecoderCell(9, 5, 3, 7, 4).double()
    gru = nn.GRU(12, 3, batch_first=True).double()
    with torch.no_grad():
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
            getattr(gru, f"{name}_l0").copy_(getattr(cell.gru, name))
    state, hidden, tokens = normal(2, 3), normal(2, 6, 7), torch.tensor([[1, 4], [8, 2]])
    mask = torch.arange(6) < torch.tensor([6, 4])[:, None]
    before = state
    for y_prev in tokens.T:
        context, weights = attend(cell.score(before, hidden), hidden, mask)
        x = torch.cat([cell.embedding(y_prev), context], -1)
        _, theirs = gru(x[:, None], before[None])
        logits, ours, seen = cell(y_prev, before, hidden, mask)
        assert torch.allclose(ours, theirs[0])
        assert torch.allclose(logits, cell.out(theirs[0]))
        assert torch.equal(seen, weights)
        before = ours


def test_the_loss_equals_torchs() -> None:
    model, batch = small_translator(), small_batch()
    hidden, state = model.encode(batch.source, batch.source_mask)
    steps = []
    for t in range(batch.target.shape[1] - 1):
        logits, state, _ = model.cell(batch.target[:, t], state, hidden, batch.source_mask)
        steps.append(logits)
    theirs = F.cross_entropy(
        torch.stack(steps, 1).transpose(1, 2), batch.target[:, 1:], ignore_index=PAD
    )
    loss = teacher_forced_loss(model, batch)
    assert torch.allclose(loss, theirs)
    assert loss.shape == ()


def test_padding_does_not_change_the_loss() -> None:
    model, batch = small_translator(), small_batch()
    rows = [
        teacher_forced_loss(model, Batch(s[None, :n], sm[None, :n], t[None, :m], tm[None, :m]))
        * (m - 1)
        for s, sm, t, tm, n, m in zip(*batch, (4, 2, 3), (3, 6, 2), strict=True)
    ]
    whole = teacher_forced_loss(model, batch)
    assert torch.allclose(torch.stack(rows).sum() / 8, whole)


def test_a_training_step_equals_a_hand_written_one() -> None:
    ours, theirs, batch = small_translator(), small_translator(), small_batch()
    theirs.load_state_dict(ours.state_dict())
    optimizer = torch.optim.SGD(ours.parameters(), lr=0.3)
    (loss,) = train_translator(ours, [batch], optimizer, max_norm=0.1)
    expected = teacher_forced_loss(theirs, batch)
    grads = torch.autograd.grad(expected, list(theirs.parameters()))
    norm = torch.cat([grad.flatten() for grad in grads]).norm()
    assert norm > 0.1
    assert loss == pytest.approx(expected.item(), abs=1e-12)
    for now, then, grad in zip(ours.parameters(), theirs.parameters(), grads, strict=True):
        assert torch.allclose(now, then - 0.3 * 0.1 * grad / norm, atol=1e-7)


def test_a_few_steps_learn_three_sentences() -> None:
    model, batch = small_translator().float(), small_batch()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    losses = train_translator(model, [batch] * 60, optimizer)
    assert losses[0] == pytest.approx(math.log(9), abs=0.5)
    assert losses[-1] < 0.1


def test_the_bands_equal_the_measured_ones() -> None:
    measured = json.loads((TRAINED / "bands.json").read_text("utf-8"))
    runs = measured["runs"]
    assert len({run["seed"] for run in runs}) >= 10
    scores = torch.tensor([run["exact_match"] for run in runs], dtype=torch.float64)
    assert measured["mean"] == pytest.approx(scores.mean().item(), abs=1e-5)
    assert measured["sd"] == pytest.approx(scores.std().item(), abs=1e-5)
    assert measured["mean_minus_4_sd"] == pytest.approx(
        (scores.mean() - 4 * scores.std()).item(), abs=1e-4
    )
    best, *others = bands()
    assert best.share == 1
    assert best.low <= measured["mean_minus_4_sd"]
    assert [band.low for band in (best, *others)] == [0.98, 0.90, 0.80]
    assert max(run["cpu_seconds"] for run in runs) <= 60


def test_an_allowed_position_may_have_the_lowest_score() -> None:
    scores = torch.tensor([[torch.finfo(torch.float64).min, 0.0]], dtype=torch.float64)
    _, weights = attend(scores, normal(1, 2, 3), torch.tensor([[True, False]]))
    assert weights.tolist() == [[1.0, 0.0]]
