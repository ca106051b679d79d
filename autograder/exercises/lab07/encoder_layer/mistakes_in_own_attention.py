"""Known mistakes in layers with an attention of their own, as edits of a right version."""

from __future__ import annotations

from . import exercise
from .also_right import FourLayersOfItsOwn

wrong = exercise.edits(FourLayersOfItsOwn)

SCALE, FOUND = " / (D // self.h) ** 0.5", '"bhij,bhjd->bihd"'

wrong(
    "ScoresNotScaled",
    SCALE,
    "",
    "Your scores are not scaled. By what does a scaled dot product divide them (3.3)?",
)
wrong(
    "ScaledByTheWidth",
    SCALE,
    " / D**0.5",
    "You divide the scores by √d_model. Your queries are cut into heads: how many features does "
    "one product add up?",
)
wrong(
    "HeadsNotPutBack",
    FOUND,
    '"bhij,bhjd->bhid"',
    "You flatten (B, h, S, d_k) to (B, S, d_model), so a word gets heads of other words. Which "
    "axis must come back behind the words first (4.2)?",
)
wrong(
    "HeadsCutFromWords",
    ".view(B, S, self.h, D // self.h).permute(0, 2, 1, 3)",
    ".view(B, self.h, S, D // self.h)",
    "You cut (B, S, d_model) into (B, h, S, d_k) by `view` alone, so a head gets some of the words "
    "and not some of the features. Which two steps cut the heads (4.2)?",
)
wrong(
    "SoftmaxOverQueries",
    "scores.softmax(-1)",
    "scores.softmax(-2)",
    "Your weights add up to 1 for each key. For whom are the weights, and along which axis must "
    "they add up to 1?",
)
wrong(
    "MaskedWithZero",
    "torch.finfo(scores.dtype).min",
    "0.0",
    "You set forbidden scores to 0, and exp(0) = 1 is a weight like others. Which score becomes "
    "the weight 0 (5.1)?",
)
