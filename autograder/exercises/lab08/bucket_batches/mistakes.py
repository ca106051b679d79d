"""Known mistakes in `bucket_batches`: most are one small edit of a right version."""

from __future__ import annotations

import random

from . import exercise
from .also_right import sorted_and_cut

REFUSED = (
    "    if any(length > max_tokens for length in lengths):\n"
    '        raise ValueError("a sentence is too long")\n'
)
SHUFFLED = "    rng.shuffle(order)\n"
SORTED = "    order.sort(key=lambda index: lengths[index])\n"
FULL = "if longest * (len(batch) + 1) > max_tokens:"
LAST = "    if batch:\n        batches.append(batch)\n"
NOT_BY_LENGTH = (
    "Your batches mix short and long sentences, so much of them is padding. In which order are the "
    "sentences when you cut them into batches, after *all* lines that change it?"
)
MIXED = "    rng.shuffle(batches)\n"

wrong = exercise.edits(sorted_and_cut)

wrong(
    "last_batch_dropped",
    LAST,
    "",
    "The last batch is lost: your loop keeps a batch only when the next sentence does not fit. "
    "Where is the batch when the loop is over?",
)
wrong(
    "last_batch_not_full_dropped",
    LAST,
    "    if len(batch) * longest == max_tokens:\n        batches.append(batch)\n",
    "A last batch that is not full is lost. Which sentences are in it?",
)
wrong(
    "sentence_that_did_not_fit_lost",
    "batch, longest = [], lengths[index]\n        batch.append(index)",
    "batch, longest = [], 0\n            continue\n        batch.append(index)",
    "The sentence that did not fit into a batch is in no other one either. Which batch should it "
    "begin?",
)
wrong(
    "sentence_that_did_not_fit_in_both",
    "batches.append(batch)\n            batch, longest",
    "batches.append([*batch, index])\n            batch, longest",
    "A sentence that does not fit any more is added to the full batch, and begins the next one, "
    "too. In how many batches may a sentence be?",
)
wrong(
    "last_batch_twice",
    LAST,
    "    batches.append(batch)\n    batches.append(batch)\n",
    "Your last batch comes twice. Which lines append it?",
)
wrong(
    "empty_batch",
    LAST,
    "    batches.append(batch)\n",
    "Without sentences, you return a batch, and it is empty. How many batches does a list of no "
    "sentences make?",
)
wrong(
    "same_order_each_epoch",
    MIXED,
    "",
    "Your batches come sorted: each epoch begins with all short sentences and ends with all long "
    "ones. What is still to be done after the last batch is cut?",
)
wrong(
    "longest_first",
    MIXED,
    "    batches.reverse()\n",
    "Your batches come with the longest sentences first, in each epoch. What should decide the "
    "order of the batches?",
)
wrong(
    "same_companions_each_epoch",
    SHUFFLED,
    "",
    "With every seed the same sentences share a batch: sorting puts equally long ones in one fixed "
    "order. What could you do before you sort?",
)
wrong.several(
    "never_shuffled",
    {SHUFFLED: "", MIXED: ""},
    "Your batches are the same with every seed, and sorted by length. Where do you use `seed`?",
)
wrong(
    "seed_not_used",
    "random.Random(seed)",
    "random.Random(0)",
    "Your generator always starts from the same number, so every epoch is the same. Where should "
    "the number come from?",
)
wrong(
    "not_seeded",
    "random.Random(seed)",
    "random.Random()",
    "Two calls with one seed give different batches. Where do you use `seed`?",
)
wrong(
    "global_generator",
    "rng = random.Random(seed)",
    "rng = random",
    "Your batches come from the global generator: they depend on what else has drawn from it, and "
    "not on `seed`. How do you make a generator of your own?",
)
wrong(
    "global_generator_seeded",
    "    rng = random.Random(seed)\n",
    "    random.seed(seed)\n    rng = random\n",
    "You seed Python's *global* generator, so everybody else's random numbers start again at each "
    "epoch. How do you make a generator of your own?",
)
wrong.several(
    "torchs_global_generator_seeded",
    {
        "    rng = random.Random(seed)\n": "    rng = random.Random(seed)\n    import torch\n"
        "    torch.manual_seed(seed)\n",
        SHUFFLED: "    order = torch.randperm(len(order)).tolist()\n",
    },
    "You seed torch's *global* generator, so dropout draws the same numbers again in each epoch. "
    "How do you make a generator of your own?",
)
wrong.several(
    "numpys_global_generator_seeded",
    {
        "    rng = random.Random(seed)\n": "    rng = random.Random(seed)\n"
        "    import numpy as np\n    np.random.seed(seed)\n",
        SHUFFLED: "    order = np.random.permutation(len(order)).tolist()\n",
    },
    "You seed numpy's *global* generator, so everybody else's random numbers start again at each "
    "epoch. How do you make a generator of your own?",
)
wrong(
    "not_sorted",
    SORTED,
    "",
    NOT_BY_LENGTH,
)
wrong.several(
    "shuffled_after_sorting",
    {SHUFFLED: "", SORTED: SORTED + SHUFFLED},
    NOT_BY_LENGTH,
)
wrong(
    "sorted_by_index",
    "order.sort(key=lambda index: lengths[index])",
    "order.sort()",
    "You sort the indices by themselves, so your batches mix short and long sentences. By what "
    "should they be sorted?",
)
wrong(
    "lengths_returned",
    "batch.append(index)",
    "batch.append(lengths[index])",
    "Your batches hold the *lengths* of sentences. How should anybody find the sentences again?",
)
wrong(
    "positions_in_the_sorted_order",
    "    for index in order:",
    "    lengths = [lengths[index] for index in order]\n    for index in range(len(order)):",
    "Your batches hold positions in your own sorted list, and not indices of `lengths`. Which "
    "sentence is at such a position?",
)
wrong(
    "tokens_without_padding",
    FULL,
    "if sum(lengths[i] for i in batch) + lengths[index] > max_tokens:",
    "You add up the lengths of a batch, so some batches cost more than the limit. Which tokens of "
    "a batch does this sum leave out?",
)
wrong.several(
    "longest_of_the_batch_before",
    {
        "        longest = max(longest, lengths[index])\n": "",
        "batch.append(index)\n    if": "batch.append(index)\n"
        "        longest = max(longest, lengths[index])\n    if",
    },
    "You measure a batch without the sentence that is about to join it, so some batches cost too "
    "much. Who sets the longest length after it has joined?",
)
wrong(
    "length_of_the_first",
    "longest = max(longest, lengths[index])",
    "longest = longest or lengths[index]",
    "You take the length of the *first* sentence for the whole batch, so some batches cost too "
    "much. Which of its sentences is the longest?",
)
wrong(
    "one_sentence_too_many",
    "(len(batch) + 1)",
    "len(batch)",
    "Your batches have one sentence too many: each one is measured before the new sentence joins. "
    "How many sentences are in it afterwards?",
)
wrong(
    "limit_not_allowed",
    FULL,
    "if batch and longest * (len(batch) + 1) >= max_tokens:",
    "A batch that would cost exactly `max_tokens` is cut too early. Does the task allow this cost?",
)
wrong(
    "limit_of_sentences",
    FULL,
    "if len(batch) + 1 > max_tokens:",
    "You count sentences, and `max_tokens` is a limit of tokens. What does a batch of 20 sentences "
    "cost?",
)
wrong(
    "rows_for_the_longest_of_all",
    FULL,
    "if max(lengths) * (len(batch) + 1) > max_tokens:",
    "All your batches have as many sentences as the longest sentence of all would allow, so most "
    "of them are far from full. How many may a batch of short sentences have?",
)
wrong(
    "rows_for_the_mean_length",
    FULL,
    "if batch and sum(lengths) / len(lengths) * (len(batch) + 1) > max_tokens:",
    "All your batches have equally many sentences, so those with long ones cost too much. What "
    "should be equal, more or less, from batch to batch?",
)
wrong(
    "rows_in_powers_of_two",
    FULL,
    "if batch and len(batch) + 1 > 2 ** ((max_tokens // longest).bit_length() - 1):",
    "Your batches have 1, 2, 4, 8 … sentences, so many have room for more. How many of equal "
    "length fit into one?",
)
wrong(
    "one_sentence_each",
    FULL,
    "if batch:",
    "Every sentence is a batch of its own. That needs no padding, but what share of the limit does "
    "such a batch use?",
)
wrong(
    "one_batch",
    FULL,
    "if False:",
    "All sentences are in one batch. Where do you use `max_tokens`?",
)
wrong(
    "too_long_accepted",
    REFUSED,
    "",
    "A sentence that is too long for any batch is accepted. What should happen to it?",
)
wrong(
    "too_long_dropped",
    REFUSED,
    "    kept = [length for length in lengths if length <= max_tokens]\n"
    "    if len(kept) < len(lengths):\n"
    "        return sorted_and_cut(kept, max_tokens, seed)\n",
    "A sentence that is too long disappears silently (and the indices of those after it change). "
    "What should happen to it?",
)
wrong(
    "limit_itself_refused",
    "length > max_tokens for",
    "length >= max_tokens for",
    "A sentence that fills a batch exactly is refused. Does the task allow it?",
)
wrong(
    "lists_only",
    REFUSED,
    "    lengths = lengths.copy()\n" + REFUSED,
    "Your code needs a list: a tuple of lengths has no `copy`. Which types does the task name?",
)
wrong(
    "assertion",
    REFUSED,
    "    assert all(length <= max_tokens for length in lengths)\n",
    "A sentence that is too long raises an `AssertionError`. Which error does the task name?",
)
wrong(
    "no_sentences",
    REFUSED,
    '    if max(lengths) > max_tokens:\n        raise ValueError("a sentence is too long")\n',
    "Your code fails without sentences. What is the largest number of an empty list?",
)
wrong(
    "lengths_sorted_in_place",
    SORTED,
    SORTED + "    if isinstance(lengths, list):\n        lengths.sort()\n",
    "Your code sorts `lengths` itself, which the caller still needs. Which function makes a new "
    "list?",
)
wrong(
    "first_batch_only",
    "    rng.shuffle(batches)\n    return batches\n",
    "    rng.shuffle(batches)\n    return batches[:1]\n",
    "You return one batch. How many does an epoch have?",
)
wrong(
    "generator_returned",
    "    return batches\n",
    "    return iter(batches)\n",
    "You return an iterator, which can be read once and has no length. What does the task ask for?",
)
wrong(
    "batches_as_tensors",
    "    return batches\n",
    "    import torch\n\n    return [torch.tensor(batch) for batch in batches]\n",
    "Each of your batches is a tensor or an array. What does the task ask for?",
)
wrong(
    "curriculum",
    MIXED,
    "    cut = [batches[i : i + 10] for i in range(0, len(batches), 10)]\n"
    "    batches = []\n"
    "    for few in cut:\n"
    "        rng.shuffle(few)\n"
    "        batches += few\n",
    "You shuffle only neighbours, so short batches still come before long ones. Which list should "
    "be shuffled as a whole?",
)
wrong(
    "order_of_the_batches_not_seeded",
    MIXED,
    "    random.Random(0).shuffle(batches)\n",
    "Long and short batches follow each other in the same way in every epoch. Where should the "
    "order of the batches come from?",
)
wrong(
    "buckets_too_wide",
    "lengths[index])\n    batches",
    "lengths[index] > 20)\n    batches",
    "You sort into a few wide classes of lengths, so a batch still mixes short and long sentences. "
    "What should be close together in a batch?",
)


@exercise.mistake(
    "The sentences of a batch are equally long, but most of them are left out: only the first "
    "batch of each length comes back. What happens to the others of that length?"
)
def first_batch_of_each_length(lengths, max_tokens, seed):
    kept, seen = [], set()
    for batch in sorted_and_cut(lengths, max_tokens, seed):
        longest = max(lengths[index] for index in batch)
        if longest not in seen:
            kept.append(batch)
            seen.add(longest)
    random.Random(seed).shuffle(kept)
    return kept


@exercise.mistake(
    "You close a batch after it has reached the limit, so it may already be beyond it. When should "
    "a sentence's cost be known, before it joins or afterwards?"
)
def closed_when_full(lengths, max_tokens, seed):
    if any(length > max_tokens for length in lengths):
        raise ValueError("a sentence is too long")
    rng = random.Random(seed)
    order = list(range(len(lengths)))
    rng.shuffle(order)
    batches, batch = [], []
    for index in sorted(order, key=lambda index: lengths[index]):
        batch.append(index)
        if lengths[index] * len(batch) >= max_tokens:
            batches.append(batch)
            batch = []
    if batch:
        batches.append(batch)
    rng.shuffle(batches)
    return batches
