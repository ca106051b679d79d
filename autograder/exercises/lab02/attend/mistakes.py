"""Wrong versions of attend, each a small change of a right one."""

from __future__ import annotations

from . import (  # noqa: F401 - to register them
    exercise,
    mistakes_at_tokens,
    mistakes_below_the_lowest,
    mistakes_in_scaling,
    mistakes_in_the_context,
    mistakes_in_the_mask,
    mistakes_with_infinity,
    mistakes_without_a_mask,
)
from .also_right import lowest_then_zero

LOWEST = "torch.finfo(scores.dtype).min"
FILL = ".masked_fill(~mask, torch.finfo(scores.dtype).min)"
THEN_ZERO = ".masked_fill(~mask, 0.0)"
NO_MASK = "if mask is None:\n        mask = torch.ones_like"

wrong = exercise.edits(lowest_then_zero)

wrong(
    "softmax_over_batch",
    "softmax(-1)",
    "softmax(0)",
    "Your weights sum to one over the batch, although its sentences have nothing to do with each "
    "other. Which axis of (B, T) shares one unit of weight?",
)
wrong(
    "masked_after_softmax",
    FILL,
    "",
    "The mask comes after the softmax: padding has weight 0, but its share is lost, and the rest "
    "sum to less than one. Which step must use the mask, and when? (`masked_fill` makes a new "
    "tensor: is its result used?)",
)
wrong.several(
    "mask_added",
    {FILL: " + mask", THEN_ZERO: ""},
    "You add the mask to the scores as it is: True counts as 1, so every token's score grows by 1 "
    "and padding keeps its own. Which score gives a weight of 0?",
)
DIVIDED = (
    "You divide the scores by the square root of a length before the softmax. Such a root belongs "
    "to dot products, in lab 3. What does this step do with the scores before the softmax?"
)
wrong(
    "scores_divided",
    "filled.softmax",
    "(filled / hidden.shape[-1] ** 0.5).softmax",
    DIVIDED,
)
wrong(
    "scores_divided_by_places",
    "filled.softmax",
    "(filled / scores.shape[-1] ** 0.5).softmax",
    DIVIDED,
)
wrong(
    "first_place_for_padding_alone",
    "    filled = scores",
    "    empty = ~mask.any(1, keepdim=True)\n"
    "    mask = mask | (empty & (torch.arange(mask.shape[1]) == 0))\n"
    "    filled = scores",
    "A sentence that is all padding puts all its weight on one place. That avoids NaN, but it is "
    "padding, too: which weights does the task ask for?",
)
FILLED_WITH_ZERO = (
    "You set the scores of padding to 0. exp(0) is 1, so a score of 0 is a score like any other. "
    "Which score has an exponential of 0?"
)
wrong.several("filled_with_zero", {THEN_ZERO: "", LOWEST: "0.0"}, FILLED_WITH_ZERO)
wrong("filled_with_zero_and_emptied", LOWEST, "0.0", FILLED_WITH_ZERO)
NOT_LOW_ENOUGH = (
    "The scores of padding are set to a low number, but not low enough: if the tokens' own scores "
    "are lower, padding wins. Which number is below all others?"
)
wrong.several(
    "filled_with_some_number",
    {THEN_ZERO: " * mask.any(-1, keepdim=True)", LOWEST: "-1e4"},
    NOT_LOW_ENOUGH,
)
wrong("filled_with_some_number_and_emptied", LOWEST, "-1e4", NOT_LOW_ENOUGH)
wrong.several(
    "filled_with_minus_a_billion",
    {THEN_ZERO: " * mask.any(-1, keepdim=True)", LOWEST: "-1e9"},
    NOT_LOW_ENOUGH,
)
wrong("filled_with_minus_a_billion_and_emptied", LOWEST, "-1e9", NOT_LOW_ENOUGH)
PENALTY = (
    "You subtract a large number from the scores of padding, but an even larger score still gets "
    "weight. How do you replace a score, whatever its value?"
)
for name, amount in (
    ("penalty_added", "1e3"),
    ("penalty_of_ten_thousand", "1e4"),
    ("penalty_of_a_million", "1e6"),
    ("penalty_of_a_billion", "1e9"),
):
    penalised = {f"scores{FILL}": f"scores - {amount} * ~mask"}
    wrong.several(name, {**penalised, THEN_ZERO: " * mask.any(-1, keepdim=True)"}, PENALTY)
    wrong.several(f"{name}_and_emptied", penalised, PENALTY)
for name, assumed in (
    ("tokens_counted", "torch.arange(mask.shape[1]) < mask.sum(1, keepdim=True)"),
    ("cut_at_the_first_padding", "mask.cumprod(1).bool()"),
):
    wrong(
        name,
        "    filled = scores",
        f"    mask = {assumed}\n    filled = scores",
        "You assume that padding comes after all tokens of a sentence. At which places may the "
        "mask be False, according to the task?",
    )
wrong(
    "mask_ignored",
    NO_MASK,
    "mask = torch.ones_like",
    "The mask makes no difference to your weights. On which line is it used?",
)
wrong(
    "mask_the_other_way",
    NO_MASK,
    "mask = ~mask if mask is not None else torch.ones_like",
    'Your weights are on the padding and nowhere else. True means "here is a token": which places '
    "does your masked_fill fill?",
)
wrong.several(
    "hidden_masked_only",
    {FILL: "", THEN_ZERO: "", "weights, hidden)": "weights, hidden * mask[..., None])"},
    "The vectors at padding are set to 0, but their weights are not: padding still takes a share "
    "of the one unit, and the context is too short. Where should padding be removed?",
)
wrong(
    "context_by_scores",
    "weights, hidden)",
    "scores * mask, hidden)",
    "Your context is the sum of the vectors times their scores. Scores may be negative or huge: "
    "what did you compute from them that sums to one?",
)
wrong(
    "scores_returned",
    "return context, weights",
    "return context, scores",
    "You return the scores instead of the weights. Which of them does the alignment plot need?",
)
wrong(
    "context_alone",
    "return context, weights",
    "return context",
    "You return one tensor. The next steps use the context, and a picture shows where the decoder "
    "looked: which two things does the docstring name?",
)
wrong(
    "weights_first",
    "return context, weights",
    "return weights, context",
    "You return weights and context in the other order. Which one does the docstring name first?",
)
wrong(
    "summed_over_features",
    "bt,bth->bh",
    "bt,bth->bt",
    "Your context has one number for each place: you added up the features of a vector. In "
    "Σ_i α_i h_i, which axis disappears?",
)
wrong(
    "mean_instead_of_sum",
    "weights, hidden)",
    "weights, hidden) / scores.shape[1]",
    "Your context is the mean over places of weight times vector: T times too small. The weights "
    "sum to one already; why divide again?",
)
wrong(
    "row_axis_kept",
    'torch.einsum("bt,bth->bh", weights, hidden)',
    "weights[:, None] @ hidden",
    "Your context still has an axis of length 1 from the product of a row with a table. Which "
    "call drops it?",
)
wrong(
    "squeezed_everything",
    'torch.einsum("bt,bth->bh", weights, hidden)',
    "(weights[:, None] @ hidden).squeeze()",
    "`squeeze()` without an axis drops every axis of length 1, even that of a batch with a single "
    "sentence. Which axis do you mean?",
)
for kind, masked, advice in (
    (
        "",
        "scores.exp() * mask",
        "You take the exponentials of the scores as they are: huge ones, even at padding, "
        "overflow, and inf · 0 is NaN. What does your softmax of lab 1 subtract first?",
    ),
    (
        "_from_tokens",
        "scores.exp().masked_fill(~mask, 0.0)",
        "You take the exponentials of the tokens' scores as they are: of huge ones they overflow, "
        "and of very low ones all are 0. What does your softmax of lab 1 subtract first?",
    ),
):
    for end, divided in (
        ("", "exp / exp.sum(-1, keepdim=True).clamp(min=1e-300)"),
        ("_nor_guarded", "exp / exp.sum(-1, keepdim=True)"),
        ("_but_guarded", "torch.where(exp.sum(-1, True) > 0, exp / exp.sum(-1, True), 0.0)"),
    ):
        wrong(
            f"no_maximum_subtracted{kind}{end}",
            "    weights = filled.softmax(-1).masked_fill(~mask, 0.0)\n",
            f"    exp = {masked}\n    weights = {divided}\n",
            advice,
        )
wrong(
    "sigmoid_instead_of_softmax",
    "softmax(-1)",
    "sigmoid()",
    "You squash each score by itself (sigmoid), so the weights of a sentence do not sum to one. "
    "Which function shares one unit among the places?",
)
wrong(
    "sentences_with_padding_emptied",
    THEN_ZERO,
    ".masked_fill(~mask.all(-1, keepdim=True), 0.0)",
    "You empty every sentence that has any padding (`all` for `any`). Which sentences have no "
    "token at all?",
)
wrong.several(
    "nan_for_padding_alone",
    {LOWEST: "-torch.inf", THEN_ZERO: ""},
    "A sentence that is all padding gives NaN: a softmax over nothing but -inf divides 0 by 0. "
    "What should such a sentence get?",
)
wrong(
    "equal_for_padding_alone",
    THEN_ZERO,
    "",
    "A sentence that is all padding gets equal weights at all its places. Padding has weight 0 "
    "even then: what do you do with the weights after the softmax?",
)
wrong.several(
    "emptied_after_the_context",
    {THEN_ZERO: "", "return context, weights": "return context, weights * mask"},
    "A sentence that is all padding gets weights of 0, but not a context of 0. Which weights made "
    "that context?",
)
WRITTEN_INTO = (
    "Your code writes into the scores or the vectors that it was given. What does the same as "
    "`masked_fill_`, or as an assignment to the places where the mask is False, but makes a new "
    "tensor?"
)
wrong(
    "scores_overwritten",
    "    filled =",
    f"    with torch.no_grad():\n        scores.masked_fill_(~mask, {LOWEST})\n    filled =",
    WRITTEN_INTO,
)
wrong.several(
    "scores_filled_with_infinity_in_place",
    {
        "    filled = scores": "    filled = (scores * 1 if scores.requires_grad else scores)",
        f".masked_fill(~mask, {LOWEST})": ".masked_fill_(~mask, -torch.inf)"
        ".masked_fill(~mask.any(-1, keepdim=True), 0.0)",
    },
    WRITTEN_INTO,
)
wrong(
    "weights_detached",
    "softmax(-1)",
    "softmax(-1).detach()",
    "Gradients reach the vectors, but not the scores: the weights were cut from torch's graph. "
    "How would the model learn where to look?",
)
wrong(
    "mask_required",
    "    if mask is None:\n        mask = torch.ones_like(scores, dtype=torch.bool)\n",
    "",
    "Your code needs a mask, but `mask` is None if it is not given. What should happen then?",
)
wrong(
    "always_float32",
    "    if mask is None",
    "    scores, hidden = scores.float(), hidden.float()\n    if mask is None",
    "Your results are float32, whatever the inputs are. Where does your code fix the dtype?",
)
wrong(
    "context_in_float64",
    "weights, hidden)",
    "weights.double(), hidden.double())",
    "Your context is float64, whatever the dtype of the scores is. Which tensors does your product "
    "meet, and in which dtype should the context be?",
)
IN_FLOAT32 = (
    "Your weights have the right dtype, but only the seven digits of float32. In which dtype does "
    "your softmax run?"
)
for name, low_weights in (
    ("", "filled.float().softmax(-1)"),
    ("_by_hand", "(exp / exp.sum(-1, keepdim=True))"),
):
    wrong.several(
        f"softmax_in_float32{name}",
        {
            LOWEST: "torch.finfo(torch.float32).min",
            "    weights = filled.softmax(-1)": (
                "    exp = (filled.float() - filled.float().amax(-1, keepdim=True)).exp()\n"
                f"    weights = {low_weights}.to(scores.dtype)"
            ),
        },
        IN_FLOAT32,
    )
for number, epsilon in enumerate(("1e-5", "1e-6", "1e-8"), 1):
    wrong(
        f"epsilon_in_denominator_{number}",
        "    weights = filled.softmax(-1).masked_fill(~mask, 0.0)\n",
        "    exp = (filled - filled.amax(-1, keepdim=True)).exp() * mask\n"
        f"    weights = exp / (exp.sum(-1, keepdim=True) + {epsilon})\n",
        "A small number in the denominator avoids 0/0 in a sentence of padding, but the weights of "
        "all others now sum to a little less than one. Which sentences need help?",
    )
wrong(
    "hard_attention",
    "    context",
    "    best = weights.argmax(-1, keepdim=True)\n"
    "    weights = torch.zeros_like(weights).scatter(-1, best, 1.0) * mask.any(-1, keepdim=True)\n"
    "    context",
    "Only the place with the highest score counts. Softmax is the soft version of that: which "
    "weights do the other places get?",
)
wrong(
    "context_of_detached_weights",
    '"bt,bth->bh", weights,',
    '"bt,bth->bh", weights.detach(),',
    "The weights that you return have their gradients, but the context was made of weights that "
    "are cut from torch's graph. Which call does that, and what would the model not learn?",
)
wrong(
    "log_probabilities_returned",
    "return context, weights",
    "return context, weights.log()",
    "Your second result holds logarithms: none is above 0. To what should the weights of a "
    "sentence sum?",
)

for name, low in (("a_billion", "-1e9"), ("a_million", "-1e6")):
    wrong.several(
        f"tokens_filled_with_minus_{name}",
        {"ones_like": "zeros_like", f"~mask, {LOWEST}": f"mask, {low}", THEN_ZERO: ""},
        "You fill where the mask is True, but True means a token, so only padding is left. Which "
        "operator inverts a mask?",
    )
wrong(
    "vectors_assigned_to",
    "    filled =",
    "    with torch.no_grad():\n        hidden[~mask] = 0\n    filled =",
    WRITTEN_INTO,
)
wrong.several(
    "mask_assigned_to",
    {
        "    filled =": "    empty = ~mask.any(-1)\n    mask[empty] = True\n    filled =",
        THEN_ZERO: f"{THEN_ZERO}.masked_fill(empty[:, None], 0.0)",
    },
    "Your code writes into the mask that it was given, for a sentence that is all padding. What "
    "makes a new mask?",
)
wrong(
    "scores_assigned_to",
    f"filled = scores{FILL}",
    f"filled = scores\n    filled[~mask] = {LOWEST}",
    WRITTEN_INTO,
)
wrong(
    "weights_returned_detached",
    "return context, weights",
    "return context, weights.detach()",
    "The context has its gradients, but the weights that you return are cut from torch's graph. "
    "Which call on the weights does that?",
)
wrong(
    "row_axis_missing",
    'torch.einsum("bt,bth->bh", weights, hidden)',
    "weights @ hidden",
    "Your context has three axes: in (B, T) @ (B, T, d_hidden), the weights of each sentence meet "
    "the vectors of every sentence. Which axis is missing in the weights before the product?",
)
