"""Known mistakes in `mask_tokens`: most are one small edit of a right version."""

from __future__ import annotations

from . import exercise, mistakes_in_numbers  # noqa: F401 - to register them
from .also_right import one_number_decides, step_by_step, token_by_token

wrong = exercise.edits(step_by_step)

CHANCE = "    chance = torch.full(ids.shape, float(p))\n"
CHOSEN = "    chosen = torch.bernoulli(chance, generator=generator).bool()\n"
HIDDEN = "hidden = torch.bernoulli(torch.full(ids.shape, 0.8), generator=generator).bool() & chosen"
ALWAYS_MASK = (
    "Every chosen token becomes [MASK]. In real tasks the model never sees a [MASK]: what does "
    "BERT do with one chosen token in five?"
)
TENTH_OF_A_FIFTH = (
    "Too few tokens become random ones. When you decide about them, only a fifth of the chosen "
    "tokens is left: which share of *these* is a tenth of all chosen ones?"
)
OTHER = "    other = other & chosen & ~hidden\n"

wrong(
    "special_tokens_chosen",
    "    chance[is_special] = 0.0\n",
    "",
    "[CLS], [SEP] or padding were chosen, too. Could a model learn something about words from "
    "guessing them?",
)
wrong(
    "only_the_first_special_token",
    "is_special = torch.isin(ids, special)",
    "is_special = ids == special[0]",
    "One special token is never chosen, but others are. How long is `special`?",
)
wrong(
    "exchanged",
    "    return x, labels",
    "    return labels, x",
    "You return the labels first. In which order does the task name the two?",
)
wrong(
    "only_the_others_chosen",
    "chance[is_special] = 0.0",
    "chance[~is_special] = 0.0",
    "You choose special tokens and leave the words alone. Which of the two should be hidden?",
)
wrong(
    "labels_everywhere",
    "    labels[~chosen] = -100\n",
    "",
    "Every token has a label, even those that were not chosen. At which tokens should the loss "
    "count?",
)
wrong(
    "labels_at_the_others",
    "labels[~chosen] = -100",
    "labels[chosen] = -100",
    "The chosen tokens have the label -100, and all others have one. Which of them does the loss "
    "leave out?",
)
wrong(
    "label_of_words_only",
    "labels[~chosen] = -100",
    "labels[is_special] = -100",
    "Every word has a label, chosen or not. At which words should the loss count?",
)
wrong(
    "padding_as_no_label",
    "labels[~chosen] = -100",
    "labels[~chosen] = 0",
    "The labels of tokens that were not chosen are 0, and 0 is a token. Which number leaves a "
    "place out of the loss?",
)
wrong(
    "minus_one_as_no_label",
    "labels[~chosen] = -100",
    "labels[~chosen] = -1",
    "The labels of tokens that were not chosen are -1. Which number does the task name?",
)
wrong(
    "label_only_under_mask",
    "    return x, labels",
    "    labels[x != mask_id] = -100\n    return x, labels",
    "Only places with [MASK] have a label. Which two other things can happen to a chosen token, "
    "and does the loss count there?",
)
wrong(
    "kept_tokens_without_a_label",
    "    return x, labels",
    "    labels[x == ids] = -100\n    return x, labels",
    "Chosen tokens that stayed as they were have no label. Then they were chosen in vain: why does "
    "BERT ask for tokens that it can see?",
)
wrong(
    "labels_after_the_change",
    "    return x, labels",
    "    return x, torch.where(chosen, x, -100)",
    "Your labels are what stands in the changed ids. Which token should the model find at a place "
    "with [MASK]?",
)
wrong(
    "changes_the_ids",
    "x, labels = ids.clone(), ids.clone()",
    "x, labels = ids, ids.clone()",
    "The `ids` of the caller have changed. What would the second epoch read?",
)
wrong(
    "one_tensor_for_both",
    "x, labels = ids.clone(), ids.clone()",
    "x = labels = ids.clone()",
    "The changed ids and the labels are one and the same tensor. What do two names for one tensor "
    "see when it changes?",
)
wrong(
    "float_labels",
    "    return x, labels",
    "    return x, labels.float()",
    "Your labels are floating-point numbers. Which type do indices have, and `cross_entropy` want?",
)
wrong(
    "only_mask",
    "    x[other] = words[drawn][other]\n",
    "",
    "No chosen token becomes a random one. What should happen to one in ten?",
)
wrong(
    "never_kept",
    "    other = torch.bernoulli(torch.full(ids.shape, 0.5), generator=generator).bool()\n" + OTHER,
    "    other = chosen & ~hidden\n",
    "All chosen tokens that are not [MASK] become random ones. What should happen to half of them?",
)
wrong(
    "always_mask",
    HIDDEN,
    "hidden = chosen",
    ALWAYS_MASK,
)
wrong(
    "tenth_of_a_fifth",
    "torch.full(ids.shape, 0.5)",
    "torch.full(ids.shape, 0.1)",
    TENTH_OF_A_FIFTH,
)
wrong.several(
    "random_tokens_over_hidden_ones",
    {OTHER: "    other = chosen & (torch.rand(ids.shape, generator=generator) < 0.1)\n"},
    "Some tokens that were hidden already become random ones afterwards, so fewer than 80 % of the "
    "chosen ones show [MASK]. May one token meet both of your lines?",
)
wrong(
    "hidden_and_chosen_apart",
    HIDDEN,
    HIDDEN.removesuffix(" & chosen"),
    "You hide 80 % of all tokens, chosen or not. Of which tokens should these be 80 %?",
)
wrong(
    "random_tokens_anywhere",
    OTHER,
    "    other = other & ~hidden\n",
    "Tokens that were not chosen become random ones. Which tokens may change?",
)
wrong(
    "all_tokens_are_words",
    "words = torch.tensor(sorted(set(range(vocab_size)) - set(special.tolist())))",
    "words = torch.arange(vocab_size)",
    "Random tokens are special ones now and then. (The code that came with the paper draws from "
    "the whole vocabulary, too, and so does a widely used library. What does the task ask for?)",
)
wrong(
    "special_tokens_come_first",
    "words = torch.tensor(sorted(set(range(vocab_size)) - set(special.tolist())))",
    "words = torch.arange(len(special), vocab_size)",
    "Your random tokens are right only if special tokens have the first numbers. What does the "
    "task say about their order?",
)
wrong(
    "words_above_the_mask",
    "words = torch.tensor(sorted(set(range(vocab_size)) - set(special.tolist())))",
    "words = torch.arange(mask_id + 1, vocab_size)",
    "Your random tokens are right only if all words have numbers above `mask_id`. Where may "
    "special tokens be in the vocabulary?",
)
wrong(
    "last_word_never_drawn",
    "torch.randint(len(words), ids",
    "torch.randint(max(1, len(words) - 1), ids",
    "One ordinary token is never drawn: the last one. Is the upper end of `randint` included?",
)
wrong(
    "first_word_never_drawn",
    "torch.randint(len(words), ids",
    "torch.randint(min(1, len(words) - 1), len(words), ids",
    "One ordinary token is never drawn: the first one. At which number do indices begin?",
)
wrong(
    "drawn_from_the_batch",
    "words = torch.tensor(sorted(set(range(vocab_size)) - set(special.tolist())))",
    "words = ids[~is_special] if (~is_special).any() else ids.flatten()",
    "Your random tokens are tokens of this batch. Among which tokens should they be drawn?",
)
wrong(
    "never_the_old_token",
    "    x[other] = words[drawn][other]\n",
    "    drawn = words[drawn]\n"
    "    for _ in range(60):\n"
    "        again = torch.randint(len(words), ids.shape, generator=generator)\n"
    "        drawn = torch.where(drawn == ids, words[again], drawn)\n"
    "    x[other] = drawn[other]\n",
    "Your random token is never the old one, so a few too many tokens change. Does the task leave "
    "the old one out?",
)
wrong(
    "one_random_token",
    "torch.randint(len(words), ids.shape, generator=generator)",
    "torch.randint(len(words), (1, 1), generator=generator).expand(ids.shape)",
    "All random tokens of a call are the same token. How many of them should be drawn?",
)
wrong(
    "random_token_per_row",
    "torch.randint(len(words), ids.shape, generator=generator)",
    "torch.randint(len(words), (len(ids), 1), generator=generator).expand(ids.shape)",
    "All random tokens of a row are the same token. How many of them should be drawn?",
)
wrong(
    "same_places_in_each_row",
    CHOSEN,
    "    drawn = torch.rand(ids.shape[1], generator=generator)\n    chosen = drawn < chance\n",
    "In each row the same places are chosen. Which shape has the tensor that decides?",
)
wrong(
    "whole_rows",
    CHOSEN,
    "    drawn = torch.rand(len(ids), 1, generator=generator)\n    chosen = drawn < chance\n",
    "You choose whole rows, so some sentences have no label at all. Which shape has the tensor "
    "that decides?",
)
wrong(
    "one_kind_per_row",
    "torch.bernoulli(torch.full(ids.shape, 0.8), generator=generator)",
    "torch.bernoulli(torch.full((len(ids), 1), 0.8), generator=generator)",
    "In a row, either all chosen tokens become [MASK] or none. For what should be decided whether "
    "it is hidden: for a row, or for a token?",
)
wrong(
    "one_kind_per_place",
    "torch.bernoulli(torch.full(ids.shape, 0.8), generator=generator)",
    "torch.bernoulli(torch.full(ids.shape[1:], 0.8), generator=generator)",
    "At the same place of all rows, either all chosen tokens become [MASK] or none. For what "
    "should be decided whether it is hidden?",
)
wrong(
    "generator_ignored",
    CHANCE,
    CHANCE + "    generator = None\n",
    "Two equal generators give different results, or torch's global random state moves. Which "
    "argument should every random call get?",
)
wrong(
    "generator_for_the_choice_only",
    "torch.randint(len(words), ids.shape, generator=generator)",
    "torch.randint(len(words), ids.shape)",
    "The places depend on the generator alone, the random tokens do not. Which of your random "
    "calls does not get it?",
)
wrong(
    "seeded_inside",
    CHANCE,
    CHANCE + "    generator = torch.Generator().manual_seed(0)\n",
    "Every call chooses the same places. Then each epoch hides the same words, and the model can "
    "learn them by heart. (The paper did it in a milder way: it made ten copies before training.) "
    "Where should random numbers come from?",
)
wrong(
    "generator_begins_anew",
    CHANCE,
    CHANCE + "    generator = generator and generator.manual_seed(generator.initial_seed())\n",
    "The generator is set back to its beginning in each call, so all calls choose the same places. "
    "What would happen in each epoch?",
)
wrong(
    "p_ignored",
    "float(p)",
    "0.15",
    "You choose 15 % whatever p is. Where is p in your code?",
)
wrong(
    "p_is_what_stays",
    CHOSEN,
    CHOSEN + "    chosen = ~chosen & ~is_special\n",
    "You choose the tokens that should not be chosen: too many by far. On which side of p are the "
    "chosen ones?",
)
wrong(
    "p_of_all_places",
    CHOSEN,
    "    chance = chance * ids.numel() / (~is_special).sum().clamp(min=1)\n"
    "    chosen = torch.rand(ids.shape, generator=generator) < chance\n",
    "You choose p of *all* places, and take them from the words, so too many words are chosen in "
    "rows with padding. Of which tokens is it p?",
)
wrong(
    "p_times_the_share_of_words",
    CHANCE,
    "    words_in_it = (~torch.isin(ids, special)).double().mean()\n"
    "    chance = torch.full(ids.shape, float(p * words_in_it))\n",
    "Too few words are chosen if there is padding. What is the probability of each ordinary token?",
)
wrong(
    "only_special_tokens_crash",
    CHANCE,
    '    assert not is_special.all(), "nothing to hide"\n' + CHANCE,
    "Your function stops if every token is special. How many tokens are chosen then?",
)

wrong = exercise.edits(one_number_decides)

wrong(
    "shares_of_all_tokens",
    "word & (u < 0.8 * p), mask_id",
    "word & (u < 0.8), mask_id",
    "80 % of all words become [MASK]. Of which tokens should these be 80 %?",
)
wrong(
    "second_number_is_the_first",
    "    x = torch.where(word & (u < 0.9 * p), drawn, ids)\n"
    "    x = torch.where(word & (u < 0.8 * p), mask_id, x)\n",
    "    x = torch.where(chosen & (u < 0.9), drawn, ids)\n"
    "    x = torch.where(chosen & (u < 0.8), mask_id, x)\n",
    ALWAYS_MASK,
)
wrong(
    "mask_and_random_exchanged",
    "word & (u < 0.8 * p), mask_id",
    "word & (u < 0.1 * p), mask_id",
    "About 80 % of the chosen tokens become random ones and few become [MASK]. Which of the two is "
    "the usual case?",
)
wrong(
    "random_and_kept_from_all",
    "    x = torch.where(word & (u < 0.9 * p), drawn, ids)\n",
    "    x = torch.where(word & (torch.rand(ids.shape, generator=generator) < 0.1), drawn, ids)\n",
    "Words that were not chosen change: one in ten of *all* words becomes a random one. Of which "
    "tokens should it be one in ten?",
)

wrong = exercise.edits(token_by_token)

wrong(
    "new_number_for_each_case",
    "            elif what < 0.9:\n",
    "            elif torch.rand((), generator=generator).item() < 0.1:\n",
    TENTH_OF_A_FIFTH,
)
