"""pretrain: new batches in every epoch, the loss of a batch, two scores, and a trained BERT."""

from __future__ import annotations

from collections import namedtuple

import torch
from safetensors.torch import load_file
from torch import nn

from attnlab.bert import Bert, BertConfig
from attnlab.bert_training import (
    PretrainingBatch,
    pretraining_batches,
    pretraining_loss,
    pretraining_scores,
)
from attnlab.checking.judges import Close
from attnlab.data.topics import CLS, MASK, PAD, SEP, VOCABULARY, documents
from attnlab.pretraining import make_nsp, mask_tokens
from gradekit.exercise import Exercise

from .bands import MLM, NSP

EQUAL_LENGTHS = "all five tensors have as many rows, so they are cut into as many pieces"
TWO_AXES = "there are two axes, so the last one is axis 1"

exercise = Exercise(
    pretraining_batches,
    pretraining_loss,
    pretraining_scores,
    uses=[mask_tokens, make_nsp, Bert],
    saves=["bert.safetensors"],
    equivalent={
        "pretraining_batches: `zip(*parts, strict=True)` → `zip(*parts)` in "
        "`return [PretrainingBatch(*rows) for rows in zip(*parts, strict=True)]`": EQUAL_LENGTHS,
        "pretraining_batches: `True` → `False` in "
        "`return [PretrainingBatch(*rows) for rows in zip(*parts, strict=True)]`": EQUAL_LENGTHS,
        "pretraining_scores: `-1` → `1` in `log_p = out.mlm_logits[hidden].log_softmax(-1)`": (
            TWO_AXES
        ),
        "pretraining_scores: `-1` → `1` in `losses.append(-log_p.gather(-1, batch.labels[hidden]"
        "[:, None]))`": TWO_AXES,
        "pretraining_scores: `-1` → `1` in "
        "`right.append(out.nsp_logits.argmax(-1) == batch.follows)`": TWO_AXES,
    },
)

V = 13
Output = namedtuple("Output", "hidden mlm_logits nsp_logits")
ROUNDED = Close(atol=1e-5, rtol=1e-5)  # sums in float32 are right, too


def some_documents(draw, lengths, words=4):
    """Documents of so many sentences; every sentence of words that no other sentence has."""
    order = 4 + draw.permutation(len(VOCABULARY) - 4)
    parts = order[: words * sum(lengths)].view(-1, words)
    return [list(part) for part in parts.split(lengths)]


def restored(batch):
    """The rows of a batch before words were hidden."""
    return torch.where(batch.labels < 0, batch.ids, batch.labels)


def as_sentences(row):
    """[CLS] first [SEP] second [SEP] as its two sentences; None if it is not of this form."""
    ids = [token for token in row.tolist() if token != PAD]
    ends = [place for place, token in enumerate(ids) if token == SEP]
    if len(ends) != 2 or ids[0] != CLS or ends[1] != len(ids) - 1:
        return None
    return tuple(ids[1 : ends[0]]), tuple(ids[ends[0] + 1 : -1])


def pairs_in(batches, sentences):
    """All pairs of an epoch, in order: numbers of the two sentences, and `follows`."""
    numbers = {tuple(s.tolist()): n for n, s in enumerate(sentences)}
    found = []
    for batch in batches:
        for row, follows in zip(restored(batch), batch.follows.tolist(), strict=True):
            first, second = as_sentences(row) or (None, None)
            found.append((numbers.get(first), numbers.get(second), follows))
    return found


def share_of(parts):
    """How many of some booleans are True: all, some or none."""
    values = torch.cat(parts)
    return "all" if values.all() else "some" if values.any() else "none"


@exercise.check(points=1)
def pairs_of_an_epoch(lab, draw):
    """All pairs of the epoch are in batches of `size` rows, with segments, filling and answers."""
    lengths = draw.integers(3, 9, 3).tolist()
    docs = some_documents(draw, lengths)
    docs[1] = [sentence[:2] for sentence in docs[1]]  # short sentences, so that rows are filled up
    batches = lab.pretraining_batches(docs, 5, draw.generator())
    found = pairs_in(batches, [sentence for doc in docs for sentence in doc])
    # Sentences are numbered through all documents; the last one of each has no next one.
    lasts = [sum(lengths[: n + 1]) - 1 for n in range(3)]
    with_next = [n for n in range(sum(lengths)) if n not in lasts]
    truly = [first is not None and second == first + 1 for first, second, _ in found]
    segments = [
        torch.arange(b.ids.shape[1]) > (b.ids == SEP).int().argmax(1)[:, None] for b in batches
    ]
    return {
        "rows of the batches": [len(b.ids) for b in batches],
        "dtypes": [str(tensor.dtype) for tensor in batches[0]],
        "each sentence with a next one comes first once": sorted(
            str(first) for first, _, _ in found
        ) == sorted(map(str, with_next)),
        "`follows` is 1 exactly if the second is the next": [
            bool(follows) == true for (_, _, follows), true in zip(found, truly, strict=True)
        ],
        "filling is valid": share_of([b.valid[restored(b) == PAD] for b in batches]),
        "tokens are valid": share_of([b.valid[restored(b) != PAD] for b in batches]),
        "segments are 1 in the second sentence alone": [
            bool(((b.segments == 1) == (after & (restored(b) != PAD))).all())
            for b, after in zip(batches, segments, strict=True)
        ],
    }  # fmt: skip


@exercise.check(points=1)
def new_in_every_epoch(lab, draw):
    """The next call with the generator makes other pairs and hides other words."""
    docs = some_documents(draw, (12, 12, 12))
    sentences = [sentence for doc in docs for sentence in doc]

    def epoch(generator):
        found = lab.pretraining_batches(docs, 7, generator)
        chosen = torch.cat([b.labels >= 0 for b in found])  # (pairs, T)
        words = torch.cat([b.labels.flatten() for b in found])
        return pairs_in(found, sentences), chosen.tolist(), words.tolist()

    before = torch.random.get_rng_state()
    generator, same = draw.generator(), torch.Generator()
    same.set_state(generator.get_state())
    first, second, again = epoch(generator), epoch(generator), epoch(same)
    return {
        "the second epoch has other pairs": {*first[0]} != {*second[0]},
        "and in another order": [a for a, _, _ in first[0]] != [a for a, _, _ in second[0]],
        "words are hidden at other places": first[1] != second[1],
        "some tokens are not chosen": not all(map(all, first[1])),
        "a generator in the same state makes the same batches": first == again,
        "torch's own random state is unchanged": bool(
            (torch.random.get_rng_state() == before).all()
        ),
    }  # fmt: skip


@exercise.check(points=0.5, hidden=True)
def hidden_words(lab, draw):
    """Words are chosen with the usual p, among all words and no others; any `size` is right."""
    docs = documents(301, generator=draw.generator())
    batches = lab.pretraining_batches(docs, 400, draw.generator())
    labels = torch.cat([b.labels.flatten() for b in batches])
    seen = torch.cat([b.ids.flatten() for b in batches])
    before = torch.cat([restored(b).flatten() for b in batches])
    words, chosen = before > MASK, labels >= 0
    shown, changed = seen[chosen], seen[chosen] != before[chosen]
    share = float(chosen[words].double().mean())
    share_hidden = float((shown == MASK).double().mean())
    few = some_documents(draw, (3, 3))
    # Two of the five topics, and some short sentences, so that rows are filled up.
    two = documents(1201, generator=draw.generator())[:2]
    two = [[s[: 1 + n % 4] for n, s in enumerate(document)] for document in two]
    two = lab.pretraining_batches(two, 400, draw.generator())
    random_words = torch.cat([b.ids[(b.ids != restored(b)) & (b.ids != MASK)] for b in two])
    # 12,000 words: the bounds are six standard deviations away.
    return {
        "about 15 % of the words are chosen": abs(share - 0.15) < 0.02,
        "about 80 % of them are hidden by [MASK]": abs(share_hidden - 0.8) < 0.06,
        "no special token is chosen": bool((~chosen[~words]).all()),
        "words of all topics are chosen": ((labels[chosen].unique() - 4) // 30).unique().tolist(),
        "other words are shown, too": bool((changed & (shown != MASK)).any()),
        "filling is chosen": any(bool((b.labels == PAD).any()) for b in two),
        "of all topics, in two documents as well": len(((random_words - 4) // 30).unique()),
        "all tokens are in the vocabulary": bool((seen < len(VOCABULARY)).all()),
        "labels elsewhere": labels[~chosen].unique().tolist(),
        "what is not chosen is shown": bool((seen[~chosen] == before[~chosen]).all()),
        "rows for other sizes": {
            str(size): [len(b.ids) for b in lab.pretraining_batches(few, size, draw.generator())]
            for size in (1, 2, 3, 4, 100)
        },
    }  # fmt: skip


class Reader(nn.Module):
    """Logits that depend on all that it is given; it records how it was called."""

    def __init__(self, draw, size=V):
        super().__init__()
        self.words = nn.Parameter(draw.normal(size, size))
        self.pair = nn.Parameter(draw.normal(size, 2))
        self.dropout = nn.Dropout(0.5)
        self.calls = []

    def forward(self, ids, segments=None, valid=None):
        if segments is None:
            segments = torch.zeros_like(ids)
        if valid is None:
            valid = torch.ones_like(ids).bool()
        self.calls.append([list(ids.shape), self.training, torch.is_grad_enabled()])
        weight = (1 + segments) * valid  # (B, T)
        hidden = 2 * self.words[ids] * weight[..., None]  # (B, T, V)
        mlm_logits = hidden + hidden.sum(1, keepdim=True)
        pair = (self.pair[ids] * weight[..., None]).sum(1)  # (B, 2)
        return Output(hidden, self.dropout(mlm_logits), self.dropout(pair))


def a_batch(draw, rows, T=7, size=V, asked=None):
    """Rows with hidden words: some places of each row have labels, and [MASK] at most of them."""
    ids = draw.integers(4, size, rows, T)
    labels = draw.integers(4, size, rows, T)
    chosen = draw.uniform(rows, T) < 0.6 if asked is None else torch.zeros(rows, T).bool()
    for row, count in enumerate(asked or ()):
        chosen[row, draw.permutation(T)[:count]] = True
    masked = chosen & (draw.uniform(rows, T) < 0.7)
    valid = torch.arange(T) < draw.integers(max(1, T - 1), T + 1, rows)[:, None]
    segments = (torch.arange(T) > draw.integers(1, max(2, T - 1), rows)[:, None]).long()
    return PretrainingBatch(
        torch.where(masked, MASK, ids),
        segments,
        valid,
        torch.where(chosen, labels, -100),
        draw.integers(0, 2, rows),
    )


def losses_of(lab, model, batch):
    """The two parts of the loss by their names, and the type of what is returned."""
    mlm, nsp = lab.pretraining_loss(model, batch)
    return {"mlm": mlm, "nsp": nsp}


@exercise.check(points=1.5)
def chosen_tokens_only(lab, draw):
    """Each part is a mean: over the tokens with a label, and over the pairs."""
    model = Reader(draw).eval()
    even, uneven = a_batch(draw, 3, asked=(2, 2, 2)), a_batch(draw, 4, asked=(1, 5, 3, 0))
    other = torch.where(uneven.labels < 0, draw.integers(0, V, 4, 7), -100)
    return {
        "rows with 2 labels each": losses_of(lab, model, even),
        "rows with 1, 5, 3 and 0 labels": losses_of(lab, model, uneven),
        "no token was chosen": losses_of(lab, model, a_batch(draw, 3, asked=(0, 0, 0))),
        "the other tokens are chosen": losses_of(lab, model, uneven._replace(labels=other)),
    }


@exercise.check(points=0.5)
def one_call(lab, draw):
    """The model is called once for both parts, and its mode stays."""
    model, batch = Reader(draw), a_batch(draw, 3)
    seen = {}
    for training in (True, False):
        model.train(mode=training).calls.clear()
        parts = losses_of(lab, model, batch)
        seen["in training" if training else "in evaluation"] = {
            "calls: shape, training mode, gradients": list(model.calls),
            "mode afterwards": model.training,
            "shapes": [list(part.shape) for part in parts.values()],
        }
    return seen


@exercise.check(points=0.5, hidden=True)
def gradients_and_sizes(lab, draw):
    """Gradients reach all parameters; large logits are safe; any sizes; the batch stays."""
    model, batch = Reader(draw).eval(), a_batch(draw, 4)
    before = [tensor.clone() for tensor in batch]
    sum(losses_of(lab, model, batch).values()).backward()
    with torch.no_grad():
        large = Reader(draw).eval()
        for parameter in large.parameters():
            parameter.mul_(2e3)
        seen = losses_of(lab, large, batch)

    def ask(B, T):
        asked = [(row + 1) % T + (T == 1) for row in range(B)]
        return losses_of(lab, model, a_batch(draw, B, T, asked=asked))

    return {
        "gradients": {name: parameter.grad for name, parameter in model.named_parameters()},
        "logits in the thousands": seen,
        "sizes": {f"B = {B}, T = {T}": ask(B, T) for B, T in ((1, 5), (5, 5), (2, 3), (13, 2))},
        "the batch is unchanged": all(map(torch.equal, before, batch)),
    }


def scores_of(lab, model, batches):
    """The two scores by their names."""
    mlm, nsp = lab.pretraining_scores(model, batches)
    return {"mlm": mlm, "nsp": nsp}


@exercise.check(points=1, judge=ROUNDED)
def masked_places_only(lab, draw):
    """The MLM loss is that of the places with [MASK]; dropout is off while it is measured."""
    batches = [a_batch(draw, 40)]
    model = Reader(draw).train()
    return {
        "scores of a model in training mode": scores_of(lab, model, batches),
        "its mode afterwards": "training" if model.training else "evaluation",
    }


@exercise.check(points=1, hidden=True, judge=ROUNDED)
def several_batches_and_modes(lab, draw):
    """Counts over all batches together; no gradients; the mode stays; plain numbers."""
    batches = [a_batch(draw, rows, T) for rows, T in ((30, 7), (4, 9), (11, 5))]
    model = Reader(draw)
    seen = {}
    for training in (True, False):
        model.train(mode=training).calls.clear()
        scores = scores_of(lab, model, iter(batches))
        seen["training" if training else "evaluation"] = {
            "scores": scores,
            "types": {name: type(score).__name__ for name, score in scores.items()},
            "mode and gradients of the calls": [call[1:] for call in model.calls],
            "mode afterwards": model.training,
        }
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2e3)
    seen["logits in the thousands"] = scores_of(lab, model, batches[1:])
    return seen


@exercise.check(points=1, hidden=True, chained=True)
def all_of_your_steps(lab, draw):
    """Learns one batch by heart with everything that you wrote in this lab so far."""
    cfg = BertConfig(len(VOCABULARY), 24, 2, 48, 1, max_len=11, dropout=0.0)
    model = lab.Bert(cfg)
    sentences = int(draw.integers(5, 12))
    docs = documents(sentences, generator=draw.generator())
    (batch,) = lab.pretraining_batches(docs, 100, draw.generator())
    optimizer = torch.optim.Adam(model.parameters(), 0.02)
    for _ in range(40):
        optimizer.zero_grad()
        mlm, nsp = lab.pretraining_loss(model, batch)
        (mlm + nsp).backward()
        optimizer.step()
    after = scores_of(lab, model, [batch])
    return {
        "pairs in the batch": len(batch.ids),
        "MLM loss below 1.5": after["mlm"] < 1.5,
        "four of five pairs are judged correctly": after["nsp"] >= 0.8,
    }


@exercise.check(points=1.5, hidden=True, judge=NSP)
def next_sentences(lab, draw):
    """Your saved model judges at least 97 of 100 new pairs correctly; 85 earn half."""
    return lab.saved_weights("bert.safetensors")


@exercise.check(points=1.5, hidden=True, judge=MLM)
def hidden_words_found(lab, draw):
    """Your saved model has an MLM loss of at most 3.6 at new places with [MASK]; 4.2 earns half."""
    return lab.saved_weights("bert.safetensors")


def reference_weights():
    """The reference's own weights; other files of weights are made from them."""
    return load_file(exercise.path.parent / "bert.safetensors")
