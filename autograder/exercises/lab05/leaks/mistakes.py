"""Wrong versions of `leaks`, most of them one edit of a right one."""

import torch

from . import mistakes_in_modes, mistakes_in_reports  # noqa: F401 - to register them
from .also_right import one_change_at_a_time, run
from .mistakes_in_padding import exercise  # that module has the mistakes in `pad_invariant`

wrong = exercise.edits(one_change_at_a_time, of="leaks")

RANDOM = "torch.randint(vocab, (100, T), generator=torch.Generator().manual_seed(4))"
TWO = "torch.arange(2 * T).view(2, T) % vocab"

FEW_SEQUENCES = (
    "You ask the model about very few different sequences, or compare the outputs of very few. A "
    "model may look ahead only after a certain word: how many sequences can you try?"
)
wrong("few_sequences", RANDOM, TWO, FEW_SEQUENCES)
wrong("one_random_sequence", "(100, T)", "(1, T)", FEW_SEQUENCES)
wrong.several(
    "another_random_sequence",
    {"(100, T)": "(1, T)", "manual_seed(4)": "manual_seed(7)"},
    FEW_SEQUENCES,
)
wrong(
    "first_sequence_compared",
    ".abs().amax((0, 2))",
    "[0].abs().amax(-1)",
    FEW_SEQUENCES,
)
wrong(
    "one_token_in_each_sequence",
    RANDOM,
    "torch.arange(vocab)[:, None].expand(-1, T)",
    "Each of your sequences repeats one token. A model may look ahead only if certain words stand "
    "side by side: how do you make sequences of several different tokens?",
)
wrong(
    "token_in_no_sequence",
    RANDOM,
    RANDOM.replace("vocab", "vocab - 1"),
    "The last token of the vocabulary occurs in none of your sequences, and a model may look ahead "
    "only after that one. At which number does `randint` end?",
)
wrong(
    "nan_is_no_leak",
    "for i in range(j) if not same[i]",
    "for i in range(j) if (after - before).abs().amax((0, 2))[i] > 1e-9",
    "A model whose outputs are NaN passes your probe. What does your comparison give for NaN, and "
    "what does the task say about NaN? (`NaN > 1e-9` and `NaN <= 1e-9` are both False.)",
)
wrong(
    "returns_inside_the_loop",
    "    return sorted(found)",
    "        return sorted(found)",
    "Your function returns after the first token that it changes, so no later one is changed. How "
    "far is your `return` indented?",
)
wrong.several(
    "outputs_changed",
    {
        "other = ids.clone()": "after = before.clone()",
        "other[:, j] = (ids[:, j] + step) % vocab": "after[:, j] += 1.0",
        "            after = run(fn, other)\n": "",
    },
    "You find no leak in models that look ahead. Does `fn` get another token the second time, and "
    "is the output that you compare before that token?",
)
TOO_LENIENT = (
    "Your comparison is too lenient (by default, `torch.allclose` allows 1e-5 of the number "
    "itself). A faint leak is a leak: from what size does a difference count, according to the "
    "task?"
)
wrong(
    "hidden_by_tolerance",
    "(after - before).abs().amax((0, 2)) <= 1e-9",
    "torch.isclose(before, after).all(-1).all(0)",
    TOO_LENIENT,
)
for size in ("1e-8", "1e-7", "1e-6", "1e-5", "1e-4", "1e-3"):
    wrong(f"smaller_than_{size}", "<= 1e-9", f"<= {size}", TOO_LENIENT)
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
SIGNS_CANCEL = (
    "You add up or average differences with their signs, so an increase in one number cancels a "
    "decrease in another. What turns both signs into a size?"
)
wrong.several(
    "signs_cancel",
    {".abs().amax((0, 2))": ".sum((0, 2))", RANDOM: TWO},
    SIGNS_CANCEL,
)
wrong("signs_cancel_in_the_mean", ".abs().amax((0, 2))", ".mean((0, 2)).abs()", SIGNS_CANCEL)
wrong("signs_cancel_in_the_sum", ".abs().amax((0, 2))", ".sum((0, 2)).abs()", SIGNS_CANCEL)
wrong("signs_cancel_in_each_output", ".abs().amax((0, 2))", ".sum(-1).abs().amax(0)", SIGNS_CANCEL)
wrong("sign_kept", ".abs().amax((0, 2))", ".mean((0, 2))", SIGNS_CANCEL)
wrong(
    "mean_of_the_differences",
    ".abs().amax((0, 2))",
    ".abs().mean((0, 2))",
    "You take the mean of the differences, so a change of one number in one sequence disappears "
    "among thousands. Which measure misses none of them?",
)
wrong(
    "later_outputs_reported",
    "for i in range(j) if",
    "for i in range(j + 1, T) if",
    "You report the outputs behind the changed token, which may look back at it. In which "
    "direction does a leak look?",
)
wrong(
    "last_token_only",
    "for j in range(T):",
    "for j in [T - 1]:",
    "You report only what a change of the last token does: either you change no other, or you "
    "start a new list for each change. Which places can a query look at too early?",
)
wrong(
    "neighbour_only",
    "for i in range(j)",
    "for i in range(max(j - 1, 0), j)",
    "You inspect only the output just before the changed token. How far ahead may a leaking model "
    "look?",
)
wrong(
    "neighbour_left_out",
    "for i in range(j)",
    "for i in range(j - 1)",
    "You never report the output just before the changed token. Which is the last `i` that your "
    "`range` reaches?",
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
ONE_NEW_TOKEN = (
    "You try one new token at each place of a sequence. A model may look ahead for one token in "
    "particular: how many others are there?"
)
ONE_STEP = {"for step in range(1, vocab):": "for step in [1]:"}
wrong.several("one_new_token", {**ONE_STEP, RANDOM: TWO}, ONE_NEW_TOKEN)
wrong.several("one_new_token_in_many_sequences", ONE_STEP, ONE_NEW_TOKEN)
for name, base in (
    ("words_in_order", "(torch.arange(T) % vocab)[None]"),
    ("equal_words", "torch.zeros(1, T, dtype=torch.int64)"),
    ("random_words", RANDOM.replace("(100, T)", "(1, T)")),
):
    changed = {**ONE_STEP, RANDOM: base}
    wrong.several(f"one_new_token_among_{name}", changed, ONE_NEW_TOKEN)
    wrong.several(
        f"last_token_among_{name}",
        {**changed, "(ids[:, j] + step) % vocab": "vocab - step"},
        ONE_NEW_TOKEN,
    )
wrong.several(
    "last_token_never_tried",
    {
        RANDOM: "torch.zeros(2, T, dtype=torch.int64)",
        "range(1, vocab)": "range(vocab - 1)",
    },
    "You never try the last token of the vocabulary. Could a model look ahead for that one only?",
)
wrong(
    "one_sequence_of_one_token",
    RANDOM,
    "torch.zeros(1, T, dtype=torch.int64)",
    FEW_SEQUENCES,
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
NEVER_TAKEN_BACK = (
    "You report pairs even for a model that looks at no later token. Does anything but token `j` "
    "differ between the two inputs? If not, is your comparison about output `i`, and which side of "
    "it is a leak?"
)
CHANGE = "other[:, j] = (ids[:, j] + step) % vocab"
ONE_COPY = {
    "    for j in range(T)": "    other = ids.clone()\n    for j in range(T)",
    "            other = ids.clone()\n": "",
}
# Without any copy, `ids` itself changes, and its tokens end up elsewhere than those of one copy.
PILED_UP = {
    "no_change_taken_back": ONE_COPY,
    "copy_forgotten": {"ids.clone()": "ids"},
    "one_further_each_time": {"ids.clone()": "ids", CHANGE: CHANGE.replace("step", "1")},
    "each_token_in_one_copy": {**ONE_COPY, CHANGE: "other[:, j] = step"},
    "everything_up_to_there": {
        CHANGE: "other[:, : j + 1] = (ids[:, : j + 1] + step) % vocab",
    },
}
for name, changes in PILED_UP.items():
    wrong.several(name, changes, NEVER_TAKEN_BACK)
    later = {**changes, "for j in range(T)": "for j in range(1, T)"}
    wrong.several(f"{name}_from_the_second", later, NEVER_TAKEN_BACK)
    if name == "each_token_in_one_copy":
        later["for step in range(1, vocab)"] = "for step in range(vocab)"
        wrong.several("any_token_in_one_copy", later, NEVER_TAKEN_BACK)
OWN_PLACE = (
    "You also report an output that depends on the token at its own place, which is allowed. Which "
    "pairs does the task ask for?"
)
wrong("own_place_reported", "for i in range(j)", "for i in range(j + 1)", OWN_PLACE)
wrong.several(
    "own_place_reported_but_the_first",
    {"for i in range(j)": "for i in range(j + 1)", "for j in range(T)": "for j in range(1, T)"},
    OWN_PLACE,
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
EVERYTHING_REPORTED = (
    "You report every output that moves, also at and behind the changed token, where it may. Which "
    "`i` are in front of `j`?"
)
FROM_THE_SECOND = {"for j in range(T)": "for j in range(1, T)"}
wrong("everything_reported", "for i in range(j) if", "for i in range(T) if", EVERYTHING_REPORTED)
wrong.several(
    "everything_reported_but_of_the_first",
    {"for i in range(j) if": "for i in range(T) if", **FROM_THE_SECOND},
    EVERYTHING_REPORTED,
)
wrong.several(
    "later_outputs_reported_but_of_the_first",
    {"for i in range(j) if": "for i in range(j + 1, T) if", **FROM_THE_SECOND},
    "You report the outputs behind the changed token, which may look back at it. In which "
    "direction does a leak look?",
)
AT_OR_BEHIND = (
    "You report the outputs at and behind the changed token, and none before it. Which outputs "
    "must not depend on that token?"
)
wrong("from_the_token_on", "for i in range(j) if", "for i in range(j, T) if", AT_OR_BEHIND)
wrong.several(
    "from_the_token_on_but_the_first",
    {"for i in range(j) if": "for i in range(j, T) if", **FROM_THE_SECOND},
    AT_OR_BEHIND,
)
PAST_TURNED_ROUND = (
    "You report changes of outputs behind the changed token, with the smaller of the two numbers "
    "in front. Which outputs must not depend on that token?"
)
wrong(
    "past_reported_the_other_way_round",
    "(i, j) for i in range(j) if",
    "(j, i) for i in range(j, T) if",
    PAST_TURNED_ROUND,
)
wrong(
    "smaller_number_in_front",
    "(i, j) for i in range(j) if",
    "(min(i, j), max(i, j)) for i in range(T) if i != j and",
    "You also report outputs that move behind the changed token, with the smaller number in "
    "front. Which outputs must not depend on that token?",
)
wrong(
    "first_output_of_each_token",
    "for i in range(j) if not same[i]}",
    "for i in range(j) if not same[i] and same[:i].all()}",
    "You report one output for each changed token. Several can look at the same token: does your "
    "loop end too soon?",
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
wrong(
    "sorted_by_token",
    "sorted(found)",
    "sorted(found, key=lambda pair: pair[::-1])",
    "Your pairs are right, but in another order. Which of their two numbers does sorting compare "
    "first?",
)
wrong(
    "in_the_order_of_a_set",
    "sorted(found)",
    "list(found)",
    "Your pairs are right, but not in order, because a set has none. In which order does the task "
    "list them?",
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
