"""Known mistakes in `corpus_bleu`: most are edits of right versions. Some are apart."""

from __future__ import annotations

from . import exercise, mistakes_in_lengths, mistakes_in_sums  # noqa: F401 - to register them, too
from .also_right import as_in_nltk, step_by_step

NO_NGRAMS = (
    "If all translations are empty or shorter than n, you divide by 0. What is the result then, "
    "according to the task?"
)

wrong = exercise.edits(step_by_step)

wrong(
    "not_clipped",
    "matched += min(count, most)",
    "matched += count if most else 0",
    'Every n-gram that is in a reference counts, so "the" seven times is a perfect translation. '
    "How often may an n-gram be matched?",
)
wrong(
    "clipped_at_the_sum",
    "most = max(most, found)",
    "most += found",
    "You add up how often an n-gram is in all references. Which one of them decides?",
)
wrong(
    "clipped_at_the_first_reference",
    "for r in refs:",
    "for r in refs[:1]:",
    "Only the first reference counts for matches. What are the others for?",
)
wrong(
    "clipped_at_the_last_reference",
    "most = max(most, found)",
    "most = found",
    "Only the last reference counts for matches. Which one of them decides?",
)
wrong.several(
    "clipped_at_the_smallest_count",
    {
        "most = max(most, found)": "most = min(most, found)",
        "most = 0": "most = 10**6",
    },
    "An n-gram must be in every reference to be matched in your code. Which one of them decides?",
)
wrong(
    "matched_once",
    "matched += min(count, most)",
    "matched += min(1, most)",
    "An n-gram is matched at most once in your code (a set forgets how often). How often may it be "
    "matched?",
)
wrong.several(
    "different_ngrams_counted",
    {
        "total += sum(counts.values())": "total += len(counts)",
        "matched += min(count, most)": "matched += min(1, most)",
    },
    "You count different n-grams, as a set does. What happens to one that occurs twice?",
)
wrong(
    "different_ngrams_in_the_total",
    "total += sum(counts.values())",
    "total += len(counts)",
    'You divide by the number of *different* n-grams. How many n-grams has "the the the"?',
)
wrong(
    "reference_counted_whole",
    "matched += min(count, most)",
    "matched += most",
    "You count how often an n-gram is in a reference, even if the translation has it once. How "
    "often may it be matched?",
)
wrong(
    "divided_by_the_references",
    "total += sum(counts.values())",
    "total += max(max(len(r) - n + 1, 0) for r in refs)",
    "You divide by the n-grams of the references: that is recall. What is p_n divided by?",
)
wrong(
    "divided_by_tokens",
    "total += sum(counts.values())",
    "total += len(h)",
    "You divide by the number of tokens for every n. How many pairs of neighbours has a sentence "
    "of seven tokens?",
)
wrong(
    "negative_totals",
    "total += sum(counts.values())",
    "total += len(h) - n + 1",
    "A sentence that is much shorter than n takes away from your total. How many n-grams has it?",
)
wrong.several(
    "one_ngram_missing",
    {
        "range(len(h) - n + 1))": "range(len(h) - n))",
    },
    "The last n-gram of each translation is left out. At which token does it start?",
)
wrong(
    "last_ngram_of_references_missing",
    "range(len(r) - n + 1))",
    "range(len(r) - n))",
    "The last n-gram of each reference is left out. At which token does it start?",
)
wrong.several(
    "tokens_joined",
    {
        "Counter(tuple(h[i : i + n])": 'Counter("".join(map(str, h[i : i + n]))',
        "tuple(r[i : i + n]) == gram": '"".join(map(str, r[i : i + n])) == gram',
    },
    "You join the tokens of an n-gram to one text, so 1, 23 and 12, 3 look the same. What keeps "
    "tokens apart?",
)
wrong.several(
    "tokens_joined_with_spaces",
    {
        "Counter(tuple(h[i : i + n])": 'Counter(" ".join(map(str, h[i : i + n]))',
        "tuple(r[i : i + n]) == gram": '" ".join(map(str, r[i : i + n])) == gram',
    },
    "You join the tokens of an n-gram with spaces, and a token may hold a space itself. What keeps "
    "tokens apart?",
)
wrong.several(
    "words_only",
    {
        "Counter(tuple(h[i : i + n])": 'Counter(" ".join(h[i : i + n])',
        "tuple(r[i : i + n]) == gram": '" ".join(r[i : i + n]) == gram',
    },
    "Your code joins tokens with `join`, which fails for numbers. What keeps tokens together and "
    "apart?",
)
wrong.several(
    "lower_case",
    {
        "Counter(tuple(h[i : i + n])": "Counter(tuple(str(x).lower() for x in h[i : i + n])",
        "tuple(r[i : i + n]) == gram": "tuple(str(x).lower() for x in r[i : i + n]) == gram",
    },
    "Capital letters do not matter in your code. When are two tokens equal?",
)
wrong(
    "longest_ngrams_missing",
    "range(1, max_n + 1)",
    "range(1, max_n)",
    "The longest n-grams are left out. At which number does `range(1, max_n)` stop?",
)
wrong(
    "only_the_longest",
    "range(1, max_n + 1)",
    "range(max_n, max_n + 1)",
    "Only n-grams of the length `max_n` count. Which lengths are there?",
)
wrong.several(
    "always_four",
    {
        "    precisions = []\n": "    precisions, max_n = [], 4\n",
    },
    "`max_n` changes nothing in your code. Which numbers depend on it?",
)
wrong(
    "weights_of_a_quarter",
    "/ max_n)",
    "/ 4)",
    "Your root is always the fourth. How many precisions are multiplied?",
)
wrong(
    "product_without_a_root",
    "/ max_n)",
    ")",
    "You multiply the precisions and take no root. What mean of them does the formula ask for?",
)
wrong(
    "arithmetic_mean",
    "math.exp(sum(math.log(p) for p in precisions) / max_n)",
    "sum(precisions) / max_n",
    "Your mean is the arithmetic one, so a p_n of 0 hardly matters. Which mean does the formula "
    "have?",
)
wrong(
    "mean_of_logs",
    "math.exp(sum(math.log(p) for p in precisions) / max_n)",
    "sum(math.log(p) for p in precisions) / max_n",
    "Your mean is that of logarithms, so it is negative. What takes it back?",
)
wrong(
    "from_0_to_1",
    "return 100 * bp * mean",
    "return bp * mean",
    "Your result is from 0 to 1. On which scale does the task want it?",
)
wrong(
    "rounded",
    "return 100 * bp * mean",
    "return round(100 * bp * mean, 2)",
    "Your result is rounded. Who should decide on the number of digits?",
)
wrong(
    "logarithm_of_zero",
    "        if matched == 0:\n            return 0.0\n",
    "        if total == 0:\n            return 0.0\n",
    "If no n-gram matches, you take the logarithm of 0. What is the result then, according to the "
    "task?",
)
wrong(
    "division_by_zero_ngrams",
    "        if matched == 0:\n",
    "        if matched / total == 0:\n",
    NO_NGRAMS,
)
wrong(
    "zeros_left_out",
    "            return 0.0\n",
    "            continue\n",
    "You leave out precisions that are 0, so a translation without a single pair right has a good "
    "score. What is the result then, according to the task?",
)
wrong.several(
    "smoothed_by_a_small_number",
    {
        "        if matched == 0:\n            return 0.0\n": "",
        "precisions.append(matched / total)": (
            "precisions.append(max(matched / total if total else 0, 1e-9))"
        ),
    },
    "A small number replaces a p_n of 0: that is a kind of smoothing. What does the task say about "
    "it?",
)
wrong.several(
    "one_added",
    {
        "        if matched == 0:\n            return 0.0\n": "",
        "precisions.append(matched / total)": "precisions.append((matched + 1) / (total + 1))",
    },
    "You add 1 to matches and totals, a kind of smoothing. What does the task say about it?",
)
wrong.several(
    "one_added_beyond_single_tokens",
    {
        "        if matched == 0:\n            return 0.0\n": "",
        "precisions.append(matched / total)": (
            "k = int(n > 1)\n"
            "        if matched + k == 0:\n            return 0.0\n"
            "        precisions.append((matched + k) / (total + k))"
        ),
    },
    "You add 1 to matches and totals from pairs on: that is a kind of smoothing. What does the "
    "task say about it?",
)
wrong.several(
    "smoothed_like_sacrebleu",
    {
        "    precisions = []\n": "    precisions, smooth = [], 1\n",
        "        if matched == 0:\n            return 0.0\n": (
            "        if total == 0:\n            break\n"
            "        if matched == 0:\n            smooth *= 2\n            matched = 1 / smooth\n"
        ),
        "    c = sum(": (
            "    if not precisions or smooth == 2**max_n:\n        return 0.0\n    c = sum("
        ),
    },
    "A p_n of 0 is replaced by a smaller and smaller fraction. (sacrebleu smooths like this by "
    "default.) What does the task say about smoothing?",
)
wrong(
    "no_error_for_unequal_lists",
    '    if len(hypotheses) != len(references):\n        raise ValueError("as many lists of '
    'references as hypotheses are needed")\n    precisions',
    "    count = min(len(hypotheses), len(references))\n"
    "    hypotheses, references = hypotheses[:count], references[:count]\n    precisions",
    "If the two lists have different lengths, `zip` stops at the end of the shorter one, and "
    "nothing shows it. What should happen, according to the task?",
)
wrong(
    "another_error",
    "raise ValueError(",
    "raise AssertionError(",
    "Your code raises another exception for lists of different length. Which one is asked for?",
)
wrong.several(
    "only_fewer_references_are_an_error",
    {
        "if len(hypotheses) != len(references):": "if len(hypotheses) > len(references):",
        "    precisions = []\n": (
            "    references = references[: len(hypotheses)]\n    precisions = []\n"
        ),
    },
    "More lists of references than hypotheses are accepted. When should there be an error?",
)
wrong(
    "nothing_returned",
    "return 100 * bp * mean",
    "100 * bp * mean",
    "Your function computes a result and does not return it. Which word is missing?",
)
wrong.several(
    "exchanged",
    {
        "    precisions = []\n": (
            "    hypotheses, references = [r[0] for r in references], [[h] for h in hypotheses]\n"
            "    precisions = []\n"
        ),
    },
    "Hypotheses and references are exchanged, so you measure how much of a reference was written. "
    "Whose n-grams are counted in p_n?",
)

nltk = exercise.edits(as_in_nltk)

nltk(
    "counted_across_sentences",
    "    numerators, denominators = Counter(), Counter()\n",
    "    hypotheses, references = (\n"
    "        [[token for h in hypotheses for token in h]],\n"
    "        [[[token for r in references for token in r[0]]]],\n"
    "    )\n"
    "    numerators, denominators = Counter(), Counter()\n",
    "You join all sentences to one, so the end of one and the start of the next make n-grams, and "
    "a word may match in another sentence. Which sentence is compared with which?",
)
nltk.several(
    "length_of_zero_is_an_error",
    {
        "    if min(numerators[i] for i": (
            "    ratio = ref_lengths / hyp_lengths\n    if min(numerators[i] for i"
        ),
        "1 if hyp_lengths > ref_lengths else": "1 if ratio < 1 else",
    },
    NO_NGRAMS,
)
