"""Mistakes in positions, masks and attention with a cache."""

from __future__ import annotations

import torch

from attnlab.kv_cache import cached_attention as right_attention

from . import exercise, mistakes_in_writing  # noqa: F401 - to register them
from .also_right import counted_and_compared, step_by_step

wrong = exercise.edits(counted_and_compared, of="positions_and_mask")
edited = exercise.edits(step_by_step, of="cached_attention")

wrong(
    "positions_restart",
    "valid.long().cumsum(dim=1) - 1",
    "torch.cat((valid[:, :done], valid[:, done:].long().cumsum(dim=1) - 1), 1)",
    "The first new token always gets position 0, even after other tokens. At which position does "
    "the text go on?",
)
wrong(
    "positions_of_the_batch",
    "valid.long().cumsum(dim=1) - 1",
    "torch.arange(L).expand(valid.shape)",
    "Your positions count the filling, too. Which position has the first valid token of a short "
    "text?",
)
wrong(
    "positions_from_one",
    "valid.long().cumsum(dim=1) - 1",
    "valid.long().cumsum(dim=1)",
    "Your positions count from 1. Which position has the first token?",
)
wrong(
    "negative_positions",
    "    positions = positions.clamp(min=0)\n",
    "",
    "Filling before a text gets the position -1. What does a table of positions return for it, and "
    "what does the task ask for?",
)
wrong(
    "one_position_for_all_new",
    "positions = positions[:, done:]",
    "positions = positions[:, -1:].expand(-1, T)",
    "All new tokens get one position. What if several tokens are new?",
)
wrong(
    "all_positions",
    "positions = positions[:, done:]",
    "positions = positions[:, :]",
    "You return the positions of all tokens. Whose does the task ask for?",
)
wrong(
    "aligned_top_left",
    "torch.arange(done, L)",
    "torch.arange(T)",
    "Your first new token attends to the first token alone, as in a mask that is aligned at the "
    "top left. How many tokens are before the first new one?",
)
wrong(
    "no_causal_mask",
    "causal[None] & valid[:, None, :]",
    "torch.ones_like(causal)[None] & valid[:, None, :]",
    "If several tokens are new, the first of them attends to the later ones. What must a part of "
    "several tokens, such as a prompt, not see?",
)
wrong(
    "causal_at_the_start_only",
    "causal[None] & valid[:, None, :]",
    "(causal if done == 0 else torch.ones_like(causal))[None] & valid[:, None, :]",
    "Your mask is causal in the first reading alone. What if several tokens follow later?",
)
wrong(
    "new_tokens_only",
    "causal[None] & valid[:, None, :]",
    "causal[None] & valid[:, None, :] & (keys >= done)",
    "Your new tokens attend to new tokens alone. What are the kept keys for?",
)
wrong(
    "mask_without_the_cache",
    "    keys = torch.arange(L)\n",
    "    keys, valid = torch.arange(done, L), valid[:, done:]\n",
    "Your mask has a column for each new token alone. Over which keys does a new token look?",
)
wrong(
    "not_itself",
    "keys[None, :] <= queries[:, None]",
    "keys[None, :] < queries[:, None]",
    "Your new token does not attend to itself. May it?",
)
wrong(
    "filling_is_attended_to",
    "causal[None] & valid[:, None, :]",
    "causal.expand(len(valid), T, L)",
    "Your tokens attend to filling. Which argument says where it is?",
)
wrong(
    "filling_as_queries",
    "valid[:, None, :]",
    "valid[:, done:, None]",
    "You take the rows of filling out of the mask instead of its columns. Who must not see what?",
)
wrong(
    "mask_inverted",
    "positions, mask.unsqueeze(1)",
    "positions, ~mask.unsqueeze(1)",
    "Your mask is True where a token must not attend. What does True mean in the task?",
)
wrong(
    "no_axis_for_the_heads",
    "positions, mask.unsqueeze(1)",
    "positions, mask",
    "Your mask has three axes, and its batch would be taken for heads. Which axis is missing?",
)
wrong(
    "mask_of_numbers",
    "positions, mask.unsqueeze(1)",
    "positions, mask.unsqueeze(1).double()",
    "Your mask holds numbers. Which dtype does the task ask for?",
)
edited(
    "past_ignored",
    "if past is not None:",
    "if past is not None and mask.shape[-1] == T:",
    "You do not use the kept keys and values. What does a new vector look at?",
)
edited(
    "new_before_old",
    "k = torch.cat([past[0], k], dim=2)\n        v = torch.cat([past[1], v], dim=2)",
    "k = torch.cat([k, past[0]], dim=2)\n        v = torch.cat([v, past[1]], dim=2)",
    "You put the new keys before the kept ones. Which column of the mask belongs to which key?",
)
edited(
    "values_before_keys",
    "k = torch.cat([past[0], k], dim=2)\n        v = torch.cat([past[1], v], dim=2)",
    "k = torch.cat([past[1], k], dim=2)\n        v = torch.cat([past[0], v], dim=2)",
    "You append new keys to kept values. In which order are the two parts of `past`?",
)
edited(
    "values_in_another_order",
    "v = torch.cat([past[1], v], dim=2)",
    "v = torch.cat([v, past[1]], dim=2)",
    "Your keys and your values are in different orders. Which value belongs to the first key?",
)
edited(
    "keys_of_the_newest_kept",
    "return attention.out_proj(out), (k, v)",
    "return attention.out_proj(out), (k[:, :, -T:], v[:, :, -T:])",
    "You keep the newest keys and values alone. Which ones does the next call need?",
)
edited(
    "past_returned",
    "return attention.out_proj(out), (k, v)",
    "return attention.out_proj(out), (past or (k, v))",
    "The new keys and values get lost after this call. What does the next call need?",
)
edited(
    "appended_to_the_batch",
    "k = torch.cat([past[0], k], dim=2)\n        v = torch.cat([past[1], v], dim=2)",
    "k = torch.cat([past[0], k])\n        v = torch.cat([past[1], v])",
    "You append along the axis of the batch. Along which axis does a text grow?",
)
edited(
    "appended_to_the_heads",
    "k = torch.cat([past[0], k], dim=2)\n        v = torch.cat([past[1], v], dim=2)",
    "k = torch.cat([past[0], k], dim=1)\n        v = torch.cat([past[1], v], dim=1)",
    "You append along the axis of the heads. Along which axis does a text grow?",
)
edited(
    "mask_unused",
    "scores = scores.masked_fill(~mask, -torch.inf)",
    "scores = scores + 0.0",
    "The mask has no effect. Where do you need it?",
)
edited(
    "own_causal_mask",
    "scores = scores.masked_fill(~mask, -torch.inf)",
    "scores = scores.masked_fill(~torch.ones_like(scores[0, 0]).tril().bool(), -torch.inf)",
    "You make a mask of your own, aligned at the top left (`is_causal=True` does the same). Which "
    "keys does a single new query see then?",
)
edited(
    "mask_added",
    "scores = scores.masked_fill(~mask, -torch.inf)",
    "scores = scores + mask.to(scores.dtype)",
    "You add True and False to the scores, as 1 and 0 (torch's own attention does so with a mask "
    "of numbers). What must be added to a forbidden score?",
)
edited(
    "zeros_are_lost",
    "weights = scores.softmax(-1).nan_to_num(0.0)",
    "weights = scores.softmax(-1)",
    "A query that may attend to nothing makes NaN. What should it find?",
)
edited(
    "alike_instead_of_zeros",
    "-torch.inf)",
    "-1e30)",
    "A query that may attend to nothing gets the mean of all values. What should it find?",
)
edited(
    "not_scaled",
    " / math.sqrt(d // h)",
    "",
    "Your scores are not scaled as in lab 3. By what are they divided?",
)
edited(
    "scaled_by_the_model",
    "math.sqrt(d // h)",
    "math.sqrt(d)",
    "You scale by the features of the model. How many features does one head's key have?",
)
edited(
    "heads_not_turned_back",
    "(weights @ v).transpose(1, 2).reshape(B, T, d)",
    "(weights @ v).reshape(B, T, d)",
    "You join heads and positions in the wrong order. What is the shape before you join the heads?",
)
edited(
    "heads_cut_from_positions",
    "k = attention.k_proj(x).view(B, T, h, d // h).transpose(1, 2)",
    "k = attention.k_proj(x).view(B, h, T, d // h)",
    "You cut keys into heads along the wrong axis. What did `split_heads` of lab 4 do?",
)
edited(
    "no_projection_at_the_end",
    "return attention.out_proj(out), (k, v)",
    "return out, (k, v)",
    "One of the four layers is not used. Which?",
)
edited(
    "not_projected_keys_kept",
    "k = attention.k_proj(x)",
    "k = x",
    "You keep the vectors themselves instead of keys. Which layer makes keys?",
)
edited(
    "projected_again",
    "    if past is not None:\n",
    "    attention.k_proj(torch.zeros(B, mask.shape[-1], d, dtype=x.dtype))\n"
    "    if past is not None:\n",
    "You project as many vectors as if nothing had been kept. Which of them are new?",
)


@exercise.mistake(
    "Your cache is kept in a place of its own and not in what you return, so two continuations of "
    "one beginning share it. What does `past` say?",
    of="cached_attention",
)
def kept_on_the_module(attention, x, past, mask):
    past = None if past is None else getattr(attention, "kept", past)
    if past is not None and past[0].shape[2] != mask.shape[-1] - x.shape[1]:
        past = tuple(part[:, :, : mask.shape[-1] - x.shape[1]] for part in past)
    out, attention.kept = right_attention(attention, x, past, mask)
    return out, attention.kept


@exercise.mistake(
    "Your cache writes new keys and values into the tensors that it was given, so it changes what "
    "another continuation still needs. Which call makes new tensors?",
    of="cached_attention",
)
def written_into_the_past(attention, x, past, mask):
    out, (k, v) = right_attention(attention, x, past, mask)
    if past is not None:
        with torch.no_grad():
            past[0].copy_(k[:, :, -past[0].shape[2] :])
            past[1].copy_(v[:, :, -past[1].shape[2] :])
    return out, (k, v)


@exercise.mistake(
    "Your cache has a fixed number of rows, and queries attend to rows that are not filled yet. "
    "How many keys are there so far?",
    of="cached_attention",
)
def rows_not_filled_yet(attention, x, past, mask):
    _, (k, v) = right_attention(attention, x, past, mask)
    rows = torch.ones(*mask.shape[:-1], 1, dtype=torch.bool)
    h, d = attention.num_heads, x.shape[2]
    q = attention.q_proj(x).view(len(x), -1, h, d // h).transpose(1, 2)
    keys, values = (torch.cat((part, torch.zeros_like(part[:, :, :1])), 2) for part in (k, v))
    scores = q @ keys.transpose(-2, -1) / (d // h) ** 0.5
    weights = scores.masked_fill(~torch.cat((mask, rows), -1), -torch.inf).softmax(-1)
    found = (weights @ values).transpose(1, 2).reshape(x.shape)
    return attention.out_proj(found), (k, v)
