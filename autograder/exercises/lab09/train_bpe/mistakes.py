"""Known mistakes in `train_bpe`: most are edits of a right version."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from . import exercise
from .also_right import _joined, counts_again
from .mistakes_in_merges import ASK_WHAT_A_PAIR_IS  # that module has the mistakes in merge_pair

wrong = exercise.edits(counts_again, of="train_bpe")

wrong(
    "words_not_weighted",
    "counts.get(pair, 0) + count",
    "counts.get(pair, 0) + 1",
    "A word that occurs six times counts like one that occurs once. Where does the number of "
    "occurrences come in?",
)
wrong(
    "once_in_a_word",
    "in pairwise(parts):",
    "in dict.fromkeys(pairwise(parts)):",
    "A pair that stands twice in a word counts once. At how many places does `aaa` hold (a, a)?",
)
wrong(
    "last_pair_missed",
    "in pairwise(parts):",
    "in list(pairwise(parts))[:-1]:",
    "The last pair of each word is not counted. How many pairs has a word of three parts?",
)
wrong(
    "every_second_pair",
    "in pairwise(parts):",
    "in list(pairwise(parts))[::2]:",
    "You count every second pair of a word. Of how many pairs can one part be a part?",
)
wrong(
    "greatest_always",
    'if tie == "first":',
    "if False:",
    'Of several most frequent pairs you always join the greatest. Which one does the rule "first" '
    "ask for?",
)
wrong(
    "first_always",
    'if tie == "first":',
    "if True:",
    "Of several most frequent pairs you always join the one that was met first. What does the rule "
    '"greatest" compare?',
)
wrong(
    "rules_swapped",
    'if tie == "first":',
    'if tie == "greatest":',
    "Your two rules for ties are swapped. Which one is the default?",
)
wrong(
    "smallest_for_greatest",
    "max(counts, key=lambda pair: (counts[pair], pair))",
    "min(counts, key=lambda pair: (-counts[pair], pair))",
    'With "greatest", you join the smallest of the most frequent pairs. In which direction must '
    "each of the two comparisons go?",
)
wrong(
    "products_compared",
    "(counts[pair], pair)",
    "(counts[pair], pair[0] + pair[1], pair)",
    'With "greatest", you compare the joined bytes. What is compared first if Python compares two '
    "tuples?",
)
wrong(
    "second_parts_compared_first",
    "(counts[pair], pair)",
    "(counts[pair], pair[1], pair[0])",
    'With "greatest", you compare the second parts before the first ones. Which entry of a tuple '
    "does Python look at first?",
)
wrong(
    "longest_for_greatest",
    "(counts[pair], pair)",
    "(counts[pair], len(pair[0] + pair[1]), pair)",
    'With "greatest", you prefer the pair with the longer product. What does the task compare?',
)
wrong(
    "last_for_first",
    "best = max(counts, key=counts.get)",
    "best = max(reversed(counts), key=counts.get)",
    'With "first", you join the pair that was met last. Which of two equal ones does `max` return?',
)
wrong(
    "words_read_in_alphabetical_order",
    "split = [[bytes([b]) for b in word] for word in words]",
    "words = dict(sorted(words.items()))\n"
    "    split = [[bytes([b]) for b in word] for word in words]",
    'With "first", you read the words in alphabetical order. In which order does the task read '
    "them?",
)
wrong(
    "frequent_words_first",
    "split = [[bytes([b]) for b in word] for word in words]",
    "words = dict(sorted(words.items(), key=lambda item: -item[1]))\n"
    "    split = [[bytes([b]) for b in word] for word in words]",
    'With "first", you read frequent words before rare ones. In which order does the task read '
    "them?",
)
wrong(
    "pairs_that_occur_once_left",
    "if not counts:",
    "if not counts or max(counts.values()) < 2:",
    "You stop as soon as no pair occurs twice. When are fewer merges made, according to the task?",
)
wrong(
    "one_merge_too_few",
    "range(n_merges)",
    "range(n_merges - 1)",
    "You make one merge too few. How often does your loop run for `n_merges` = 1?",
)
wrong(
    "one_merge_too_many",
    "range(n_merges)",
    "range(n_merges + 1)",
    "You make one merge too many. How often does your loop run for `n_merges` = 0?",
)
wrong(
    "size_of_the_vocabulary",
    "range(n_merges)",
    "range(n_merges - 256)",
    "You read `n_merges` as the size of a vocabulary, with 256 bytes in it. What does the task "
    "count?",
)
wrong(
    "products_for_pairs",
    "merges.append(best)",
    "merges.append(best[0] + best[1])",
    "You return what the merges make. What does the task ask you to return of each merge?",
)
wrong(
    "an_error_at_the_end",
    "        if not counts:\n            break\n",
    "",
    "If no word has two parts left, your code takes the maximum of nothing. What should you return "
    "then?",
)
wrong(
    "words_never_joined",
    "        split = [_joined(parts, best) for parts in split]\n",
    "",
    "Every merge is the same pair, because the words stay cut into bytes. What must happen to the "
    "words after each choice?",
)
wrong(
    "numbers_for_bytes",
    "[bytes([b]) for b in word]",
    "list(word)",
    "The parts in your merges are numbers: this is what you get when you loop over bytes. How do "
    "you get bytes of length 1?",
)
wrong(
    "text_for_bytes",
    "[bytes([b]) for b in word]",
    'list(word.decode(errors="replace"))',
    "The parts in your merges are text (`str`). What does a word consist of, and how many parts "
    "has é at first?",
)
wrong(
    "characters_for_bytes",
    "[bytes([b]) for b in word]",
    'list(c.encode() for c in word.decode(errors="replace"))',
    "You cut words into characters, so é is one part from the beginning. Into what does the task "
    "cut them?",
)
wrong(
    "an_end_of_word_of_its_own",
    "[[bytes([b]) for b in word] for word in words]",
    '[[*(bytes([b]) for b in word), b"</w>"] for word in words]',
    "You add a mark to the end of each word. Who decides here whether a word ends with a mark?",
)
wrong(
    "an_underscore_of_its_own",
    "[[bytes([b]) for b in word] for word in words]",
    '[[*(bytes([b]) for b in word), b"_"] for word in words]',
    "You add an underscore to the end of each word. Who decides here whether a word ends with a "
    "mark?",
)
wrong(
    "a_tuple_of_merges",
    "return merges",
    "return tuple(merges)",
    "You return a tuple. Which type does the signature promise?",
)
wrong(
    "lists_for_pairs",
    "merges.append(best)",
    "merges.append(list(best))",
    "Your merges are lists, which cannot be keys of a dictionary. What should each merge be?",
)


@exercise.mistake(
    "The counts are made once, at the start. Which pairs exist after the first merge that did not "
    "exist before?",
    of="train_bpe",
)
def counted_once(words, n_merges, *, tie="first"):
    counts = Counter()
    for word, count in words.items():
        for a, b in pairwise(word):
            counts[bytes([a]), bytes([b])] += count
    if tie == "greatest":
        return sorted(counts, key=lambda pair: (counts[pair], pair), reverse=True)[:n_merges]
    return [pair for pair, _ in counts.most_common(n_merges)]


@exercise.mistake(
    "Counts of pairs that a merge has broken up stay in your table. What happens to (w, e) in "
    "`newest` once (e, s) is joined? And to (s, t)?",
    of="train_bpe",
)
def old_counts_stay(words, n_merges, *, tie="first"):
    split = [[bytes([b]) for b in word] for word in words]
    counts, merges = Counter(), []
    for parts, count in zip(split, words.values(), strict=True):
        for pair in pairwise(parts):
            counts[pair] += count
    while counts and len(merges) < n_merges:
        if tie == "first":
            best = max(counts, key=counts.get)
        else:
            best = max(counts, key=lambda pair: (counts[pair], pair))
        merges.append(best)
        del counts[best]
        split = [_joined(parts, best) for parts in split]
        for parts, count in zip(split, words.values(), strict=True):
            for pair in pairwise(parts):
                if best[0] + best[1] in pair:
                    counts[pair] += count
    return merges


@exercise.mistake(
    "You add the counts of each round to those of the rounds before. What should the table hold "
    "when a round begins?",
    of="train_bpe",
)
def counts_of_all_rounds(words, n_merges, *, tie="first"):
    split = [[bytes([b]) for b in word] for word in words]
    counts, merges = Counter(), []
    for _ in range(n_merges):
        for parts, count in zip(split, words.values(), strict=True):
            for pair in pairwise(parts):
                counts[pair] += count
        left = [pair for pair in counts if pair not in merges]
        if not left:
            break
        if tie == "first":
            best = max(left, key=counts.get)
        else:
            best = max(left, key=lambda pair: (counts[pair], pair))
        merges.append(best)
        split = [_joined(parts, best) for parts in split]
    return merges


@exercise.mistake(
    "Of pairs that are equally frequent you take the one that has been in your table longest. In "
    "which order does the task read the words, and how are they cut at that moment?",
    of="train_bpe",
)
def ties_by_age(words, n_merges, *, tie="first"):
    split = [[bytes([b]) for b in word] for word in words]
    age, merges = {}, []
    for _ in range(n_merges):
        counts = Counter()
        for parts, count in zip(split, words.values(), strict=True):
            for pair in pairwise(parts):
                counts[pair] += count
                age.setdefault(pair, len(age))
        if not counts:
            break
        if tie == "first":
            best = max(counts, key=lambda pair: (counts[pair], -age[pair]))
        else:
            best = max(counts, key=lambda pair: (counts[pair], pair))
        merges.append(best)
        split = [_joined(parts, best) for parts in split]
    return merges


@exercise.mistake(
    "You join all words to one long text first, so a pair may reach from one word into the next. "
    "What do you know of the order of words in the text?",
    of="train_bpe",
)
def across_words(words, n_merges, *, tie="first"):
    parts = [bytes([b]) for word, count in words.items() for b in word * min(count, 50)]
    merges = []
    for _ in range(n_merges):
        counts = Counter(pairwise(parts))
        if not counts:
            break
        if tie == "first":
            best = max(counts, key=counts.get)
        else:
            best = max(counts, key=lambda pair: (counts[pair], pair))
        merges.append(best)
        parts = _joined(parts, best)
    return merges


@exercise.mistake(
    "In `aaa` you count (a, a) once, because you count without overlap. At how many places do two "
    "neighbours make the pair, according to the task?",
    of="train_bpe",
)
def counted_without_overlap(words, n_merges, *, tie="first"):
    split = [[bytes([b]) for b in word] for word in words]
    merges = []
    for _ in range(n_merges):
        counts = Counter()
        for parts, count in zip(split, words.values(), strict=True):
            last = None
            for pair in pairwise(parts):
                if pair[0] == pair[1] and pair == last:
                    last = None
                    continue
                counts[pair] += count
                last = pair
        if not counts:
            break
        if tie == "first":
            best = max(counts, key=counts.get)
        else:
            best = max(counts, key=lambda pair: (counts[pair], pair))
        merges.append(best)
        split = [_joined(parts, best) for parts in split]
    return merges


@exercise.mistake(ASK_WHAT_A_PAIR_IS, of="train_bpe")
def joined_as_text(words, n_merges, *, tie="first"):
    """The loop of the paper's code, without its conditions for the ends of a part."""
    vocab = {b" ".join(bytes([b]) for b in word): count for word, count in words.items()}
    merges = []
    for _ in range(n_merges):
        counts = Counter()
        for word, count in vocab.items():
            for pair in pairwise(word.split(b" ")):
                counts[pair] += count
        if not counts:
            break
        if tie == "first":
            best = max(counts, key=counts.get)
        else:
            best = max(counts, key=lambda pair: (counts[pair], pair))
        merges.append(best)
        vocab = {w.replace(b" ".join(best), b"".join(best)): n for w, n in vocab.items()}
    return merges


@exercise.mistake(
    "The mapping that you were given is changed: the caller's words are gone afterwards. What can "
    "you work on instead?",
    of="train_bpe",
)
def words_changed(words, n_merges, *, tie="first"):
    for word in [word for word in words if len(word) < 2]:
        del words[word]
    return counts_again(words, n_merges, tie=tie)
