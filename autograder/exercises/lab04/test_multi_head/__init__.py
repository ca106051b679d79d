"""test_multi_head: a test that distinguishes right and wrong versions of multi-head attention."""

from __future__ import annotations

from torch import nn

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


@exercise.check(points=4)
def openly_wrong(lab, draw):
    """Accepts your own layer, even inside another module; rejects it once it is obviously wrong."""

    class OppositeMask(lab.MultiHeadAttention):
        def forward(self, q, k, v, mask=None, need_weights=False):
            return super().forward(q, k, v, None if mask is None else ~mask, need_weights)

    class OtherNames(nn.Module):
        def __init__(self, *sizes, **options):
            super().__init__()
            self.model = lab.MultiHeadAttention(*sizes, **options)
            for name in ("num_heads", "d_k", "d_v"):
                setattr(self, name, getattr(self.model, name))

        def forward(self, q, k, v, mask=None, need_weights=False):
            return self.model(q, k, v, mask, need_weights)

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

    right = {
        "accepts your own": lab.MultiHeadAttention,
        "accepts your own inside another module": OtherNames,
        "accepts your own with other parameters at the start": OtherNumbers,
    }
    broken = {
        "rejects one that answers zero": NoAnswer,
        "rejects one that ignores the mask": NoMask,
        "rejects one that takes its values from the keys' text": KeysForValues,
        "rejects one that reports the same weights for all heads": SameWeightsForAll,
    }
    # The first wrong entry is explained, and a test that believes in opposite masks rejects all
    # right versions, too.
    return {
        "rejects one whose masks mean the opposite": draw.rejects(
            lab.test_multi_head, OppositeMask
        ),
        **{name: draw.accepted(lab.test_multi_head, version) for name, version in right.items()},
        **{name: draw.rejects(lab.test_multi_head, version) for name, version in broken.items()},
    }
