"""The retrieval model: two heads learn what one head cannot, with the same number of weights."""

from __future__ import annotations

import pytest
import torch
from safetensors.torch import load_file

from attnlab.data.retrieval import questions
from attnlab.models.retriever import (
    D_MODEL,
    FEATURES,
    Retriever,
    share_right,
    shares_right,
    train_retriever,
)
from attnlab.multihead import MultiHeadAttention, ablate_head
from attnlab.retrieval import answer_loss, weight_on
from demo.course_folder import REPOSITORY


def model_with(num_heads: int) -> Retriever:
    torch.manual_seed(0)
    size = FEATURES // num_heads
    return Retriever(MultiHeadAttention(D_MODEL, num_heads, d_k=size, d_v=size))


def test_models_with_one_and_two_heads_have_the_same_size() -> None:
    sizes = [sum(p.numel() for p in model_with(heads).parameters()) for heads in (1, 2, 4)]
    assert len(set(sizes)) == 1


def test_two_heads_learn_in_a_few_steps_what_one_head_cannot() -> None:
    asked = questions("validation", 1000)
    models = {heads: model_with(heads) for heads in (1, 2)}
    for model in models.values():
        losses = train_retriever(model, answer_loss, steps=250, lr=0.02)
        assert len(losses) == 250
        assert losses[0] == pytest.approx(2.3, abs=0.5)
    assert float(share_right(models[2], asked)[2]) > 0.98
    assert float(share_right(models[1], asked)[2]) < 0.25
    logits, weights = models[2](asked)
    assert (logits.shape, weights.shape) == ((1000, 2, 10), (1000, 2, 8))
    table = weight_on(weights, asked.places)
    assert float(table.detach().amax(1).min()) > 0.8


def saved(num_heads: int) -> Retriever:
    """The lab's own solution."""
    folder = REPOSITORY / "autograder" / "exercises" / "lab04" / "retrieval"
    name = {1: "retrieval_1_head", 2: "retrieval_2_heads"}[num_heads]
    model = model_with(num_heads)
    model.load_state_dict(load_file(folder / f"{name}.safetensors"))
    return model.eval()


def test_the_solutions_models_have_the_shares_that_lab_4_tells() -> None:
    asked = questions("validation", 2000)
    shares = shares_right(saved(1), saved(2), ablate_head, asked)
    assert shares is not None
    assert sorted(shares["1 head"].tolist()) == pytest.approx([0.10, 0.10, 0.995], abs=0.006)
    assert shares["2 heads"].tolist() == [1, 1, 1]
    lost = [shares[f"2 heads,\nno head {head}"][:2] for head in range(2)]
    for both in lost:
        assert sorted(both.tolist()) == pytest.approx([0.1, 1.0], abs=0.01)
    asks_nothing = shares["2 heads, head 0\nasks nothing"][:2]
    assert torch.equal(asks_nothing.argmin(), lost[0].argmin()), "its digit is lost"
    assert float(asks_nothing.min()) < 0.3
    on_boxes = weight_on(saved(1)(asked)[1], asked.places).detach()
    # The numbers that the lab's first figure (plots/heads.py) draws.
    assert on_boxes.flatten().tolist() == pytest.approx([0.43, 0.48], abs=0.01)
    on_boxes = weight_on(saved(2)(asked)[1], asked.places).detach()
    assert on_boxes.amax(1).tolist() == pytest.approx([0.98, 0.98], abs=0.01)
    assert on_boxes.amin(1).tolist() == pytest.approx([0, 0], abs=0.01)
    assert sorted(on_boxes.argmax(1).tolist()) == [0, 1], "each box has a head"


def test_without_a_model_there_are_no_shares() -> None:
    assert shares_right(None, saved(2), ablate_head, questions("validation", 10)) is None


@pytest.mark.slow
def test_more_features_do_not_help_one_head() -> None:
    """What lab 4 suggests to try: d_k and d_v of 64."""
    torch.manual_seed(4)
    model = Retriever(MultiHeadAttention(D_MODEL, 1, d_k=64, d_v=64))
    train_retriever(model, answer_loss)
    assert float(share_right(model, questions("validation", 1000))[2]) < 0.2
