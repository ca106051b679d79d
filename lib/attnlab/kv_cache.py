"""Writing with a cache: a text is read in parts, and the keys and values of each are kept.

    tokens = generate(model, prompt, 50, temperature=0.8)  # (B, 50)

:class:`attnlab.gpt.GPT` keeps them inside the model; the first two functions show how.

Source: Fast Transformer Decoding: One Write-Head is All You Need (Shazeer 2019).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - torch's own abbreviation

from attnlab.attention import scaled_dot_product_attention
from attnlab.masks import causal_mask
from attnlab.multihead import merge_heads, split_heads
from attnlab.sampling import sample


def positions_and_mask(valid: Tensor, T: int) -> tuple[Tensor, Tensor]:  # noqa: N803 - the field's letter
    """The positions of the newest tokens, and the tokens that each of them may attend to.

    The texts of a batch have different lengths, so short ones are filled up on the left. Filling is
    not part of a text: positions count the valid tokens alone, from 0, and no token attends to
    filling. No token attends to a later one, either.

    Args:
        valid: (B, L), boolean, about all tokens so far: False where a text is filled up. It stays
            unchanged.
        T: how many of the tokens are new, from 1 to L; they are the last ones.

    Returns:
        The positions of the new tokens, (B, T), int64, and 0 for filling; and the mask, (B, 1, T,
        L), boolean, True where a new token may attend to a token.
    """
    # blank: count the valid tokens; no later tokens and no filling
    positions = (valid.cumsum(1) - 1).clamp(min=0)[:, -T:]  # (B, T)
    mask = causal_mask(T, valid.shape[1], device=valid.device)  # (T, L)
    return positions, mask & valid[:, None, None, :]
    # end blank


def cached_attention(
    attention: Any, x: Tensor, past: tuple[Tensor, Tensor] | None, mask: Tensor
) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """Attend from new vectors to all vectors so far, whose keys and values were kept.

    Only the new vectors are projected. Their keys and values follow those of `past`, which stays as
    it is: several texts may continue the same beginning.

    Args:
        attention: multi-head attention as in lab 4, with four layers from d_model to d_model
            features, `q_proj`, `k_proj`, `v_proj` and `out_proj`, and with `num_heads`, h. Only
            these are used.
        x: (B, T, d_model), the new vectors; stays unchanged.
        past: the keys and the values of the vectors before them, each (B, h, L - T, d_k); None if
            there are none.
        mask: (B, 1, T, L), boolean, True where a new vector may attend to a vector. A query that
            may attend to no key finds zeros.

    Returns:
        The output, (B, T, d_model); and the keys and the values of all vectors, each (B, h, L,
        d_k).
    """
    # blank: project, append, attend
    q, k, v = (
        split_heads(layer(x), attention.num_heads)
        for layer in (attention.q_proj, attention.k_proj, attention.v_proj)
    )  # (B, h, T, d_k) each
    if past is not None:
        k = torch.cat((past[0], k), 2)  # (B, h, L, d_k)
        v = torch.cat((past[1], v), 2)  # (B, h, L, d_k)
    found, _ = scaled_dot_product_attention(q, k, v, mask)  # (B, h, T, d_k)
    out: Tensor = attention.out_proj(merge_heads(found))
    return out, (k, v)
    # end blank


def generate(
    model: Any,
    prompt: Tensor,
    max_new_tokens: int,
    *,
    valid: Tensor | None = None,
    eos: int | None = None,
    **how_to_sample: Any,
) -> Tensor:
    """Continue prompts with a cache: the first call reads them, and each later call one token.

    The model runs in evaluation mode and without gradients; afterwards it is in the mode in which
    it came.

    Args:
        model: called as ``logits, state = model(ids, state, valid=valid)``. It returns logits
            (B, T, V) for the token after each of `ids`, (B, T), and a state with the keys and
            values of all tokens so far, for the next call (the first one gets None). `valid` is
            about `ids` alone; None: all are valid. With ``last_only=True`` it computes the last
            token's logits only, (B, 1, V). ``model.cfg.context`` is the most tokens that it reads.
        prompt: (B, T), int64, T at least 1; short rows are filled up on the left. It stays
            unchanged.
        max_new_tokens: how many tokens are written for each row; may be 0.
        valid: (B, T), boolean, False where `prompt` is filled up; None if nowhere.
        eos: the token that ends a text: a row that has written it writes only `eos` from then on.
            None: there is no such token.
        **how_to_sample: for `sample`: temperature, top_k, top_p, generator.

    Returns:
        (B, max_new_tokens), int64: the new tokens, without the prompt.

    Raises:
        ValueError: prompt and new tokens together are more than `model.cfg.context`.
    """
    # blank: refuse what is too long; read, sample, mind those that have ended; restore the mode
    total = prompt.shape[1] + max_new_tokens
    if total > model.cfg.context:
        raise ValueError(f"{total} tokens, but the model reads only {model.cfg.context}")
    was_training = model.training
    model.eval()
    try:
        read, state, written = prompt, None, []
        ended = torch.zeros(len(prompt), dtype=torch.bool, device=prompt.device)
        for _ in range(max_new_tokens):
            with torch.no_grad():
                logits, state = model(read, state, valid=valid, last_only=True)
            token = sample(logits[:, -1], **how_to_sample)  # (B,)
            if eos is not None:
                token = token.masked_fill(ended, eos)
                ended = ended | (token == eos)
            written.append(token)
            read, valid = token[:, None], None
    finally:
        model.train(was_training)
    return torch.stack(written, 1) if written else prompt[:, :0]
    # end blank


def read_on(
    model: Any,
    ids: Tensor,
    kept: list[tuple[Tensor, Tensor]] | None,
    valid: Tensor,
    positions_and_mask: Any,
    cached_attention: Any,
) -> tuple[Tensor, list[tuple[Tensor, Tensor]]]:
    """A GPT's logits for new tokens, made of the two functions above.

    Args:
        model: an `attnlab.gpt.GPT`, or another model with these names; used without dropout.
        ids: (B, T), int64, the new tokens.
        kept: the keys and values of the tokens before them, for each block; None if there are none.
        valid: (B, L), boolean, about all tokens: False where a text is filled up on the left.
        positions_and_mask, cached_attention: the functions to use.

    Returns:
        The logits (B, T, V), and the keys and values of all tokens, for each block.
    """
    where, mask = positions_and_mask(valid, ids.shape[1])
    x = model.tokens(ids) + model.positions(where)  # (B, T, d_model)
    past = [None] * len(model.blocks) if kept is None else kept
    now = []
    for block, keys_values in zip(model.blocks, past, strict=True):
        found, longer = cached_attention(block.attention, block.norm1(x), keys_values, mask)
        x = x + found
        x = x + block.linear2(F.gelu(block.linear1(block.norm2(x)), approximate="tanh"))
        now.append(longer)
    return model.head(model.norm(x)), now
