"""MultiHeadAttention: several attentions side by side, and a layer that mixes what they find."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import nn

from attnlab.attention import scaled_dot_product_attention
from attnlab.checking.torch_attention import spellings
from attnlab.checking.weights import give_weights, weight_gradients
from attnlab.multihead import MultiHeadAttention, merge_heads, split_heads
from gradekit.exercise import Exercise

exercise = Exercise(
    MultiHeadAttention,
    uses=[split_heads, merge_heads],
    forbids=[
        "torch.nn.functional.multi_head_attention_forward",
        "torch.nn.functional.scaled_dot_product_attention",
    ],
)

SPELLINGS = spellings()


def drawn_weights(draw, d_model=10, num_heads=3, d_k=4, d_v=5, bias=True):
    """Weights for the four layers, by the names of the task."""
    q, v = num_heads * d_k, num_heads * d_v
    sizes = {"q_proj": (q, d_model), "k_proj": (q, d_model), "v_proj": (v, d_model)}
    weights = {}
    for name, (rows, columns) in {**sizes, "out_proj": (d_model, v)}.items():
        weights[f"{name}.weight"] = 0.5 * draw.normal(rows, columns)
        if bias:
            weights[f"{name}.bias"] = draw.normal(rows)
    return weights


def built(lab, weights, d_model=10, num_heads=3, d_k=4, d_v=5, **options):
    """A student's module with given weights, not in training."""
    model = lab.MultiHeadAttention(d_model, num_heads, d_k=d_k, d_v=d_v, **options).double()
    give_weights(model, weights, SPELLINGS)
    return model.eval()


def named(answer):
    """What a call with need_weights=True returned, by name where it is a pair."""
    if isinstance(answer, tuple) and len(answer) == 2:
        return {"output": answer[0], "weights": answer[1]}
    return answer


def shape(out):
    return list(out.shape) if isinstance(out, torch.Tensor) else out


def any_mask(draw, *shape):
    """A random mask in which every query may attend to something, except the second one."""
    mask = draw.uniform(*shape) < 0.6
    mask[..., 0] = True
    if shape[-2] > 1:
        mask[..., 1, :] = False
    return mask


@exercise.check(points=1)
def shapes_and_dtype(lab, draw):
    """The output comes alone, or with each head's weights if you ask; the dtype is kept."""
    model = lab.MultiHeadAttention(12, 3)
    q, k = draw.normal(2, 4, 12).float(), draw.normal(2, 7, 12).float()
    out = model(q, k, k)
    both = named(model(q, k, k, need_weights=True))
    return {
        "shape of the output": shape(out),
        "dtype": str(getattr(out, "dtype", type(out).__name__)).removeprefix("torch."),
        "with need_weights, shape": {name: shape(part) for name, part in both.items()}
        if isinstance(both, dict)
        else both,
    }


@exercise.check(points=2)
def parameters(lab, draw):
    """Has as many parameters as four layers have, for any sizes, with and without bias."""
    d_k, d_v = draw.integers(5, 10, 2).tolist()
    sizes = {
        "d_model 12, 3 heads": ((12, 3), {}),
        "d_model 12, 3 heads, no bias": ((12, 3), {"bias": False}),
        f"d_model 12, 3 heads, d_k {d_k}": ((12, 3), {"d_k": d_k}),
        f"d_model 12, 3 heads, d_v {d_v}": ((12, 3), {"d_v": d_v}),
        "d_model 10, 3 heads, d_k 4, d_v 5": ((10, 3), {"d_k": 4, "d_v": 5}),
    }
    return {
        name: sum(p.numel() for p in lab.MultiHeadAttention(*given, **others).parameters())
        for name, (given, others) in sizes.items()
    }


@exercise.check(points=3)
def self_attention(lab, draw):
    """A text that attends to itself: output and each head's weights, for given parameters."""
    model = built(lab, drawn_weights(draw))
    x = draw.strided(draw.normal(2, 6, 10))
    return named(model(x, x, x, need_weights=True))


@exercise.check(points=3)
def cross_attention(lab, draw):
    """Queries, keys and values of three different texts, with other keys than queries."""
    model = built(lab, drawn_weights(draw))
    q, k, v = draw.normal(2, 4, 10), draw.normal(2, 7, 10), draw.normal(2, 7, 10)
    others, more = draw.normal(2, 4, 10), draw.normal(2, 4, 10)
    return {
        "alone": model(q, k, v),
        "with the weights": named(model(q, k, v, need_weights=True)),
        "texts of one length": model(q, others, more),
        "other keys and values": model(q, draw.normal(2, 7, 10), draw.normal(2, 7, 10)),
    }


@exercise.check(points=1)
def looking_back(lab, draw):
    """With a mask (T, T) that lets each word look back only, it sees itself and those before."""
    model = built(lab, drawn_weights(draw))
    x = draw.normal(2, 6, 10)
    return named(model(x, x, x, torch.ones(6, 6).tril().bool(), need_weights=True))


@exercise.check(points=1.5)
def one_head(lab, draw):
    """With one head it is scaled dot-product attention between four layers."""
    weights = drawn_weights(draw, 10, 1, 4, 7)
    model = built(lab, weights, 10, 1, 4, 7)
    return model(draw.normal(3, 2, 10), draw.normal(3, 5, 10), draw.normal(3, 5, 10))


@exercise.check(points=1.5)
def all_parameters_alike(lab, draw):
    """With the sizes it chooses itself, and every parameter set to 0.1."""
    model = lab.MultiHeadAttention(12, 3).double().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(0.1)
    mask = (torch.arange(7) < 4).expand(5, 7)
    return model(draw.normal(2, 5, 12), draw.normal(2, 7, 12), draw.normal(2, 7, 12), mask)


@exercise.check(points=2, hidden=True)
def one_mask_for_all(lab, draw):
    """A mask (Lq, Lk) holds for every sentence and every head; nobody to attend to gives zeros."""
    model = built(lab, drawn_weights(draw))
    q, k, v = draw.normal(2, 4, 10), draw.normal(2, 7, 10), draw.normal(2, 7, 10)
    return {
        "with a mask": named(model(q, k, v, any_mask(draw, 4, 7), need_weights=True)),
        "afterwards without one": model(q, k, v),
    }


@exercise.check(points=2, hidden=True)
def masks_of_their_own(lab, draw):
    """Masks with a batch axis, an axis of heads, or both; what stands behind them has no part."""
    model = built(lab, drawn_weights(draw))
    q, k, v = draw.normal(2, 4, 10), draw.normal(2, 7, 10), draw.normal(2, 7, 10)
    padding = torch.arange(7) < torch.tensor([5, 3])[:, None]  # (B, Lk)
    k, v = k.masked_fill(~padding[..., None], 1e4), v.masked_fill(~padding[..., None], 1e6)
    shapes = {"(B, 1, Lq, Lk)": (2, 1, 4, 7), "(B, h, Lq, Lk)": (2, 3, 4, 7)}
    seen = {name: any_mask(draw, *s) & padding[:, None, None] for name, s in shapes.items()}
    seen = {"(B, 1, 1, Lk)": padding[:, None, None], **seen}
    return {
        name: named(model(q, k, v, mask=mask, need_weights=True)) for name, mask in seen.items()
    }


@exercise.check(points=3, hidden=True)
def gradients(lab, draw):
    """Gradients reach the three inputs and all parameters; the inputs stay as they were."""
    weights = drawn_weights(draw)
    model = built(lab, weights)
    q, k, v = draw.normal(2, 4, 10), draw.normal(2, 7, 10), draw.normal(2, 7, 10)
    mask = any_mask(draw, 2, 1, 4, 7)
    to_inputs = draw.gradients(lambda q, k, v: model(q, k, v, mask), q, k, v)
    (model(q, k, v, mask) * draw.normal(2, 4, 10)).sum().backward()
    return {
        "inputs": dict(zip("qkv", to_inputs, strict=True))
        if isinstance(to_inputs, list)
        else to_inputs,
        **weight_gradients(model, weights, SPELLINGS),
        "inputs as they were": draw.untouched(),
    }


@exercise.check(points=1.5, hidden=True)
def dropout_of_weights(lab, draw):
    """Drops attention weights while training, as many as asked, and nothing else."""
    weights = drawn_weights(draw, 20, 3, 2, 5)
    model = built(lab, weights, 20, 3, 2, 5, dropout=0.2).train()
    q, only = draw.normal(2, 50, 20), draw.normal(2, 1, 20)
    # With one key a head finds its one value, unless the weight was dropped.
    value = only @ weights["v_proj.weight"].mT + weights["v_proj.bias"]
    value = value.unflatten(-1, (3, 5)).expand(2, 50, 3, 5)
    out = model(q, only, only)
    back = torch.linalg.pinv(weights["out_proj.weight"]).mT
    found = ((out - weights["out_proj.bias"]) @ back).unflatten(-1, (3, 5))
    dropped = found.abs().amax(-1) < 1e-7
    kept = (found - value / 0.8).abs().amax(-1) < 1e-7
    share = float(dropped.double().mean())
    return {
        "a weight is dropped, or kept and scaled": bool((dropped | kept).all()),
        "about one of five is dropped": 0.08 < share < 0.32,
        "each head and query for itself": bool(
            (dropped.any(-1) & kept.any(-1)).any() and (dropped.any(1) & kept.any(1)).any()
        ),
        "two runs over one text differ": not torch.equal(model(q, q, q), model(q, q, q)),
        "zeros in the output": bool((out == 0).any()),
        "single features dropped": bool(((found.abs() < 1e-7) & ~dropped[..., None]).any()),
    }


@exercise.check(points=0.5, hidden=True)
def no_dropout_unless_training(lab, draw):
    """Drops nothing after `eval()`, nor while training unless asked to."""
    weights = drawn_weights(draw)
    x = draw.normal(2, 6, 10)
    return {
        "dropout=0.5, eval()": built(lab, weights, dropout=0.5).eval()(x, x, x),
        "no dropout given, train()": built(lab, weights).train()(x, x, x),
    }


@exercise.check(points=1, hidden=True)
def without_bias(lab, draw):
    """Works without biases, and sentences of a batch do not see each other."""
    model = built(lab, drawn_weights(draw, bias=False), bias=False)
    q, k = draw.normal(3, 4, 10), draw.normal(3, 7, 10)
    return {
        "together": model(q, k, k),
        "one by one": [model(q[i : i + 1], k[i : i + 1], k[i : i + 1]) for i in range(3)],
    }


@exercise.check(points=1, hidden=True)
def sizes_that_do_not_fit(lab, draw):
    """Raises ValueError where d_k or d_v cannot be chosen, and only there."""
    tries = {
        "both to be chosen": {},
        "d_v to be chosen": {"d_k": 4},
        "d_k to be chosen": {"d_v": 5},
        "both given": {"d_k": 4, "d_v": 5},
    }
    return {
        name: draw.raises(lab.MultiHeadAttention, 10, 3, **given) for name, given in tries.items()
    }


@exercise.check(points=2, hidden=True, chained=True)
def on_your_own_steps(lab, draw):
    """Works on your own split_heads and merge_heads."""
    x = draw.normal(2, 6, 12)
    model = built(lab, drawn_weights(draw))
    q, k = draw.normal(2, 4, 10), draw.normal(2, 7, 10)
    return {
        "split": lab.split_heads(x, 3),
        "there and back": lab.merge_heads(lab.split_heads(x, 3)),
        "attention": model(q, k, k, any_mask(draw, 4, 7)),
    }


class Variant(MultiHeadAttention):
    """The right class in pieces, so that a wrong version can change one."""

    def score(self, q, k):
        return q @ k.mT / math.sqrt(self.d_k)

    def weigh(self, scores, mask):
        if mask is None:
            return scores.softmax(-1)
        return scores.masked_fill(~mask, -1e300).softmax(-1).masked_fill(~mask, 0)

    def find(self, weights, v):
        return self.dropout(weights) @ v

    def mix(self, found):
        return self.out_proj(merge_heads(found))

    def project(self, q, k, v):
        return self.q_proj(q), self.k_proj(k), self.v_proj(v)

    def split(self, x):
        return split_heads(x, self.num_heads)

    def forward(self, q, k, v, mask=None, need_weights=False):
        q, k, v = (self.split(x) for x in self.project(q, k, v))
        weights = self.weigh(self.score(q, k), mask)
        out = self.mix(self.find(weights, v))
        return (out, weights) if need_weights else out


@exercise.mistake(
    "The scores are divided by √d_model. What grows with the number of terms in q · k, and how "
    "many terms has that sum in one head?"
)
class ScaledByModel(Variant):
    def score(self, q, k):
        return q @ k.mT / math.sqrt(self.out_proj.out_features)


@exercise.mistake(
    "The scores are divided by the root of h · d_k, the width before the split. How many terms has "
    "q · k in one head?"
)
class ScaledByAllHeads(Variant):
    def score(self, q, k):
        return q @ k.mT / math.sqrt(self.num_heads * self.d_k)


@exercise.mistake(
    "The scores are not divided by anything. Which part of lab 3's formula is missing?"
)
class NotScaled(Variant):
    def score(self, q, k):
        return q @ k.mT


@exercise.mistake(
    "The scores are scaled twice: once by you, and once more by the attention that you call."
)
class ScaledTwice(Variant):
    def score(self, q, k):
        return q @ k.mT / self.d_k


@exercise.mistake(
    "The heads' outputs are returned as they are, side by side. Which of the four layers has had "
    "nothing to do?"
)
class NoOutputProjection(Variant):
    def mix(self, found):
        return merge_heads(found)


@exercise.mistake(
    "A layer's weight is (out, in), and it is multiplied as x Wᵀ. Yours is applied untransposed in "
    "the last step, which only fits (wrongly) where h · d_v is d_model. What does `nn.Linear` do "
    "when you call it?"
)
class OutputProjectionTransposed(Variant):
    def mix(self, found):
        bias = 0 if self.out_proj.bias is None else self.out_proj.bias
        return merge_heads(found) @ self.out_proj.weight + bias


@exercise.mistake(
    "Queries and keys have changed places: queries go through the keys' layer and keys through the "
    "queries'. Follow the argument q through your first line."
)
class QueriesAndKeysSwapped(Variant):
    def project(self, q, k, v):
        return self.k_proj(q), self.q_proj(k), self.v_proj(v)


@exercise.mistake(
    "Keys and values have changed places: what should be looked at is fetched, and what should be "
    "fetched is looked at. As long as a text attends to itself, nobody sees it. In which order do "
    "your arguments come?"
)
class KeysAndValuesSwapped(Variant):
    def project(self, q, k, v):
        return self.q_proj(q), self.k_proj(v), self.v_proj(k)


@exercise.mistake(
    "Your values are made of the keys' text. As long as k and v are one text, nobody sees it. "
    "Where does the argument v go in?"
)
class ValuesMadeOfKeys(Variant):
    def project(self, q, k, v):
        return self.q_proj(q), self.k_proj(k), self.v_proj(k)


@exercise.mistake(
    "Keys and values are made of the queries' text, so the text always attends to itself. Where do "
    "the arguments k and v go in?"
)
class AlwaysSelfAttention(Variant):
    def project(self, q, k, v):
        return self.q_proj(q), self.k_proj(q), self.v_proj(q)


@exercise.mistake(
    "Where the two texts are of one length you take them for one text, and make the keys of the "
    "queries' text. Does equal length say anything about who is looked at?"
)
class KeysFromQueriesOfEqualLength(Variant):
    def project(self, q, k, v):
        return super().project(q, q if q.shape == k.shape else k, v)


@exercise.mistake(
    "Where the two texts are of one length you make the values of the keys' text. Does equal "
    "length say anything about what is fetched?"
)
class ValuesFromKeysOfEqualLength(Variant):
    def project(self, q, k, v):
        return super().project(q, k, k if q.shape == k.shape else v)


@exercise.mistake(
    "Values that happen to be as wide as all heads together are used as they are, not projected. "
    "What is the third layer for?"
)
class FittingValuesNotProjected(Variant):
    def project(self, q, k, v):
        fits = v.shape[-1] == self.num_heads * self.d_v
        return self.q_proj(q), self.k_proj(k), v if fits else self.v_proj(v)


@exercise.mistake(
    "Your layer remembers keys and values of an earlier call and uses them again. What of one call "
    "may have a part in the next, other than the parameters?"
)
class KeepsItsFirstText(Variant):
    def project(self, q, k, v):
        if getattr(self, "kept", (q, q))[0].shape != k.shape:
            self.kept = (k, v)
        return super().project(q, *self.kept)


@exercise.mistake(
    "Your layer remembers the mask of an earlier call and uses it where none is given. What does "
    "None mean in the task?"
)
class KeepsItsMask(Variant):
    def weigh(self, scores, mask):
        self.kept = getattr(self, "kept", None) if mask is None else mask
        return super().weigh(scores, self.kept)


@exercise.mistake(
    "The inputs are used as they are: no layer makes queries, keys and values of them. What would "
    "let two heads look for different things?"
)
class NoInputProjections(Variant):
    def project(self, q, k, v):
        size = self.num_heads * self.d_k, self.num_heads * self.d_v
        wide = [torch.cat([x, x], -1) for x in (q, k, v)]
        return wide[0][..., : size[0]], wide[1][..., : size[0]], wide[2][..., : size[1]]


class Sized(Variant):
    """Variant with layers of other sizes."""

    def __init__(self, d_model, num_heads, d_k=None, d_v=None, bias=True, dropout=0.0):
        super().__init__(d_model, num_heads, d_k, d_v, bias, dropout)
        self.resize(d_model, bias)

    def resize(self, d_model, bias):
        raise NotImplementedError


@exercise.mistake(
    "All heads share one small projection, so all of them see the same and say the same. How many "
    "rows does a layer need to have rows for every head?"
)
class OneProjectionForAllHeads(Sized):
    def resize(self, d_model, bias):
        self.q_proj = nn.Linear(d_model, self.d_k, bias)
        self.k_proj = nn.Linear(d_model, self.d_k, bias)
        self.v_proj = nn.Linear(d_model, self.d_v, bias)

    def split(self, x):
        return x[:, None].expand(-1, self.num_heads, -1, -1)


@exercise.mistake(
    "You cut the inputs into heads first and project the pieces then, so a head sees only its own "
    "piece of a word. What should each head be able to see?"
)
class ProjectedAfterTheSplit(Sized):
    def resize(self, d_model, bias):
        piece = d_model // self.num_heads
        self.q_proj = nn.Linear(piece, self.d_k, bias)
        self.k_proj = nn.Linear(piece, self.d_k, bias)
        self.v_proj = nn.Linear(piece, self.d_v, bias)

    def project(self, q, k, v):
        q, k, v = (split_heads(x, self.num_heads) for x in (q, k, v))
        return self.q_proj(q), self.k_proj(k), self.v_proj(v)

    def split(self, x):
        return x


@exercise.mistake(
    "The heads' mean is taken before the last layer, so it cannot tell the heads apart. How wide "
    "is what that layer gets, in the task's table?"
)
class HeadsAveraged(Sized):
    def resize(self, d_model, bias):
        self.out_proj = nn.Linear(self.d_v, d_model, bias)

    def mix(self, found):
        return self.out_proj(found.mean(1))


@exercise.mistake(
    "The heads are added up before the last layer, so it cannot tell the heads apart. How wide is "
    "what that layer gets, in the task's table?"
)
class HeadsAdded(Sized):
    def resize(self, d_model, bias):
        self.out_proj = nn.Linear(self.d_v, d_model, bias)

    def mix(self, found):
        return self.out_proj(found.sum(1))


@exercise.mistake(
    "d_k and d_v are not used: your layers always have d_model / h features a head. Which number "
    "holds when one is given?"
)
class GivenSizesIgnored(Sized):
    def resize(self, d_model, bias):
        self.d_k = self.d_v = d_model // self.num_heads
        width = self.num_heads * self.d_k
        self.q_proj = nn.Linear(d_model, width, bias)
        self.k_proj = nn.Linear(d_model, width, bias)
        self.v_proj = nn.Linear(d_model, width, bias)
        self.out_proj = nn.Linear(width, d_model, bias)


@exercise.mistake("Where d_v is not given, yours is d_k. What does the task take for None?")
class SizeOfValuesTakenFromKeys(Variant):
    def __init__(self, d_model, num_heads, d_k=None, d_v=None, bias=True, dropout=0.0):
        super().__init__(d_model, num_heads, d_k, d_k if d_v is None else d_v, bias, dropout)


@exercise.mistake(
    "You have parameters that the formula does not need: a layer too many, or one that is never "
    "used. Which four layers are in the task's table?"
)
class OneLayerTooMany(Sized):
    def resize(self, d_model, bias):
        self.unused = nn.Linear(d_model, d_model)


@exercise.mistake("Where nobody says `bias`, your layers have none. What is its default?")
class NoBiasByDefault(Variant):
    def __init__(self, d_model, num_heads, d_k=None, d_v=None, bias=False, dropout=0.0):
        super().__init__(d_model, num_heads, d_k, d_v, bias, dropout)


@exercise.mistake(
    "Values have the size of keys, d_k, in your layers. Which size has its own argument?"
)
class ValuesAsWideAsKeys(Sized):
    def resize(self, d_model, bias):
        self.d_v = self.d_k
        self.v_proj = nn.Linear(d_model, self.num_heads * self.d_v, bias)
        self.out_proj = nn.Linear(self.num_heads * self.d_v, d_model, bias)


@exercise.mistake(
    "d_k is taken for the width of all heads together: each layer has d_k rows, shared out among "
    "the heads. Whose features does d_k count, in the task?"
)
class SizeOfAllHeadsTogether(Sized):
    def resize(self, d_model, bias):
        h = self.num_heads
        self.d_k, self.d_v = max(1, self.d_k // h), max(1, self.d_v // h)
        self.q_proj = nn.Linear(d_model, h * self.d_k, bias)
        self.k_proj = nn.Linear(d_model, h * self.d_k, bias)
        self.v_proj = nn.Linear(d_model, h * self.d_v, bias)
        self.out_proj = nn.Linear(h * self.d_v, d_model, bias)


@exercise.mistake(
    "The last layer has no bias, or always has one. For which of the four layers does the argument "
    "`bias` speak?"
)
class NoBiasAtTheEnd(Sized):
    def resize(self, d_model, bias):
        self.out_proj = nn.Linear(self.num_heads * self.d_v, d_model, bias=False)


@exercise.mistake("Your layers have biases, also with bias=False. Where does that argument go?")
class AlwaysBiased(Sized):
    def resize(self, d_model, bias):
        h = self.num_heads
        self.q_proj = nn.Linear(d_model, h * self.d_k)
        self.k_proj = nn.Linear(d_model, h * self.d_k)
        self.v_proj = nn.Linear(d_model, h * self.d_v)
        self.out_proj = nn.Linear(h * self.d_v, d_model)


@exercise.mistake(
    "Your heads' layers are in a plain Python list, where torch does not find them: no optimiser "
    "will ever train them, and no file will hold them. Which container registers what is in it?"
)
class HeadsInAPlainList(Sized):
    def resize(self, d_model, bias):
        del self.q_proj, self.k_proj, self.v_proj
        self.layers = [
            [nn.Linear(d_model, size, bias) for _ in range(self.num_heads)]
            for size in (self.d_k, self.d_k, self.d_v)
        ]

    def project(self, *inputs):
        return [
            torch.cat([layer(x) for layer in layers], -1)
            for layers, x in zip(self.layers, inputs, strict=True)
        ]


@exercise.mistake(
    "Your fused layer keeps a head's query, key and value rows together, head after head. The task "
    "gives another order: a fused layer that takes the place of the three holds all queries' rows, "
    "then all keys', then all values'."
)
class FusedHeadByHead(Sized):
    def resize(self, d_model, bias):
        width = self.num_heads * (2 * self.d_k + self.d_v)
        self.qkv = nn.Linear(d_model, width, bias)
        del self.q_proj, self.k_proj, self.v_proj

    def project(self, *inputs):
        each = 2 * self.d_k + self.d_v
        cuts = [self.qkv(x).unflatten(-1, (self.num_heads, each)) for x in inputs]
        sizes = (self.d_k, self.d_k, self.d_v)
        return [cut.split(sizes, -1)[i].flatten(2) for i, cut in enumerate(cuts)]


@exercise.mistake(
    "Each head goes through its part of the last layer by itself, which is fine, but the bias is "
    "added once for each head. How often does the formula add it?"
)
class BiasOnceForEachHead(Variant):
    def mix(self, found):
        pieces = self.out_proj.weight.split(self.d_v, -1)
        bias = self.out_proj.bias
        heads = zip(found.unbind(1), pieces, strict=True)
        return sum(F.linear(head, piece, bias) for head, piece in heads)


@exercise.mistake(
    "The heads are cut by a view alone, so each one gets some words whole instead of some features "
    "of every word. Your `split_heads` knows better."
)
class SplitWithoutTranspose(Variant):
    def split(self, x):
        return x.reshape(len(x), self.num_heads, x.shape[1], -1)


@exercise.mistake(
    "The heads deal the features out in turn (feature 1 to head 1), but the rows of a layer that "
    "belong to one head stand together. In which order do you cut?"
)
class HeadsInterleaved(Variant):
    def split(self, x):
        return x.unflatten(-1, (-1, self.num_heads)).permute(0, 3, 1, 2)


@exercise.mistake(
    "The heads' outputs are put together by a view alone: a word gets pieces of other words. Your "
    "`merge_heads` knows better."
)
class MergedWithoutTranspose(Variant):
    def mix(self, found):
        return self.out_proj(found.reshape(len(found), found.shape[2], -1))


@exercise.mistake(
    "The heads were never split off: one attention runs over all features at once. Which axis of "
    "your queries counts the heads?"
)
class NeverSplit(Variant):
    def forward(self, q, k, v, mask=None, need_weights=False):
        q, k, v = self.project(q, k, v)
        found, weights = scaled_dot_product_attention(q, k, v, mask)
        out = self.out_proj(found)
        return (out, weights) if need_weights else out


@exercise.mistake(
    "You leave the heads behind time, (B, L, h, d), so the heads of one word attend to each other "
    "instead of words to words. Which axes does a matrix product work on?"
)
class HeadsAttendToHeads(Variant):
    def split(self, x):
        return x.unflatten(-1, (self.num_heads, -1))

    def mix(self, found):
        return self.out_proj(found.flatten(2))


@exercise.mistake(
    "The length of the queries is used for the keys as well. How long are the keys in "
    "cross-attention, and where does your code fix that number?"
)
class QueryLengthForKeys(Variant):
    def project(self, q, k, v):
        self.length = q.shape[1]
        return super().project(q, k, v)

    def split(self, x):
        return x.reshape(len(x), self.length, self.num_heads, -1).transpose(1, 2)


@exercise.mistake(
    "Your code takes the first axis for time, as torch's own layers do by default, so sentences "
    "mix. Here the batch comes first."
)
class TimeFirst(Variant):
    def forward(self, q, k, v, mask=None, need_weights=False):
        q, k, v = (x.transpose(0, 1) for x in (q, k, v))
        answer = super().forward(q, k, v, mask, need_weights)
        if need_weights:
            return answer[0].transpose(0, 1), answer[1]
        return answer.transpose(0, 1)


@exercise.mistake(
    "The softmax runs over the heads: they share one unit of attention. Over what does each head "
    "spread its attention, and which axis is that?"
)
class SoftmaxOverHeads(Variant):
    def weigh(self, scores, mask):
        weights = scores.softmax(1)
        return weights if mask is None else weights.masked_fill(~mask, 0)


@exercise.mistake(
    "The softmax runs over the queries: keys share out their attention among those who ask. Which "
    "axis should a head's weights sum to one along?"
)
class SoftmaxOverQueries(Variant):
    def weigh(self, scores, mask):
        weights = scores.softmax(-2)
        return weights if mask is None else weights.masked_fill(~mask, 0)


@exercise.mistake(
    "Your mask loses its second axis on the way, and the batch lines up with the heads: with as "
    "many sentences as heads each head would get another sentence's mask, and nobody would see it. "
    "Write the shapes of scores and mask below each other, from the right."
)
class MaskLinedUpWithHeads(Variant):
    def weigh(self, scores, mask):
        if mask is not None and mask.ndim == 4 and mask.shape[1] == 1:
            mask = mask.squeeze(1)
        return super().weigh(scores, mask)


@exercise.mistake(
    "You give every mask one more axis. That fits (B, Lq, Lk), which does not come here; what does "
    "it make of (Lq, Lk), and of four axes?"
)
class MaskGetsAnotherAxis(Variant):
    def weigh(self, scores, mask):
        return super().weigh(scores, None if mask is None else mask.unsqueeze(1))


@exercise.mistake(
    "Only the first head's part of the mask is used, for all heads. Which axis of a mask "
    "(B, h, Lq, Lk) did you index?"
)
class FirstHeadsMask(Variant):
    def weigh(self, scores, mask):
        if mask is not None and mask.ndim == 4:
            mask = mask[:, :1]
        return super().weigh(scores, mask)


@exercise.mistake(
    "Your mask has rows and columns the wrong way round: words look ahead instead of back. Rows "
    "are queries, columns are keys; what turns the mask on its side?"
)
class MaskTransposed(Variant):
    def weigh(self, scores, mask):
        return super().weigh(scores, None if mask is None else mask.mT)


@exercise.mistake("The mask changes nothing in your output. Where does it go in?")
class MaskIgnored(Variant):
    def weigh(self, scores, mask):
        return super().weigh(scores, None)


@exercise.mistake(
    "Your mask works the wrong way round. (torch's `nn.MultiheadAttention` takes True for "
    '"forbidden"; `scaled_dot_product_attention` and this course take it for "may attend".)'
)
class MaskInverted(Variant):
    def weigh(self, scores, mask):
        return super().weigh(scores, None if mask is None else ~mask)


@exercise.mistake(
    "The mask strikes weights out after the softmax, so what is left does not sum to one. When "
    "must a key be out of the race?"
)
class MaskAfterSoftmax(Variant):
    def weigh(self, scores, mask):
        weights = scores.softmax(-1)
        return weights if mask is None else weights.masked_fill(~mask, 0)


@exercise.mistake(
    "A query that may attend to no key makes 0/0, and NaN spreads from there. What were its heads "
    "to give?"
)
class NobodyGivesNan(Variant):
    def weigh(self, scores, mask):
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        return scores.softmax(-1)


@exercise.mistake(
    "A query that may attend to no key gets the mean of all values, those of the padding included. "
    "What were its heads to give?"
)
class NobodyGivesTheMean(Variant):
    def weigh(self, scores, mask):
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e9)
        return scores.softmax(-1)


@exercise.mistake(
    "The output is dropped, not the attention weights: while training, single features vanish "
    "from the end of your forward. Where does the task put dropout?"
)
class DropoutOnTheOutput(Variant):
    def find(self, weights, v):
        return weights @ v

    def mix(self, found):
        return self.dropout(super().mix(found))


@exercise.mistake(
    "Single features of what the heads found are dropped, one by one. The task drops attention "
    "weights: then a query misses a key altogether."
)
class DropoutOnWhatWasFound(Variant):
    def find(self, weights, v):
        return self.dropout(weights @ v)


@exercise.mistake(
    "The scores are dropped, before the softmax: a score of 0 still gets attention. Which numbers "
    "does the task drop?"
)
class DropoutOnTheScores(Variant):
    def score(self, q, k):
        return self.dropout(super().score(q, k))

    def find(self, weights, v):
        return weights @ v


@exercise.mistake(
    "Something is dropped after `eval()`, too. `F.dropout` is always in training unless you tell "
    "it otherwise; what does `nn.Dropout` know that it does not?"
)
class DropoutAfterEval(Variant):
    def find(self, weights, v):
        return F.dropout(weights, self.dropout.p) @ v


@exercise.mistake("The argument `dropout` changes nothing. What should happen while training?")
class NoDropout(Variant):
    def find(self, weights, v):
        return weights @ v


@exercise.mistake(
    "Weights are dropped, and those that are left do not grow. What is then the mean of a weight "
    "over many runs, compared with its value after `eval()`?"
)
class DropoutNotScaled(Variant):
    def find(self, weights, v):
        kept = torch.rand_like(weights) >= self.dropout.p * self.training
        return (weights * kept) @ v


@exercise.mistake("Without being asked you drop a tenth. What is the default of `dropout`?")
class DropsByDefault(Variant):
    def __init__(self, d_model, num_heads, d_k=None, d_v=None, bias=True, dropout=0.1):
        super().__init__(d_model, num_heads, d_k, d_v, bias, dropout)


@exercise.mistake(
    "Whole heads are dropped, for all words of a sentence at once. The task drops single weights, "
    "each for itself."
)
class WholeHeadsDropped(Variant):
    def find(self, weights, v):
        return weights * self.dropout(torch.ones_like(weights[:, :, :1, :1])) @ v


@exercise.mistake(
    "No gradient goes through the attention weights, so queries and keys learn nothing. Which call "
    "leaves torch's graph?"
)
class WeightsDetached(Variant):
    def find(self, weights, v):
        return super().find(weights.detach(), v)


@exercise.mistake("You always return a pair. Without `need_weights` the output comes alone.")
class AlwaysAPair(Variant):
    def forward(self, q, k, v, mask=None, need_weights=False):
        return super().forward(q, k, v, mask, True)


@exercise.mistake("`need_weights` changes nothing: where are the attention weights?")
class NeverAPair(Variant):
    def forward(self, q, k, v, mask=None, need_weights=False):
        return super().forward(q, k, v, mask)


@exercise.mistake(
    "The weights are averaged over the heads, as torch does by default. Here each head's are "
    "wanted."
)
class WeightsAveraged(Variant):
    def forward(self, q, k, v, mask=None, need_weights=False):
        out, weights = super().forward(q, k, v, mask, True)
        return (out, weights.mean(1)) if need_weights else out


@exercise.mistake(
    "You return the scores. What do they become before the values are weighed with them?"
)
class ScoresReturned(Variant):
    def forward(self, q, k, v, mask=None, need_weights=False):
        out = super().forward(q, k, v, mask)
        q, k, _ = (self.split(x) for x in self.project(q, k, v))
        return (out, self.score(q, k)) if need_weights else out


@exercise.mistake(
    "The queries are added to the output (a residual connection; that is lab 6). What does the "
    "formula end with?"
)
class QueriesAdded(Variant):
    def forward(self, q, k, v, mask=None, need_weights=False):
        out, weights = super().forward(q, k, v, mask, True)
        return (q + out, weights) if need_weights else q + out


@exercise.mistake(
    "Where h does not divide d_model and d_k is to be chosen, features are lost without a word. "
    "What should happen instead?"
)
class LeftoverFeaturesDropped(Variant):
    def __init__(self, d_model, num_heads, d_k=None, d_v=None, bias=True, dropout=0.0):
        size = d_model // num_heads
        super().__init__(d_model, num_heads, d_k or size, d_v or size, bias, dropout)


@exercise.mistake(
    "You refuse sizes that h does not divide even where d_k and d_v are given. When is there "
    "something to be shared out?"
)
class GivenSizesRefused(Variant):
    def __init__(self, d_model, num_heads, d_k=None, d_v=None, bias=True, dropout=0.0):
        if d_model % num_heads:
            raise ValueError("the features cannot be shared out evenly")
        super().__init__(d_model, num_heads, d_k, d_v, bias, dropout)


@exercise.mistake(
    "An `assert` raises AssertionError, and vanishes when Python runs with -O. Callers who give "
    "wrong values are told with another error: which one does the task name?"
)
class SizesAsserted(Variant):
    def __init__(self, d_model, num_heads, d_k=None, d_v=None, bias=True, dropout=0.0):
        assert d_model % num_heads == 0 or (d_k and d_v)
        super().__init__(d_model, num_heads, d_k, d_v, bias, dropout)


def chosen(d_model, num_heads, d_k, d_v):
    """d_k and d_v as the task wants them; a part that right versions share."""
    if d_model % num_heads and (d_k is None or d_v is None):
        raise ValueError("the features cannot be shared out evenly")
    size = d_model // num_heads
    return (size if d_k is None else d_k), (size if d_v is None else d_v)


@exercise.also_right
class LayersInAList(nn.Module):
    def __init__(self, d_model, num_heads, d_k=None, d_v=None, bias=True, dropout=0.0):
        super().__init__()
        self.d_k, self.d_v = chosen(d_model, num_heads, d_k, d_v)
        self.h = num_heads
        widths = (num_heads * self.d_k, num_heads * self.d_k, num_heads * self.d_v)
        self.linears = nn.ModuleList([nn.Linear(d_model, w, bias=bias) for w in widths])
        self.linears.append(nn.Linear(widths[2], d_model, bias=bias))
        self.attn = None
        self.drop = nn.Dropout(p=dropout)

    def forward(self, query, key, value, mask=None, need_weights=False):
        n = query.size(0)
        query, key, value = [
            layer(x).view(n, -1, self.h, layer.out_features // self.h).transpose(1, 2)
            for layer, x in zip(self.linears, (query, key, value), strict=False)
        ]
        scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        self.attn = scores.softmax(dim=-1)
        if mask is not None:
            self.attn = self.attn * mask
        x = torch.matmul(self.drop(self.attn), value)
        x = x.transpose(1, 2).contiguous().view(n, -1, self.h * self.d_v)
        return (self.linears[-1](x), self.attn) if need_weights else self.linears[-1](x)


@exercise.also_right
class HeadsInTheBatch(nn.Module):
    def __init__(self, d_model, num_heads, d_k=None, d_v=None, bias=True, dropout=0.0):
        super().__init__()
        d_k, d_v = chosen(d_model, num_heads, d_k, d_v)
        self.num_heads = num_heads
        self.W_q = nn.Linear(d_model, num_heads * d_k, bias=bias)
        self.W_k = nn.Linear(d_model, num_heads * d_k, bias=bias)
        self.W_v = nn.Linear(d_model, num_heads * d_v, bias=bias)
        self.W_o = nn.Linear(num_heads * d_v, d_model, bias=bias)
        self.p = dropout

    def apart(self, X):
        X = X.reshape(X.shape[0], X.shape[1], self.num_heads, -1).permute(0, 2, 1, 3)
        return X.reshape(-1, X.shape[2], X.shape[3])

    def forward(self, q, k, v, mask=None, need_weights=False):
        shape = (len(q), self.num_heads, q.shape[1], k.shape[1])
        q, k, v = self.apart(self.W_q(q)), self.apart(self.W_k(k)), self.apart(self.W_v(v))
        scores = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(q.shape[-1])
        if mask is not None:
            forbidden = ~mask.expand(shape).reshape(scores.shape)
            scores = scores.masked_fill(forbidden, -1e15)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(forbidden, 0.0)
        found = torch.bmm(F.dropout(weights, self.p, self.training), v)
        found = found.reshape(*shape[:3], -1).permute(0, 2, 1, 3)
        out = self.W_o(found.reshape(found.shape[0], found.shape[1], -1))
        return (out, weights.reshape(shape)) if need_weights else out


@exercise.also_right
class FusedLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_k=None, d_v=None, bias=True, dropout=0.0):
        super().__init__()
        d_k, d_v = chosen(d_model, num_heads, d_k, d_v)
        self.n_head, self.sizes = num_heads, (num_heads * d_k, num_heads * d_k, num_heads * d_v)
        self.c_attn = nn.Linear(d_model, sum(self.sizes), bias=bias)
        self.c_proj = nn.Linear(num_heads * d_v, d_model, bias=bias)
        self.attn_dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None, need_weights=False):
        B, T, _ = q.size()
        q = self.c_attn(q).split(self.sizes, dim=2)[0]
        k = self.c_attn(k).split(self.sizes, dim=2)[1]
        v = self.c_attn(v).split(self.sizes, dim=2)[2]
        q, k, v = (x.view(B, x.size(1), self.n_head, -1).transpose(1, 2) for x in (q, k, v))
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        if mask is not None:
            att = att.masked_fill(mask.logical_not(), torch.finfo(att.dtype).min)
        att = F.softmax(att, dim=-1)
        if mask is not None:
            att = torch.where(mask, att, torch.zeros_like(att))
        y = self.attn_dropout(att) @ v
        y = self.c_proj(y.transpose(1, 2).contiguous().view(B, T, -1))
        return (y, att) if need_weights else y


@exercise.also_right
class KeyQueryValueProj(nn.Module):
    def __init__(self, d_model, num_heads, d_k=None, d_v=None, bias=True, dropout=0.0):
        super().__init__()
        d_k, d_v = chosen(d_model, num_heads, d_k, d_v)
        self.key = nn.Linear(d_model, d_k * num_heads, bias)
        self.query = nn.Linear(d_model, d_k * num_heads, bias)
        self.value = nn.Linear(d_model, d_v * num_heads, bias)
        self.proj = nn.Linear(d_v * num_heads, d_model, bias)
        self.drop, self.n = nn.Dropout(dropout), num_heads

    def forward(self, q, k, v, mask=None, need_weights=False):
        q = split_heads(self.query(q), self.n)
        k = split_heads(self.key(k), self.n)
        v = split_heads(self.value(v), self.n)
        if self.training and self.drop.p > 0:
            att = scaled_dot_product_attention(q, k, v, mask)[1]
            y = self.drop(att) @ v
        else:
            y, att = scaled_dot_product_attention(q, k, v, mask)
        y = self.proj(merge_heads(y))
        if need_weights:
            return y, att
        return y


@exercise.also_right
class StackedParameter(nn.Module):
    def __init__(self, d_model, num_heads, d_k=None, d_v=None, bias=True, dropout=0.0):
        super().__init__()
        d_k, d_v = chosen(d_model, num_heads, d_k, d_v)
        self.num_heads, self.dropout = num_heads, dropout
        self.sizes = [num_heads * d_k, num_heads * d_k, num_heads * d_v]
        self.in_proj_weight = nn.Parameter(torch.randn(sum(self.sizes), d_model) * 0.02)
        if bias:
            self.in_proj_bias = nn.Parameter(torch.zeros(sum(self.sizes)))
        else:
            self.register_parameter("in_proj_bias", None)
        self.out_proj = nn.Linear(num_heads * d_v, d_model, bias=bias)

    def forward(self, q, k, v, mask=None, need_weights=False):
        W = self.in_proj_weight.split(self.sizes)
        b = [None] * 3 if self.in_proj_bias is None else self.in_proj_bias.split(self.sizes)
        q, k, v = (
            F.linear(x, W[i], b[i]).unflatten(-1, (self.num_heads, -1))
            for i, x in enumerate((q, k, v))
        )
        logits = torch.einsum("bqhd,bkhd->bhqk", q, k) * q.shape[-1] ** -0.5
        if mask is None:
            A = torch.softmax(logits, -1)
        else:
            A = torch.nan_to_num(torch.softmax(logits.where(mask, -1e30), -1) * mask)
        dropped = A
        if self.training and self.dropout:
            keep = torch.empty_like(A).bernoulli_(1 - self.dropout)
            dropped = A * keep / (1 - self.dropout)
        o = torch.einsum("bhqk,bkhd->bqhd", dropped, v).flatten(-2)
        return (self.out_proj(o), A) if need_weights else self.out_proj(o)


class OneHead(nn.Module):
    """A head with layers of its own."""

    def __init__(self, d_model, d_k, d_v, bias, dropout):
        super().__init__()
        self.query = nn.Linear(d_model, d_k, bias)
        self.key = nn.Linear(d_model, d_k, bias)
        self.value = nn.Linear(d_model, d_v, bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask):
        q, k, v = self.query(q), self.key(k), self.value(v)
        _, weights = scaled_dot_product_attention(q, k, v, mask)
        return self.dropout(weights) @ v, weights


@exercise.also_right
class HeadsAsModules(nn.Module):
    def __init__(self, d_model, num_heads, d_k=None, d_v=None, bias=True, dropout=0.0):
        super().__init__()
        d_k, d_v = chosen(d_model, num_heads, d_k, d_v)
        heads = [OneHead(d_model, d_k, d_v, bias, dropout) for _ in range(num_heads)]
        self.heads = nn.ModuleList(heads)
        self.proj = nn.Linear(num_heads * d_v, d_model, bias)

    def forward(self, q, k, v, mask=None, need_weights=False):
        masks = [None] * len(self.heads)
        if mask is not None:
            masks = mask.expand(len(q), len(masks), q.shape[1], k.shape[1]).unbind(1)
        answers = [head(q, k, v, m) for head, m in zip(self.heads, masks, strict=True)]
        out = self.proj(torch.cat([found for found, _ in answers], dim=-1))
        return (out, torch.stack([w for _, w in answers], 1)) if need_weights else out


@exercise.also_right
class RawParameters(nn.Module):
    def __init__(self, d_model, num_heads, d_k=None, d_v=None, bias=True, dropout=0.0):
        super().__init__()
        d_k, d_v = chosen(d_model, num_heads, d_k, d_v)
        self.num_heads, self.d_v, self.bias = num_heads, d_v, bias
        for letter, rows, columns in (
            ("q", d_model, num_heads * d_k), ("k", d_model, num_heads * d_k),
            ("v", d_model, num_heads * d_v), ("o", num_heads * d_v, d_model),
        ):  # fmt: skip
            setattr(self, f"W_{letter}", nn.Parameter(torch.randn(rows, columns) / rows**0.5))
            if bias:
                setattr(self, f"b_{letter}", nn.Parameter(torch.zeros(columns)))
        self.dropout = nn.Dropout(dropout)

    def apply_to(self, x, letter):
        x = x @ getattr(self, f"W_{letter}")
        return x + getattr(self, f"b_{letter}") if self.bias else x

    def forward(self, q, k, v, mask=None, need_weights=False):
        q, k, v = (
            torch.stack(self.apply_to(x, letter).chunk(self.num_heads, -1), 1)
            for x, letter in ((q, "q"), (k, "k"), (v, "v"))
        )
        weights = scaled_dot_product_attention(q, k, v, mask)[1]
        found = self.dropout(weights) @ v
        out = self.apply_to(torch.cat(found.unbind(1), -1), "o")
        return (out, weights) if need_weights else out


@exercise.also_right
class LayersForEachHead(nn.Module):
    def __init__(self, d_model, num_heads, d_k=None, d_v=None, bias=True, dropout=0.0):
        super().__init__()
        d_k, d_v = chosen(d_model, num_heads, d_k, d_v)
        self.queries = nn.ModuleList(nn.Linear(d_model, d_k, bias) for _ in range(num_heads))
        self.keys = nn.ModuleList(nn.Linear(d_model, d_k, bias) for _ in range(num_heads))
        self.values = nn.ModuleList(nn.Linear(d_model, d_v, bias) for _ in range(num_heads))
        self.fc_out = nn.Linear(num_heads * d_v, d_model, bias)
        self.drop = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None, need_weights=False):
        found, seen = 0, []
        pieces = self.fc_out.weight.chunk(len(self.queries), dim=1)
        for i, piece in enumerate(pieces):
            scores = self.queries[i](q) @ self.keys[i](k).mT * self.queries[i].out_features ** -0.5
            if mask is None:
                weights = scores.softmax(-1)
            else:
                mine = mask.expand(len(q), len(pieces), *scores.shape[1:])[:, i]
                weights = scores.where(mine, -1e20).softmax(-1) * mine
            seen.append(weights)
            found = found + self.drop(weights) @ self.values[i](v) @ piece.mT
        out = found if self.fc_out.bias is None else found + self.fc_out.bias
        return (out, torch.stack(seen, 1)) if need_weights else out
