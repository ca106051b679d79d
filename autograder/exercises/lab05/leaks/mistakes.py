"""Wrong versions of `leaks` and `pad_invariant`, most of them one edit of a right one."""

import torch
from torch import nn

from attnlab.causality import leaks, pad_invariant

from . import exercise
from .also_right import behind_and_in_front, one_change_at_a_time, run

wrong = exercise.edits(one_change_at_a_time, of="leaks")

RANDOM = "torch.randint(vocab, (100, T), generator=torch.Generator().manual_seed(4))"
TWO = "torch.arange(2 * T).view(2, T) % vocab"

wrong(
    "few_sequences",
    RANDOM,
    TWO,
    "You ask the model about one or two sequences. A model may look ahead only after a certain "
    "word: how many different sequences can you try?",
)
wrong(
    "nan_is_no_leak",
    "for i in range(j) if not same[i]",
    "for i in range(j) if (after - before).abs().amax((0, 2))[i] > 1e-9",
    "A model whose outputs are NaN passes your probe, because no comparison with NaN is True. What "
    "does `NaN <= 1e-9` give, and what does `not` make of it?",
)
wrong.several(
    "outputs_changed",
    {
        "other = ids.clone()": "after = before.clone()",
        "other[:, j] = (ids[:, j] + step) % vocab": "after[:, j] += 1.0",
        "            after = run(fn, other)\n": "",
    },
    "You change the outputs, not the tokens, so the model never sees anything new. What goes into "
    "`fn` the second time?",
)
wrong.several(
    "hidden_by_tolerance",
    {"(after - before).abs().amax((0, 2)) <= 1e-9": "torch.isclose(before, after).all(-1).all(0)"},
    "Your comparison is too lenient (by default, `torch.allclose` allows 1e-5 of the number "
    "itself). A faint leak is a leak: from what size does a difference count, according to the "
    "task?",
)
wrong(
    "rounding_counts",
    "<= 1e-9",
    "<= 0",
    "You expect outputs that agree to the last bit, so rounding counts as a leak. From what size "
    "does a difference count, according to the task?",
)
wrong(
    "winners_compared",
    "(after - before).abs().amax((0, 2)) <= 1e-9",
    "(after.argmax(-1) == before.argmax(-1)).all(0)",
    "You compare the likeliest tokens, not the outputs, so you miss a leak that does not change "
    "the winner. What does the task compare?",
)
wrong(
    "first_number_only",
    "(after - before)",
    "(after - before)[..., :1]",
    "You compare one number of each output (`[..., 0]`). Which of its numbers can show a leak?",
)
wrong.several(
    "signs_cancel",
    {".abs().amax((0, 2))": ".sum((0, 2))", RANDOM: TWO},
    "You add up differences with their signs, so an increase in one number cancels a decrease in "
    "another. What turns both signs into a size?",
)
wrong(
    "last_token_only",
    "for j in range(T):",
    "for j in [T - 1]:",
    "You change only the last token. Which places can a query look at too early?",
)
wrong(
    "neighbour_only",
    "for i in range(j)",
    "for i in range(max(j - 1, 0), j)",
    "You inspect only the output just before the changed token. How far ahead may a leaking model "
    "look?",
)
wrong(
    "last_place_left_out",
    "for j in range(T):",
    "for j in range(T - 1):",
    "The last output is never reported or the last token is never changed: a range ends one too "
    "soon. Which `j` does your loop reach for T places?",
)
wrong(
    "other_dice",
    "run(fn, other)",
    "fn(other)",
    "Dropout draws different random numbers each time you call the model, and you take that for a "
    "leak. How can you make two runs draw the same numbers?",
)
wrong.several(
    "one_new_token",
    {"for step in range(1, vocab):": "for step in [1]:", RANDOM: TWO},
    "You try one new token at each place. A model may look ahead for one token in particular: how "
    "many others are there?",
)
wrong.several(
    "last_token_never_tried",
    {
        RANDOM: "torch.zeros(2, T, dtype=torch.int64)",
        "range(1, vocab)": "range(vocab - 1)",
    },
    "You never try the last token of the vocabulary. Could a model look ahead for that one only?",
)
MORE_THAN_ONE = (
    "You change more than one token: all from place `j` on, or each copy keeps the changes of the "
    "one before. So an output that looks at a token behind `j` is reported for `j`. What is the "
    "smallest change that you can make?"
)
wrong(
    "everything_from_there_on",
    "other[:, j] = (ids[:, j] + step)",
    "other[:, j:] = (ids[:, j:] + step)",
    MORE_THAN_ONE,
)
wrong.several(
    "changes_pile_up",
    {
        "    for j in range(T)": "    other = ids.clone()\n    for j in reversed(range(T))",
        "            other = ids.clone()\n": "",
        "(ids[:, j] + step)": "(other[:, j] + 1)",
    },
    MORE_THAN_ONE,
)
wrong(
    "own_place_reported",
    "for i in range(j)",
    "for i in range(j + 1)",
    "You also report an output that depends on the token at its own place, which is allowed. Which "
    "pairs does the task ask for?",
)
wrong(
    "past_reported",
    "for i in range(j) if",
    "for i in range(T) if i != j and",
    "You also report outputs behind the changed token. In which direction must a model not look?",
)
wrong(
    "later_outputs_only",
    "(i, j) for i in range(j)",
    "(j, i) for i in range(j + 1, T)",
    "You report later outputs that a change reaches, and those should move. Is `i` the output or "
    "the token?",
)
wrong(
    "pairs_turned_round",
    "(i, j) for",
    "(j, i) for",
    "The two numbers of each of your pairs are swapped: the token comes first, then the output. "
    "Which order does the task give?",
)
wrong(
    "counted_from_one",
    "(i, j) for",
    "(i + 1, j + 1) for",
    "You count places from 1. Which number has the first place in torch?",
)
wrong(
    "first_leak_only",
    "sorted(found)",
    "sorted(found)[:1]",
    "You stop at the first leak. The pattern of all leaks shows what is wrong: where does your "
    "loop end?",
)
wrong.several(
    "reported_repeatedly",
    {
        "found = set()": "found = []",
        "found |= {(i, j) for i in range(j) if not same[i]}": (
            "found += [(i, j) for i in range(j) if not same[i]]"
        ),
    },
    "You report the same pair once for each new token. Which container holds each pair once?",
)
wrong(
    "sorted_by_token",
    "sorted(found)",
    "sorted(found, key=lambda pair: pair[::-1])",
    "Your pairs are right, but in another order. Which of their two numbers does sorting compare "
    "first?",
)
wrong(
    "only_whether",
    "sorted(found)",
    "bool(found)",
    "You return whether there are leaks, or how many. What should each item of the list hold?",
)


@exercise.mistake(MORE_THAN_ONE, of="leaks")
def all_later_tokens_at_once(fn, T, vocab):
    ids = torch.randint(vocab, (100, T), generator=torch.Generator().manual_seed(4))
    before = run(fn, ids)  # (100, T, k)
    found = set()
    for i in range(T - 1):
        for token in range(vocab):
            other = ids.clone()
            other[:, i + 1 :] = token
            if not (run(fn, other) - before)[:, i].abs().max() <= 1e-9:
                found |= {(i, j) for j in range(i + 1, T)}
    return sorted(found)


@exercise.mistake(
    "You switch the model to `eval()` first. That turns off dropout, but also the batch statistics "
    "of batch normalisation, which leak in training. In which mode should the model be asked?",
    of="leaks",
)
def switched_to_eval(fn, T, vocab):
    if isinstance(fn, nn.Module):
        fn.eval()
    return leaks(fn, T, vocab)


@exercise.mistake(
    "Your new token is sometimes the old one: a random token equals it once in `vocab` times. How "
    "do you make sure that something changes?",
    of="leaks",
)
def same_token_by_chance(fn, T, vocab):
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(vocab, (1, T), generator=generator)
    found = set()
    for j in range(T):
        other = ids.clone()
        other[:, j] = torch.randint(vocab, (1,), generator=generator)
        moved = (run(fn, other) - run(fn, ids)).abs().amax((0, 2))  # (T,)
        found |= {(i, j) for i in range(j) if moved[i] > 1e-9}
    return sorted(found)


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
wrong(
    "nan_is_no_difference",
    "(seen - alone).abs().max() <= 1e-9",
    "not (seen - alone).abs().max() > 1e-9",
    "A model that outputs NaN passes your probe, because no comparison with NaN is True. What does "
    "`NaN > 1e-9` give, and what does the task say about NaN?",
)
wrong(
    "padding_hidden_by_tolerance",
    "(seen - alone).abs().max() <= 1e-9",
    "torch.allclose(seen, alone)",
    "Your comparison is too lenient (by default, `torch.allclose` allows 1e-5 of the number "
    "itself). From what size does a difference count, according to the task?",
)
wrong(
    "padding_to_the_last_bit",
    "(seen - alone).abs().max() <= 1e-9",
    "torch.equal(seen, alone)",
    "You expect outputs that agree to the last bit. Sums over more places are rounded differently: "
    "how much does the task allow?",
)
wrong(
    "front_not_shifted",
    "[:, count:]",
    "[:, :T]",
    "Padding in front moves the real tokens to the right, but you compare the first T outputs, and "
    "some of these belong to padding. At which places are the real tokens?",
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
