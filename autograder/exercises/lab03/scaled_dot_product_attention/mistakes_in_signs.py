"""Wrong versions of attention whose forbidden keys get high scores instead of low ones."""

from .mistakes_in_masking import EMPTIED, FILLED, SOFTMAX, wrong

WRONG_SIGN = (
    "Forbidden keys have scores far above those of the allowed ones (with +inf, a row becomes "
    "NaN). Either a large number has the wrong sign, or a low one is added to the wrong keys: "
    "what is `mask` at an allowed key?"
)
ROW_EMPTIED = (
    "A row with a forbidden key comes out as zeros. Either that key had all the weight before you "
    "emptied it (a large number with the wrong sign), or you empty the whole row (`all`). Which "
    "weights of such a row should be left?"
)
REPAIRED = f"torch.nan_to_num({SOFTMAX})"
FILLS = {
    "infinity": "torch.inf",
    "highest": "torch.finfo(scores.dtype).max",
    "a_billion": "1e9",
    "10000": "1e4",
}
for name, number in FILLS.items():
    for which, emptied in (("", "weights"), ("_and_emptied", EMPTIED)):
        wrong.several(
            f"filled_with_plus_{name}{which}",
            {FILLED: f"scores.masked_fill(~mask, {number})", EMPTIED: emptied},
            ROW_EMPTIED if which and name != "infinity" else WRONG_SIGN,
        )
for name, changes in (("", {EMPTIED: "weights"}), ("_and_emptied", {})):
    wrong.several(
        f"filled_with_plus_infinity_and_repaired{name}",
        {FILLED: "scores.masked_fill(~mask, torch.inf)", SOFTMAX: REPAIRED, **changes},
        WRONG_SIGN,
    )
# The highest number is infinity here, and is told as that: a boolean times it is a float32.
for name, number in (("a_billion", "1e9"), ("10000", "1e4")):
    wrong.several(
        f"minus_{name}_added_to_allowed_ones",
        {FILLED: f"scores + mask * -{number}", EMPTIED: "weights"},
        WRONG_SIGN,
    )
    for which, emptied in (("", "weights"), ("_and_emptied", EMPTIED)):
        wrong.several(
            f"plus_{name}_added_to_allowed_ones{which}",
            {FILLED: f"scores + mask * {number}", EMPTIED: emptied},
            "You add a large number to the scores of the allowed keys, which then lose their last "
            "digits, or change their dtype. Which keys' scores have to change, and in which "
            "direction?",
        )
        wrong.several(
            f"plus_{name}_added{which}",
            {FILLED: f"scores + (~mask) * {number}", EMPTIED: emptied},
            ROW_EMPTIED if which else WRONG_SIGN,
        )
ALLOWED_FILLED = (
    "All allowed keys have one and the same score in your code, so they share equally. Do you fill "
    "where the mask is True, or does `nan_to_num` make 0 of a NaN, as of infinity times 0? Which "
    "scores should stay as they are?"
)
for which, emptied in (("", "weights"), ("_and_emptied", EMPTIED)):
    wrong.several(
        f"allowed_filled_with_plus_a_billion{which}",
        {FILLED: "scores.masked_fill(mask, 1e9)", EMPTIED: emptied},
        ALLOWED_FILLED,
    )
wrong.several(
    "allowed_filled_with_plus_infinity",
    {FILLED: "scores.masked_fill(mask, torch.inf)", EMPTIED: "weights"},
    "The scores of the allowed keys (where the mask is True) become +inf, so their rows become "
    "NaN. Which keys should lose their share, and which large numbers does exp turn into 0?",
)
wrong.several(
    "infinity_times_0_and_scores_repaired",
    {
        FILLED: "scores + (~mask).double() * -torch.inf",
        SOFTMAX: "torch.softmax(torch.nan_to_num(scores), -1)",
        EMPTIED: "weights * mask.any(-1, keepdim=True)",
    },
    ALLOWED_FILLED,
)
