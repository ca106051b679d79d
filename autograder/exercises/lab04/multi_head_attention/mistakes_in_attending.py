"""Known mistakes in scores, masks, softmax and what is returned."""

from __future__ import annotations

from . import exercise
from .also_right import FourLayers

wrong = exercise.edits(FourLayers)

wrong(
    "ScaledByModel",
    "math.sqrt(self.d_k)",
    "math.sqrt(q.shape[-1])",
    "The scores are divided by √d_model. What grows with the number of terms in q · k, and how "
    "many terms does that sum have in one head?",
)
wrong(
    "ScaledByAllHeads",
    "math.sqrt(self.d_k)",
    "math.sqrt(self.num_heads * self.d_k)",
    "The scores are divided by the root of h · d_k, the width before the split. How many terms "
    "does q · k have in one head?",
)
wrong(
    "ScaledByValues",
    "math.sqrt(self.d_k)",
    "math.sqrt(self.d_v)",
    "The scores are divided by √d_v, the root of a value's length. What grows with the number of "
    "terms in q · k, and how many terms does that sum have?",
)
wrong(
    "ScaledByNumberOfKeys",
    "math.sqrt(self.d_k)",
    "math.sqrt(keys.shape[-2])",
    "The scores are divided by the root of the number of keys. What grows with the number of terms "
    "in q · k, and does a longer text add terms to that sum?",
)
wrong(
    "ScaledByNumberOfHeads",
    "math.sqrt(self.d_k)",
    "math.sqrt(self.num_heads)",
    "The scores are divided by the root of the number of heads. What grows with the number of "
    "terms in q · k, and how many terms does that sum have in one head?",
)
wrong(
    "KeysFromValues",
    "self.k_proj(k)",
    "self.k_proj(v)",
    "Your keys are projected from the third argument, v. In self-attention the three are the same, "
    "so it does not show. Which argument does each layer get?",
)
wrong(
    "NotScaled",
    " / math.sqrt(self.d_k)",
    "",
    "The scores are not divided by anything. Which part of lab 3's formula is missing?",
)
wrong(
    "ScaledTwice",
    "math.sqrt(self.d_k)",
    "self.d_k",
    "Your scores are divided by d_k. Either the root is missing, or the scores are divided by the "
    "root twice: once by you, and once more by the attention that you call. What does the formula "
    "divide them by?",
)
wrong(
    "KeepsItsMask",
    "allowed =",
    "self.kept = mask = getattr(self, 'kept', None) if mask is None else mask\n        allowed =",
    "Your layer remembers the mask of an earlier call and uses it if none is given. What does None "
    "mean in the task?",
)
wrong(
    "SoftmaxOverHeads",
    "masked_fill(~allowed, lowest).softmax(-1)",
    "softmax(1)",
    "The softmax runs over the heads: they share one unit of attention. Over what does each head "
    "spread its attention, and which axis is that?",
)
wrong(
    "SoftmaxOverQueries",
    "masked_fill(~allowed, lowest).softmax(-1)",
    "softmax(-2)",
    "The softmax runs over the queries: each key divides its attention among them. Along which "
    "axis should a head's weights sum to one?",
)
wrong(
    "MaskAsACondition",
    "mask is None else",
    "not mask else",
    "A line of yours asks whether a whole mask is true (`if mask:`, `mask or …`), and a tensor of "
    "many values is neither true nor false. What do you want to know about `mask` in that line?",
)
wrong(
    "MaskLinedUpWithHeads",
    "else mask",
    "else mask.squeeze(1)",
    "Your mask loses its second axis on the way, and the batch lines up with the heads: with as "
    "many sentences as heads, each head would get another sentence's mask, without an error. How "
    "do the shapes of scores and mask line up from the right?",
)
wrong(
    "MaskGetsAnotherAxis",
    "else mask",
    "else mask.unsqueeze(1)",
    "You give every mask one more axis. That fits (B, Lq, Lk), which is not used here. What does "
    "it make of (Lq, Lk), of three axes, (h, Lq, Lk), and of four?",
)
wrong(
    "FirstHeadsMask",
    "else mask",
    "else mask[:, :1] if mask.ndim == 4 else mask",
    "You use only the first head's part of the mask, for all heads. Which axis of a mask "
    "(B, h, Lq, Lk) did you index?",
)
ONE_MASK_FOR_THE_HEADS = (
    "All your heads use one mask: the part of one head, or what the parts of all heads have in "
    "common. Which part of a mask with an axis for the heads belongs to which head?"
)
ALL_OF_IT = "mask.expand(scores.shape)"
for name, part in (
    ("FirstHeadsMaskOfAll", f"{ALL_OF_IT}[:, :1]"),
    ("FirstHeadsMaskOfThreeAxes", "mask[..., :1, :, :] if mask.ndim > 2 else mask"),
    ("LastHeadsMask", f"{ALL_OF_IT}[:, -1:]"),
    ("AnyHeadsMask", f"{ALL_OF_IT}.any(1, keepdim=True)"),
    ("EveryHeadsMask", f"{ALL_OF_IT}.all(1, keepdim=True)"),
):
    wrong(name, "else mask", f"else {part}", ONE_MASK_FOR_THE_HEADS)
FIRST_SENTENCES_MASK = (
    "You use only the first sentence's part of the mask, for all sentences. Which axis of a mask "
    "(B, h, Lq, Lk) did you index?"
)
for name, part in (
    ("FirstSentencesMask", f"{ALL_OF_IT}[:1]"),
    ("FirstSentencesMaskOfFourAxes", "mask[:1] if mask.ndim == 4 else mask"),
):
    wrong(name, "else mask", f"else {part}", FIRST_SENTENCES_MASK)
wrong(
    "MaskTransposed",
    "else mask",
    "else mask.mT",
    "Rows and columns of your mask are swapped: words look ahead instead of back. Rows are "
    "queries, columns are keys; what transposes the mask?",
)
wrong(
    "MaskIgnored",
    " if mask is None else mask",
    "",
    "The mask changes nothing in your output. Where do you use it?",
)
wrong(
    "MaskInverted",
    "else mask",
    "else ~mask",
    'Your mask is inverted. torch\'s `nn.MultiheadAttention` takes True for "forbidden", but its '
    "`scaled_dot_product_attention` does not. What does True mean in the task?",
)
wrong(
    "MaskAfterSoftmax",
    "masked_fill(~allowed, lowest).softmax(-1)",
    "softmax(-1)",
    "The mask removes weights after the softmax, so the remaining ones do not sum to one. Before "
    "which step must a forbidden key be excluded?",
)
wrong(
    "NobodyGivesNan",
    "lowest).softmax(-1).masked_fill(~allowed, 0)",
    "-math.inf).softmax(-1)",
    "A query that may attend to no key makes 0/0, and NaN spreads from there. According to the "
    "task, what should its heads return?",
)
wrong(
    "NobodyGivesTheMean",
    "lowest).softmax(-1).masked_fill(~allowed, 0)",
    "-1e9).softmax(-1)",
    "A query that may attend to no key gets the mean of all values, even those of the padding. "
    "According to the task, what should its heads return?",
)
wrong(
    "WeightsDetached",
    "self.dropout(weights)",
    "self.dropout(weights.detach())",
    "No gradient goes back through the attention weights to what came before them. Which call "
    "leaves torch's graph?",
)
wrong(
    "PairUnlessAskedFor",
    " if need_weights else out",
    " if not need_weights else out",
    "You return the weights where nobody asked for them, and leave them out where `need_weights` "
    "is True. What does it mean?",
)
wrong(
    "AlwaysAPair",
    " if need_weights else out",
    "",
    "You always return a pair. What does the task return without `need_weights`?",
)
wrong(
    "PairWithNone",
    "(out, weights) if need_weights else out",
    "out, (weights if need_weights else None)",
    "Without `need_weights` you return a pair with None in it, as torch's own layer does. What "
    "should come back alone?",
)
wrong(
    "NeverAPair",
    "return (out, weights) if need_weights else out",
    "return out",
    "`need_weights` changes nothing: where are the attention weights?",
)
wrong(
    "WeightsAveraged",
    "(out, weights)",
    "(out, weights.mean(1))",
    "You average the weights over the heads, as torch does by default. What is the shape of the "
    "weights in the task?",
)
HEADS_ELSEWHERE = (
    "The weights that you return have their four axes in another order than the task's. Behind "
    "which axis does the task put the heads?"
)
wrong("WeightsHeadByHead", "(out, weights)", "(out, weights.transpose(0, 1))", HEADS_ELSEWHERE)
wrong("HeadsBehindTheKeys", "(out, weights)", "(out, weights.permute(0, 2, 3, 1))", HEADS_ELSEWHERE)
wrong(
    "WeightsWithHeadsInTheBatch",
    "(out, weights)",
    "(out, weights.flatten(0, 1))",
    "The weights that you return have three axes: sentences and heads share one, B · h. Which four "
    "axes does the task ask for?",
)
wrong(
    "ScoresReturned",
    "(out, weights)",
    "(out, scores)",
    "You return the scores. What do they become before the values are weighed with them?",
)
wrong(
    "QueriesAdded",
    "out = self.out_proj",
    "out = q + self.out_proj",
    "You add the queries to the output (a residual connection; that is lab 6). What does the "
    "formula end with?",
)
wrong(
    "QueriesAddedAndNormalised",
    "        out = self.out_proj(merge_heads(found))  # (B, Lq, d_model)\n",
    "        out = q + self.out_proj(merge_heads(found))\n"
    "        out = torch.nn.functional.layer_norm(out, out.shape[-1:])\n",
    "You add the queries to the output and normalise it, as a whole sublayer of the paper does "
    "(lab 6). What does the formula end with?",
)
wrong(
    "LogProbabilitiesReturned",
    "return (out, weights) if",
    "return (out, weights.log()) if",
    "The weights that you return are logarithms. What should they sum to?",
)
THREE_AXES = (
    "You take a mask of three axes for (B, Lq, Lk). Broadcasting counts axes from the right: which "
    "axis of the scores does the first of three meet?"
)
wrong(
    "MaskOfThreeAxesForSentences",
    "else mask",
    "else mask[:, None] if mask.ndim == 3 else mask",
    THREE_AXES,
)
wrong(
    "MaskOfThreeAxesForSentencesIfItFits",
    "else mask",
    "else mask[:, None] if mask.ndim == 3 and len(mask) == len(q) else mask",
    THREE_AXES,
)
TWO_AXES = (
    "You take a mask of two axes for (B, Lk), the padding of each sentence. Which two axes of the "
    "scores does a mask of two axes meet, counted from the right?"
)
wrong(
    "MaskOfTwoAxesForSentences",
    "else mask",
    "else mask[:, None, None] if mask.ndim == 2 else mask",
    TWO_AXES,
)
wrong(
    "MaskOfTwoAxesForSentencesIfItFits",
    "else mask",
    "else mask[:, None, None] if mask.ndim == 2 and len(mask) == len(q) else mask",
    TWO_AXES,
)
wrong(
    "OutputZeroed",
    "return (out, weights) if",
    "found = allowed.expand_as(scores).any(-1).any(1)[..., None]\n"
    "        out = out * found\n"
    "        return (out, weights) if",
    "Your output is 0 throughout for a query that may attend to no key. The heads give zeros "
    "there: what does the last layer make of zeros?",
)
wrong(
    "WeightsFirst",
    "return (out, weights) if",
    "return (weights, out) if",
    "Your pair is reversed: weights first, output second. Which of the two comes first in the "
    "task?",
)
wrong(
    "MaskMultiplied",
    "scores.masked_fill(~allowed, lowest).softmax(-1).masked_fill(~allowed, 0)",
    "(scores * allowed).softmax(-1).masked_fill(~allowed, 0)",
    "You multiply the scores by the mask, so a forbidden key has the score 0, and exp(0) = 1 takes "
    "a share. Which score gives a share of 0?",
)
wrong(
    "MaskAdded",
    "scores.masked_fill(~allowed, lowest).softmax(-1).masked_fill(~allowed, 0)",
    "(scores if mask is None else scores + mask).softmax(-1)",
    "You add the boolean mask to the scores, so allowed keys get a score that is 1 higher, and "
    "forbidden ones stay. Which number must be added to forbid a key?",
)
FILLED = "scores.masked_fill(~allowed, lowest).softmax(-1).masked_fill(~allowed, 0)"
for name, low in (("VeryLowAdded", "-1e9"), ("LowAdded", "-1e4")):
    wrong(
        name,
        FILLED,
        f"(scores + (1 - allowed.float()) * {low}).softmax(-1)",
        "A query that may attend to no key still gets an average of values: a very low number "
        "added to every score of a row changes nothing. What should its heads return?",
    )
wrong(
    "MaskTimesInfinity",
    FILLED,
    "(scores if mask is None else scores + ~allowed * -math.inf).softmax(-1)",
    "Your mask is multiplied by a number that is infinite in this dtype, and 0 times infinity is "
    "NaN, so even allowed keys get NaN. Which numbers should allowed keys keep?",
)
wrong.several(
    "MaskInvertedInPlace",
    {
        "        allowed =": "        if mask is not None:\n"
        "            mask.logical_not_()\n        allowed =",
        "else mask": "else ~mask",
    },
    "Your layer writes into the mask that it was given (`logical_not_`, `^=`): the next call gets "
    "it inverted. What makes a new tensor?",
)
NO_KEYS = "torch.tensor(False) if mask is None else ~mask.any(-1, keepdim=True)"
for name, opened in (
    ("RowsOpenedInTheMask", "mask"),
    ("FirstKeyOfEmptyRowsOpened", "mask[..., :1]"),
):
    wrong.several(
        name,
        {
            "        allowed =": f"        empty = {NO_KEYS}\n        if mask is not None:\n"
            f"            {opened} |= empty\n        allowed =",
            ".masked_fill(~allowed, 0)": ".masked_fill(empty, 0)",
        },
        "For a query without allowed keys you write True into the mask that you were given, so the "
        "caller's mask allows what it forbade. Where else can such a row be repaired?",
    )
wrong(
    "FirstKeyOpened",
    "        allowed =",
    "        if mask is not None:\n            mask[..., 0] = True\n        allowed =",
    "You allow the first key to every query, and you do so in the mask that you were given "
    "(`mask[..., 0] = True`). What should its weight be where the mask forbids it?",
)
