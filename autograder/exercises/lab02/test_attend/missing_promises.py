"""Wrong tests of attend that compare results well, but leave out a promise of the task, or two."""

from __future__ import annotations

from . import exercise
from .also_right import every_promise

ONE_DTYPE = (
    "A version passes your test whose context is float64, whatever the dtype of the scores is. In "
    "which dtypes does your test call `impl`, and of which results does it compare the dtype?"
)

wrong = exercise.edits(every_promise)

wrong(
    "numbers_alone",
    "same_numbers, same_gradients",
    "same_numbers",
    "A version whose weights are cut from torch's graph passes your test, because its numbers are "
    "right. What would show that nothing can be learned about the scores with it?",
)
wrong(
    "gradients_only_finite",
    "same_numbers, same_gradients",
    "same_numbers, finite_gradients",
    "A version passes your test whose context has no gradient at the scores: yours came through "
    "the weights that it returns. With what does your test compare the gradients, and of which "
    "result?",
)
wrong(
    "mask_not_compared",
    ", same_mask",
    "",
    "A version that writes into the mask passes your test, and so a caller's batch would change. "
    "With what does your test compare the mask after a call, and is that another tensor?",
)
wrong(
    "gradients_without_padding_alone",
    "same_gradients, same_mask)",
    "same_mask)\n    hold(impl, batches(empty=3), same_gradients)",
    "A version passes your test whose numbers are right, but whose gradient is NaN for a sentence "
    "that is all padding. With which batches does your test call `backward()`?",
)
wrong(
    "small_vectors_at_padding",
    "rare_batches()",
    "rare_batches(far=1.0)",
    "A version passes your test in which a tiny part of the vectors at padding still reaches the "
    "context. The task of `attend` says that padding does not count, whatever its vector: which "
    "vectors at padding have you not tried?",
)
wrong.several(
    "tiny_weights_at_padding",
    {
        "same_numbers, same_gradients": "inputs_kept, roughly_the_same_values, same_gradients",
        "rare_batches(), same_values": "rare_batches(), roughly_the_same_values",
    },
    "A version that returns tiny weights at padding passes your test. The task of `attend` "
    "promises exactly 0 there: how large a difference does your test allow at padding?",
)
wrong(
    "one_dtype",
    "rare_batches()",
    "rare_batches(dtype=torch.float64)",
    ONE_DTYPE,
)
wrong(
    "dtype_of_the_weights_alone",
    "rare_batches(), same_values",
    "rare_batches(), same_values_in_float32",
    ONE_DTYPE,
)
wrong(
    "ordinary_scores_at_padding",
    " batches()",
    " batches(high=1.0)",
    "No score at padding in your test is very far above the tokens' scores. The task of `attend` "
    "says that padding never gets weight, `whatever its score`: which scores have you not tried?",
)
wrong(
    "ordinary_scores_at_tokens",
    " batches()",
    " batches(low=0.0)",
    "A version that puts a low number at padding, but not a very low one, passes your test. The "
    "task of `attend` allows any finite score at a token: which scores have you not tried?",
)
wrong(
    "ordinary_scores",
    " batches()",
    " batches(1.0, 0.0)",
    "Versions that are wrong for very high scores at padding, or for very low ones at tokens, pass "
    "your test. The task of `attend` allows any finite score: which have you not tried?",
)
INPUTS_NOT_COMPARED = (
    "Your test accepts a version that writes into the scores or the vectors that it is given. Its "
    "results may be right all the same. With what does your test compare these tensors after the "
    "call, and is that another tensor?"
)
for name, given in (
    ("", ""),
    ("_nor_high_scores_tried", "high=1.0"),
    ("_nor_low_scores_tried", "low=0.0"),
):
    wrong.several(
        f"inputs_not_compared{name}",
        {
            " batches()": f" batches({given})",
            "same_numbers, same_gradients": "same_values, same_gradients_of_copies",
        },
        INPUTS_NOT_COMPARED,
    )
wrong(
    "vectors_not_compared",
    "hold(impl, batches(), same_numbers",
    "hold(on_copied_vectors(impl), batches(), same_numbers",
    INPUTS_NOT_COMPARED,
)
wrong(
    "results_alone",
    "same_numbers, same_gradients, same_mask",
    "same_values",
    "Your test looks at results alone: a version that writes into its inputs passes, and so does "
    "one whose weights are cut from torch's graph. What is left to look at after a call?",
)
wrong(
    "no_empty_sentence",
    " batches()",
    " batches(empty=3)",
    "Your test has no sentence that is all padding, although the task of `attend` makes a promise "
    "about it. Which lengths does a batch need?",
)
ORDINARY_AND_NO_EMPTY_SENTENCE = (
    "Your test compares ordinary results well, but several versions that fail elsewhere pass. "
    "What does the task of `attend` promise for a sentence that is all padding, and for very high "
    "and very low scores?"
)
MASKED = "(one for one in batches({}) if one[2] is not None)"
for name, given in (("", "high=1.0, low=0.0, empty=3"), ("_low", "high=1.0, empty=3")):
    for end, held, made in (
        ("", "same_numbers, same_gradients", "batches({})"),
        ("_nor_gradients", "same_numbers", "batches({})"),
        ("_nor_inputs", "same_values", "batches({})"),
        ("_always_with_a_mask", "same_numbers, same_gradients", MASKED),
        ("_nor_gradients_always_with_a_mask", "same_numbers", MASKED),
    ):
        wrong.several(
            f"no_empty_sentence_nor_high{name}_scores{end}",
            {" batches()": " " + made.format(given), "same_numbers, same_gradients": held},
            ORDINARY_AND_NO_EMPTY_SENTENCE,
        )
wrong(
    "always_masks",
    " batches()",
    f" {MASKED.format('')}",
    "Your test passes a mask each time, so it accepts a version that cannot do without one. What "
    "does the task of `attend` say about a mask that is None?",
)
