"""Wrong versions of `pad_invariant`, most of them one edit of a right one."""

import torch

from attnlab.causality import pad_invariant

from . import exercise
from .also_right import behind_and_in_front

wrong = exercise.edits(behind_and_in_front, of="pad_invariant")

wrong(
    "behind_only",
    "(behind, in_front)",
    "[behind]",
    "You put padding only behind the tokens. A causal model never looks there: where does a batch "
    "for generation have its padding?",
)
wrong(
    "in_front_only",
    "(behind, in_front)",
    "[in_front]",
    "You put padding only in front of the tokens. Where does a batch for training have its "
    "padding?",
)
wrong(
    "one_padding_token",
    "(1, 2, 3)",
    "[1]",
    "You try one padding token. A model may tolerate one but not three: how many does the task "
    "ask for?",
)
wrong(
    "two_padding_tokens_at_most",
    "(1, 2, 3)",
    "[1, 2]",
    "You try up to two padding tokens, and a model may tolerate those but not more. How many does "
    "the task ask for?",
)
wrong(
    "two_padding_tokens_left_out",
    "(1, 2, 3)",
    "[1, 3]",
    "A model that tolerates one padding token and three, but not two, passes your probe. Which "
    "numbers does the task ask for?",
)
wrong(
    "nan_at_padding_counts",
    "behind = fn(torch.cat([ids, padding], 1))[:, :T]",
    "whole = fn(torch.cat([ids, padding], 1))\n"
    "        same.append(not whole.isnan().any())\n"
    "        behind = whole[:, :T]",
    "A model that answers NaN at padding alone fails your probe. At which places does the task "
    "compare outputs?",
)
SOME_NUMBERS = (
    "You try two or three padding tokens at once, or put padding behind and in front in the same "
    "sequence. A model may tolerate three but not one: which cases does the task ask for?"
)
wrong("two_at_once", "(1, 2, 3)", "[2]", SOME_NUMBERS)
wrong("three_at_once", "(1, 2, 3)", "[3]", SOME_NUMBERS)
wrong(
    "both_sides_at_once",
    "same += [(seen - alone).abs().max() <= 1e-9 for seen in (behind, in_front)]",
    "both = fn(torch.cat([padding, ids, padding], 1))[:, count : count + T]\n"
    "        same.append((both - alone).abs().max() <= 1e-9)",
    SOME_NUMBERS,
)
NAN_PASSES = (
    "A model that outputs NaN passes your probe. What does your comparison give for NaN "
    "(`NaN > 1e-9` is False), and what does the task say about NaN?"
)
wrong(
    "nan_is_no_difference",
    "(seen - alone).abs().max() <= 1e-9",
    "not (seen - alone).abs().max() > 1e-9",
    NAN_PASSES,
)
wrong(
    "nan_equals_nan",
    "(seen - alone).abs().max() <= 1e-9",
    "torch.allclose(seen, alone, rtol=0, atol=1e-9, equal_nan=True)",
    NAN_PASSES,
)
wrong(
    "padding_hidden_by_tolerance",
    "(seen - alone).abs().max() <= 1e-9",
    "torch.allclose(seen, alone)",
    "Your comparison is too lenient (by default, `torch.allclose` allows 1e-5 of the number "
    "itself). From what size does a difference count, according to the task?",
)
MASKED_AND_REJECTED = (
    "You reject a model that masks padding: you expect outputs that agree to the last bit, or "
    "write padding over real tokens. How much may they differ, and how long is a padded sentence?"
)
wrong(
    "padding_to_the_last_bit",
    "(seen - alone).abs().max() <= 1e-9",
    "torch.equal(seen, alone)",
    MASKED_AND_REJECTED,
)
wrong(
    "front_not_shifted",
    "[:, count:]",
    "[:, :T]",
    "Padding in front moves the real tokens to the right, but you compare the first T outputs, and "
    "some of these belong to padding. At which places are the real tokens?",
)
wrong(
    "behind_shifted",
    "[:, :T]",
    "[:, -T:]",
    "With padding behind them, the real tokens stay where they were, but you compare the last T "
    "outputs, and some of these belong to padding. At which places are the real tokens?",
)
ALWAYS_FALSE = (
    "You return False even for a model that masks padding. Are the outputs that you compare those "
    "of the real tokens in each padded batch, and when does your function return True?"
)
wrong.several(
    "sides_swapped",
    {"[:, :T]": "[:, -T:]", "[:, count:]": "[:, :T]"},
    ALWAYS_FALSE,
)
wrong("always_false", "return all(same)", "return False", ALWAYS_FALSE)
wrong(
    "always_true",
    "return all(same)",
    "return True",
    "You return True even for a model that attends to padding. With which of its outputs do you "
    "compare those of the padded batches?",
)
wrong(
    "padding_sign_kept",
    ".abs().max()",
    ".max()",
    "Your comparison ignores outputs that become smaller with padding. What turns both signs into "
    "a size?",
)
wrong(
    "last_real_token_only",
    "(seen - alone)",
    "(seen - alone)[:, -1]",
    "You compare only the output at the last real token. Which outputs does the task name?",
)
wrong(
    "mean_of_differences",
    "(seen - alone).abs().max()",
    "(seen - alone).mean().abs()",
    "You look at the mean of the differences, so an increase in one number cancels a decrease in "
    "another. By how much may any single output differ?",
)
ONE_IS_ENOUGH = (
    "Your function returns True as soon as one of several comparisons succeeds (`or`, `any`, a "
    "`return True` inside the loop). How many of them must succeed, according to the task?"
)
wrong("one_case_is_enough", "all(same)", "any(same)", ONE_IS_ENOUGH)
wrong("first_case_is_enough", "all(same)", "bool(same[0])", ONE_IS_ENOUGH)
wrong(
    "one_side_is_enough",
    "all(same)",
    "all(a or b for a, b in zip(same[::2], same[1::2], strict=True))",
    ONE_IS_ENOUGH,
)
wrong(
    "padding_is_zero",
    "    real = ",
    "    pad = 0\n    real = ",
    "You take token 0 for padding, whatever `pad` is. Which token did you put around the real "
    "ones?",
)
wrong(
    "answer_turned_round",
    "return all(same)",
    "return not all(same)",
    "Your answer is inverted: you return True for a model whose outputs depend on padding. What "
    "does the name `pad_invariant` promise?",
)

wrong.several(
    "token_after_the_padding",
    {
        "    ids = real[": "    ids = (torch.arange(2 * T) % vocab)[",
        ".view(2, T) % len(real)]": ".view(2, T)]\n    ids[ids == pad] = pad + 1",
    },
    "In your real tokens you replace padding by the token after it, `pad + 1`. Which number is "
    "that if padding is the last token of the vocabulary?",
)

AT_PADDING = (
    "The model's outputs at padding decide for you: you compare those outputs, too, or the "
    "padding token is among your real tokens. Which outputs must stay the same?"
)
wrong("padding_among_the_real", " if token != pad", "", AT_PADDING)


@exercise.mistake(AT_PADDING, of="pad_invariant")
def outputs_at_padding_compared(fn, T, vocab, pad):
    ids = real_tokens(T, vocab, pad)
    few = fn(torch.cat([ids, torch.full((2, 1), pad)], 1))
    many = fn(torch.cat([ids, torch.full((2, 3), pad)], 1))
    same = torch.allclose(many[:, : T + 1], few, rtol=0, atol=1e-9)
    return same and pad_invariant(fn, T, vocab, pad)


@exercise.mistake(
    "You replace padding with other tokens and expect no change. Any real token may matter: should "
    "you change what the padding is, or how much there is?",
    of="pad_invariant",
)
def padding_replaced(fn, T, vocab, pad):
    ids = real_tokens(T, vocab, pad)
    with_padding = fn(torch.cat([ids, torch.full((2, 2), pad)], 1))[:, :T]
    with_others = fn(torch.cat([ids, torch.full((2, 2), (pad + 1) % vocab)], 1))[:, :T]
    return torch.allclose(with_padding, with_others, rtol=0, atol=1e-9)


def real_tokens(T, vocab, pad):
    """(2, T), tokens that are not padding."""
    real = torch.tensor([token for token in range(vocab) if token != pad])
    return real[torch.arange(2 * T).view(2, T) % len(real)]


@exercise.mistake(MASKED_AND_REJECTED, of="pad_invariant")
def real_tokens_overwritten(fn, T, vocab, pad):
    real = torch.tensor([token for token in range(vocab) if token != pad])
    ids = real[torch.randint(len(real), (100, T), generator=torch.Generator().manual_seed(2))]
    alone, same = fn(ids), []
    for count in (1, 2, 3):
        behind, in_front = ids.clone(), ids.clone()
        behind[:, -count:] = in_front[:, :count] = pad
        same += [((fn(behind) - alone)[:, :-count].abs() <= 1e-9).all()]
        same += [((fn(in_front) - alone)[:, count:].abs() <= 1e-9).all()]
    return bool(torch.stack(same).all())
