"""Other ways to fix it, and ways that do not."""

from __future__ import annotations

from . import case

OWN = "        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)"
PLACES = "torch.arange(k.shape[2])"
CALL = "        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)"

case.other_fix(
    "in_one_line",
    {"is_causal=True": "attn_mask=torch.ones(T, k.shape[2]).tril(k.shape[2] - T).bool()"},
)
case.other_fix(
    "by_positions",
    {OWN: f"        mask = {PLACES} <= {PLACES}[-T:, None]\n{CALL}"},
)
case.other_fix(
    "last_rows_of_a_square",
    {OWN: f"        mask = q.new_ones(k.shape[2], k.shape[2]).tril()[-T:] > 0\n{CALL}"},
)

case.wrong_fix(
    "causal_if_several",
    {"is_causal=True": "is_causal=T > 1"},
    "Single positions are right now, but try a second piece of several positions: at which key "
    "does its triangle begin?",
)
case.wrong_fix(
    "causal_without_a_cache",
    {"is_causal=True": "is_causal=cache is None"},
    "Single positions are right now, and pieces of several read all of their past. But what else "
    "do the positions of such a piece read?",
)
case.wrong_fix(
    "upper_left_corner",
    {"is_causal=True": "attn_mask=torch.ones(T, k.shape[2]).tril().bool()"},
    "Your table is right if there are as many keys as queries. With a cache there are more: in "
    "which column is the last query's own key?",
)
case.wrong_fix(
    "triangle_ahead",
    {"is_causal=True": "attn_mask=torch.ones(T, k.shape[2]).triu(k.shape[2] - T).bool()"},
    "The triangle is in the right corner now, but it holds the positions *ahead*. What does True "
    "mean to the attention function?",
)
case.wrong_fix(
    "newest_first",
    {
        "zip(cache, (k, v), strict=True)": "zip((k, v), cache, strict=True)",
        "is_causal=True": "attn_mask=torch.ones(T, k.shape[2]).tril(k.shape[2] - T).bool()",
    },
    "The triangle is right for keys in the order of their positions. In which order do yours stand "
    "after the two lists are joined?",
)
case.wrong_fix(
    "never_causal",
    {"is_causal=True": "is_causal=False"},
    "Generation is right now, but what about training? Does your test also run a whole sequence "
    "and change its end?",
)
case.wrong_fix(
    "one_ahead",
    {"is_causal=True": "attn_mask=torch.ones(T, k.shape[2]).tril(k.shape[2] - T + 1).bool()"},
    "The triangle is in the right corner now, but one too far: which key may the first query of a "
    "piece not read?",
)
case.wrong_fix(
    "itself_hidden",
    {"is_causal=True": "attn_mask=torch.ones(T, k.shape[2]).tril(k.shape[2] - T - 1).bool()"},
    "The triangle is in the right corner now, but a position no longer reads itself. What does the "
    "docstring say?",
)
case.wrong_fix(
    "numbers_for_a_mask",
    {"is_causal=True": "attn_mask=torch.ones(T, k.shape[2]).tril(k.shape[2] - T).to(x)"},
    "Your table has its ones in the right places, but as numbers: what does the attention function "
    "do with a mask of numbers?",
)
case.wrong_fix(
    "earlier_calls_forgotten",
    {"        if cache is not None:": "        if cache is not None and T > 1:"},
    "Single positions no longer read the wrong key, because they read no earlier one at all. What "
    "does the docstring say of earlier calls?",
)
