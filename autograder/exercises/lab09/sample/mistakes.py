"""Mistakes in the order and in the sets of tokens that stay, as edits of two right versions."""

from __future__ import annotations

from . import exercise, mistakes_in_the_draw  # noqa: F401 - to register them
from .also_right import masked_logits, probabilities_first

wrong = exercise.edits(masked_logits)
edited = exercise.edits(probabilities_first)

wrong(
    "crossing_token_excluded",
    "        drop = torch.cat([torch.zeros_like(drop[..., :1]), drop[..., :-1]], -1)\n",
    "        drop[..., 0] = False\n",
    "Your `top_p` leaves out the token that crosses it, so the total of what stays is below "
    "`top_p`. On .5 .2 .15 .1 .05, which tokens are needed to reach .9?",
)
edited(
    "one_token_too_many",
    "(p.cumsum(-1) - p < top_p)",
    "(p.cumsum(-1) - p - p.roll(1, -1) * (rank > 0) < top_p)",
    "Your `top_p` keeps one token more than it needs. Is `top_p` reached before that token?",
)
edited(
    "nothing_may_stay",
    "(p.cumsum(-1) - p < top_p)",
    "(p.cumsum(-1) <= top_p)",
    "Your `top_p` leaves out the token that crosses it, and if the first token alone crosses it, "
    "nothing stays at all. What is the probability of the tokens before each one?",
)
edited(
    "share_of_each_token",
    "(p.cumsum(-1) - p < top_p)",
    "((p >= top_p) | (rank == 0))",
    "You compare the probability of each token with `top_p`. Of what is `top_p` the share?",
)
edited(
    "far_from_the_likeliest",
    "(p.cumsum(-1) - p < top_p)",
    "(p >= (1 - top_p) * p[..., :1])",
    "You compare each token with the likeliest one. Of what is `top_p` the share?",
)
wrong(
    "sort_not_undone",
    "        drop = torch.zeros_like(drop).scatter(-1, order, drop)\n",
    "",
    "You decide in sorted order which tokens go, and then use the decision in the order of the "
    "logits. Which token does each entry of your mask belong to?",
)
wrong(
    "sort_undone_the_wrong_way",
    "torch.zeros_like(drop).scatter(-1, order, drop)",
    "drop.gather(-1, order)",
    "You bring your mask back with the order that sorted it, instead of the order that undoes the "
    "sorting. Try it on three tokens: which entry belongs to token 0?",
)
edited(
    "sorted_place_returned",
    "tokens.gather(-1, place).squeeze(-1)",
    "place.squeeze(-1)",
    "You return places in the sorted order. Which token is at the place that you have drawn?",
)
edited(
    "unlikeliest_first",
    "p.sort(-1, descending=True)",
    "p.sort(-1)",
    "You sort the least likely tokens to the front, and keep those. Which tokens should stay?",
)
edited(
    "not_renormalised_before_top_p",
    "        p = p * (rank < top_k)\n        p = p / p.sum(-1, keepdim=True)\n",
    "        p = p * (rank < top_k)\n",
    "`top_p` still uses the probabilities from before `top_k`, whose sum is less than 1 now. What "
    "does the task say about what is left?",
)
edited(
    "not_renormalised_before_the_draw",
    "        p = p * (p.cumsum(-1) - p < top_p)\n        p = p / p.sum(-1, keepdim=True)\n",
    "        p = p * (p.cumsum(-1) - p < top_p)\n",
    "After `top_p` your probabilities do not add up to 1 when you draw from their cumulative sum. "
    "Which token is drawn if the random number is above the last sum?",
)
edited.several(
    "top_p_before_top_k",
    {
        "        p = p * (rank < top_k)\n        p = p / p.sum(-1, keepdim=True)\n"
        "    if top_p is not None:\n": "        pass\n    if top_p is not None:\n",
        "    u = torch.rand": "    if top_k is not None:\n        p = p * (rank < top_k)\n"
        "        p = p / p.sum(-1, keepdim=True)\n    u = torch.rand",
    },
    "You apply `top_p` before `top_k`. In which order does the task filter?",
)
wrong.several(
    "temperature_after_the_filters",
    {
        "scores = logits / temperature": "scores = logits",
        "p = scores.softmax(-1)\n    token": "p = (scores / temperature).softmax(-1)\n    token",
    },
    "Your temperature acts only after the filters. Whose total does `top_p` look at?",
)
wrong(
    "multiplied_by_the_temperature",
    "scores = logits / temperature",
    "scores = logits * temperature",
    "A high temperature makes your distribution sharper. Which operation should flatten it?",
)
wrong(
    "temperature_ignored",
    "scores = logits / temperature",
    "scores = logits.clone()",
    "The temperature has no effect unless it is 0. Where does it belong?",
)
edited(
    "temperature_of_the_probabilities",
    "(logits / temperature).softmax(-1)",
    "(logits.softmax(-1) / temperature).softmax(-1)",
    "You take the softmax twice. What should be divided by the temperature?",
)
edited(
    "root_of_the_temperature",
    "(logits / temperature)",
    "(logits / temperature**0.5)",
    "Your temperature acts too weakly. By what does the task divide the logits?",
)
wrong(
    "filtered_zero_as_a_logit",
    "scores.masked_fill(scores < kth, -torch.inf)",
    "scores.masked_fill(scores < kth, 0.0)",
    "`top_k` gives its dropped tokens the score 0. What is the probability of a score of 0?",
)
wrong(
    "dropped_by_top_p_as_a_zero",
    "scores.masked_fill(drop, -torch.inf)",
    "scores * ~drop",
    "`top_p` gives its dropped tokens the score 0. What is the probability of a score of 0?",
)
wrong(
    "k_above_v",
    "min(top_k, V)",
    "top_k",
    "Your code asks for more tokens than there are. What should `top_k` mean if it is above V?",
)
wrong(
    "kth_token_dropped",
    "scores < kth",
    "(scores <= kth) & (scores < scores.amax(-1, keepdim=True))",
    "One token less than `top_k` stays. Does the last of the `top_k` likeliest tokens belong to "
    "them?",
)
edited(
    "one_more_than_k",
    "rank < top_k",
    "rank <= top_k",
    "One token more than `top_k` stays. From which number do your ranks count?",
)
wrong(
    "one_limit_for_all_rows",
    "scores < kth",
    "scores < kth.min()",
    "You compare all rows with one `top_k`-th score. Whose is it?",
)
wrong(
    "top_k_ignored",
    "if top_k is not None:\n        kth",
    "if False:\n        kth",
    "`top_k` has no effect on the shares of your draws. Which tokens should stay?",
)
wrong(
    "top_p_ignored",
    "if top_p is not None:\n        ordered",
    "if False:\n        ordered",
    "`top_p` has no effect on the shares of your draws. Which tokens should stay?",
)
wrong(
    "only_one_filter",
    "if top_p is not None:\n        ordered",
    "if top_p is not None and top_k is None:\n        ordered",
    "With both filters, only `top_k` acts. Should one of them switch the other off?",
)
