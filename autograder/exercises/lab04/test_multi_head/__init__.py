"""test_multi_head: a test that distinguishes right and wrong versions of multi-head attention."""

from __future__ import annotations

import sys

import torch
from torch import nn

from attnlab.checking.observation import Raised
from attnlab.multihead import MultiHeadAttention, merge_heads, split_heads
from gradekit.exercise import write_a_test

VERSIONS = [
    "ScaledByModel",
    "ScaledByAllHeads",
    "NotScaled",
    "NoOutputProjection",
    "QueriesAndKeysSwapped",
    "KeysAndValuesSwapped",
    "ValuesMadeOfKeys",
    "AlwaysSelfAttention",
    "HeadsAveraged",
    "GivenSizesIgnored",
    "HeadsInAPlainList",
    "BiasOnceForEachHead",
    "SplitWithoutTranspose",
    "HeadsInterleaved",
    "MergedWithoutTranspose",
    "HeadsAttendToHeads",
    "SoftmaxOverHeads",
    "FirstHeadsMask",
    "MaskOfThreeAxesForSentences",
    "MaskIgnored",
    "MaskInverted",
    "MaskAfterSoftmax",
    "NobodyGivesNan",
    "NobodyGivesTheMean",
    "DropoutAfterEval",
    "DropoutOnTheOutput",
    "NoDropout",
    "WeightsDetached",
    "AlwaysAPair",
    "WeightsAveraged",
    "ScoresReturned",
]

exercise = write_a_test(
    "test_multi_head",
    of=MultiHeadAttention,
    exercise="multi_head_attention",
    points=6,
    title="Rejects wrong versions of multi-head attention that students write, accepts right ones.",
    versions=VERSIONS,
    uses=[split_heads, merge_heads],
)


@exercise.check(points=0.5)
def failures_leave_it(lab, draw):
    """A failed comparison leaves your test, as an AssertionError."""

    class Zeros(lab.MultiHeadAttention):
        def forward(self, q, k, v, mask=None, need_weights=False):
            out, weights = super().forward(q, k, v, mask, need_weights=True)
            return (0 * out, 0 * weights) if need_weights else 0 * out

    raised = draw.raises(lambda: lab.test_multi_head(Zeros))
    another = raised is not None and raised.type != "AssertionError"
    right = draw.accepted(lab.test_multi_head, lab.MultiHeadAttention) is True
    return {
        "what loses a failure": draw.lost_failure(lab.test_multi_head, Zeros),
        "a layer that answers zeros is rejected with no other error": not (another and right),
    }


@exercise.check(points=1.5)
def openly_wrong(lab, draw):
    """Accepts your own layer; rejects it once it is obviously wrong."""

    class OppositeMask(lab.MultiHeadAttention):
        def forward(self, q, k, v, mask=None, need_weights=False):
            return super().forward(q, k, v, None if mask is None else ~mask, need_weights)

    class OtherNumbers(lab.MultiHeadAttention):
        def __init__(self, *sizes, **options):
            super().__init__(*sizes, **options)
            for parameter in self.parameters():
                nn.init.uniform_(parameter, -0.5, 0.5)

    class NoAnswer(lab.MultiHeadAttention):
        def forward(self, q, k, v, mask=None, need_weights=False):
            out, weights = super().forward(q, k, v, mask, need_weights=True)
            return (0 * out, weights) if need_weights else 0 * out

    class NoMask(lab.MultiHeadAttention):
        def forward(self, q, k, v, mask=None, need_weights=False):
            return super().forward(q, k, v, None, need_weights)

    class KeysForValues(lab.MultiHeadAttention):
        def forward(self, q, k, v, mask=None, need_weights=False):
            return super().forward(q, k, k, mask, need_weights)

    class SameWeightsForAll(lab.MultiHeadAttention):
        def forward(self, q, k, v, mask=None, need_weights=False):
            out, weights = super().forward(q, k, v, mask, need_weights=True)
            mean = weights.mean(1, keepdim=True).expand_as(weights)
            return (out, mean) if need_weights else out

    class Stops(lab.MultiHeadAttention):
        def forward(self, q, k, v, mask=None, need_weights=False):
            raise ValueError("this version always stops")

    class OneAxisMore(lab.MultiHeadAttention):
        def forward(self, q, k, v, mask=None, need_weights=False):
            out, weights = super().forward(q, k, v, mask, need_weights=True)
            return (out[None], weights[None]) if need_weights else out[None]

    class OtherEachTime(lab.MultiHeadAttention):
        def forward(self, q, k, v, mask=None, need_weights=False):
            out, weights = super().forward(q, k, v, mask, need_weights=True)
            other = torch.rand((), dtype=out.dtype)
            return (other * out, other * weights) if need_weights else other * out

    right = {
        "accepts your own": lab.MultiHeadAttention,
        "accepts your own with other parameters at the start": OtherNumbers,
    }
    broken = {
        "rejects one that answers zero": NoAnswer,
        "rejects one that ignores the mask": NoMask,
        "rejects one that takes its values from the keys' text": KeysForValues,
        "rejects one that reports the same weights for all heads": SameWeightsForAll,
    }
    rejects = {name: draw.rejects(lab.test_multi_head, version) for name, version in broken.items()}
    # These only tell apart the tests that accept all of them.
    others = {
        "an error": Stops,
        "one axis more": OneAxisMore,
        "another result in each call": OtherEachTime,
    }
    if any(answer is not False for answer in rejects.values()):
        others = {}
    # The first wrong entry is explained, and a test that believes in opposite masks rejects all
    # right versions, too.
    return {
        "rejects one whose masks mean the opposite": draw.rejects(
            lab.test_multi_head, OppositeMask
        ),
        **{name: draw.accepted(lab.test_multi_head, version) for name, version in right.items()},
        **rejects,
        "rejects nothing but": [
            name for name, version in others.items() if draw.rejects(lab.test_multi_head, version)
        ],
    }


@exercise.check(points=0.5)
def other_names(lab, draw):
    """Accepts your own layer inside another module: other names of weights, and another order."""

    class Inside(nn.Module):
        def __init__(self, *sizes, **options):
            super().__init__()
            self.model = lab.MultiHeadAttention(*sizes, **options)
            for name in ("num_heads", "d_k", "d_v"):
                setattr(self, name, getattr(self.model, name))

        def forward(self, q, k, v, mask=None, need_weights=False):
            return self.model(q, k, v, mask, need_weights)

        def named_parameters(self, *given, **options):
            return reversed([*super().named_parameters(*given, **options)])

    if draw.accepted(lab.test_multi_head, lab.MultiHeadAttention) is not True:
        return {"your own layer": "rejected"}
    answer = draw.accepted(lab.test_multi_head, Inside)
    if answer is not True:  # with whatever error, the reason is the same: names, or their order
        answer = Raised("an error", "", answer.source_line)
    return {"your own layer": "accepted", "accepts your own inside another module": answer}


def rejects(lab, draw, what, spoiled):
    """Whether a test that accepts your own layer rejects it with `spoiled` for its `forward`."""
    squares = []

    class Spoiled(lab.MultiHeadAttention):
        def __init__(self, d_model, num_heads, d_k=None, d_v=None, *others, **options):
            super().__init__(d_model, num_heads, d_k, d_v, *others, **options)
            widths = [d_model if d is None else num_heads * d for d in (d_k, d_v)]
            self.with_square_weights = d_model in widths

        def forward(self, *given, **options):
            return spoiled(self, super().forward, *given, **options)

        def named_parameters(self, *given, **options):
            caller = sys._getframe(1).f_globals.get("__name__")
            if caller == "attnlab.checking.torch_attention":  # only there, squares are a fault
                squares.append(self.with_square_weights)
            return super().named_parameters(*given, **options)

    if draw.accepted(lab.test_multi_head, lab.MultiHeadAttention) is not True:
        return {"your own layer": "rejected"}
    rejected = draw.rejects(lab.test_multi_head, Spoiled)
    return {
        "your own layer": "accepted",
        f"rejects one that {what}": rejected,
        # Only this distinguishes tests with square weights here: of right ones it is not asked.
        "weights of the accepted one": "square" if not rejected and any(squares) else "others",
    }


@exercise.check(points=0.5)
def no_dropout(lab, draw):
    """Accepts your own layer; rejects it once it drops nothing while training."""

    def drops_nothing(layer, forward, *given, **options):
        training = layer.training
        layer.eval()
        answer = forward(*given, **options)
        layer.train(training)
        return answer

    return rejects(lab, draw, "drops nothing", drops_nothing)


@exercise.check(points=0.5)
def not_a_number(lab, draw):
    """Accepts your own layer; rejects it once a query that may attend to no key makes NaN."""

    def makes_nan(layer, forward, q, k, v, mask=None, need_weights=False):
        out, weights = forward(q, k, v, mask, need_weights=True)
        if mask is not None:
            blocked = ~mask.expand(weights.shape).any(-1)  # (B, h, Lq)
            weights = weights.masked_fill(blocked[..., None], torch.nan)
            out = out.masked_fill(blocked.any(1)[..., None], torch.nan)
        pair = out, weights
        return pair if need_weights else out

    return rejects(lab, draw, "makes NaN", makes_nan)


@exercise.check(points=0.5)
def its_last_call(lab, draw):
    """Accepts your own layer with dropout, and with a mask that leaves a query without keys."""
    last = []

    class Watched(lab.MultiHeadAttention):
        def __init__(self, *sizes, **options):
            super().__init__(*sizes, **options)
            self.watched_rate = options.get("dropout", sizes[5] if len(sizes) > 5 else 0)

        def forward(self, q, k, v, mask=None, need_weights=False):
            blocked = mask is not None and not bool(mask.any(-1).all())
            trains = self.training and bool(self.watched_rate)
            last[:] = ["training with dropout"] * trains + ["a query without keys"] * blocked
            return super().forward(q, k, v, mask, need_weights)

    accepted = draw.accepted(lab.test_multi_head, Watched)
    if accepted is True:
        last = []
    elif accepted.type != "AssertionError":
        last = ["an error"]
    elif not last:
        last = ["an ordinary call"]
    # Each of these words is known from the student's own test: nothing is revealed.
    return {"your own layer is rejected at": " and ".join(last) or "no call"}
