"""corpus_bleu: how many n-grams of a translation are in its references."""

from __future__ import annotations

from attnlab.checking.judges import Close
from attnlab.metrics import corpus_bleu
from gradekit.exercise import Exercise

EQUALLY_LONG = "the two are equally long here"
ORDER = "all matches are multiplied, and all totals, so the order of the list does not matter"

exercise = Exercise(
    corpus_bleu,
    equivalent={
        "corpus_bleu: `if len(hypotheses) != len(references):` → `if False:`": (
            "a strict zip raises ValueError, too"
        ),
        "corpus_bleu: `zip(hypotheses, references, strict=True)` → `zip(hypotheses, references)` "
        "in `for hypothesis, own in zip(hypotheses, references, strict=True):`": EQUALLY_LONG,
        "corpus_bleu: `True` → `False` in `for hypothesis, own in zip(hypotheses, references, "
        "strict=True):`": EQUALLY_LONG,
        "corpus_bleu: `zip(matches, totals, strict=True)` → `zip(matches, totals)` in `mean = "
        "sum((math.log(m / t) for m, t in zip(matches, totals, strict=True))) / max_n`": (
            EQUALLY_LONG
        ),
        "corpus_bleu: `True` → `False` in `mean = sum((math.log(m / t) for m, t in zip(matches, "
        "totals, strict=True))) / max_n`": EQUALLY_LONG,
        "corpus_bleu: `1` → `2` in `matches[n - 1] += (found & most).total()`": ORDER,
        "corpus_bleu: `1` → `2` in `totals[n - 1] += found.total()`": ORDER,
    },
)

ROUNDED = Close(atol=1e-6, rtol=1e-6)  # some add 1e-6 to both lengths

THE = ["the"] * 7
CATS = [["the", "cat", "is", "on", "the", "mat"], ["there", "is", "a", "cat", "on", "the", "mat"]]
WORDS = [
    "the",
    "a",
    "cat",
    "dog",
    "sat",
    "on",
    "mat",
    "under",
    "tree",
    "and",
    "then",
    "it",
    "ran",
    "home",
]


def sentence(draw, length, words=WORDS):
    """Random words, some of them several times."""
    return [words[i] for i in draw.integers(0, len(words), length).tolist()]


def changed(draw, reference, share=0.3):
    """A translation of the same length: a share of its words are other ones."""
    other = draw.uniform(len(reference)) < share
    drawn = sentence(draw, len(reference))
    return [b if new else a for a, b, new in zip(reference, drawn, other.tolist(), strict=True)]


def corpus(draw, *lengths, references=1):
    """Translations of these lengths, each with references that are a little longer or shorter."""
    hypotheses, several = [], []
    for length in lengths:
        first = sentence(draw, length + 1)
        several.append([first[n:] + sentence(draw, 2 * n) for n in range(references)])
        hypotheses.append(changed(draw, first)[:length])
    return hypotheses, several


@exercise.check(points=1.5, judge=ROUNDED)
def matched_at_most_as_often(lab, draw):
    """Of seven times "the", two are matched: the reference with most has two."""
    hypothesis = ["on", "the", "mat", "the", "cat", "the", "mat"]
    drawn = [CATS[0][i] for i in draw.integers(0, 6, 9).tolist()]
    return {
        '"the" seven times, max_n=1': lab.corpus_bleu([THE], [CATS], max_n=1),
        "the same, max_n=4": lab.corpus_bleu([THE], [CATS]),
        "another word order, max_n=1": lab.corpus_bleu([hypothesis], [CATS], max_n=1),
        "another word order, max_n=2": lab.corpus_bleu([hypothesis], [CATS], max_n=2),
        "random words, max_n=1": lab.corpus_bleu([drawn], [CATS], max_n=1),
    }


@exercise.check(points=1.5, judge=ROUNDED)
def counts_of_the_corpus(lab, draw):
    """Counts are added up over the corpus: the result is not the mean of its sentences'."""
    words = [f"w{number}" for number in draw.permutation(50).tolist()]
    half, short, turned = draw.integers(4, 8, 3).tolist()
    references = [[words[: 2 * half]], [words[20 : 24 + short]], [words[40 : 42 + turned]]]
    hypotheses = [
        words[:half] + words[20 + short : 24 + short],  # the rest belongs to the next sentence
        words[20 : 20 + short],  # four words are missing
        words[40 : 42 + turned][::-1],  # no two neighbours are right
    ]
    return {
        "the corpus": lab.corpus_bleu(hypotheses, references, max_n=2),
        "its sentences": [
            lab.corpus_bleu([one], [own], max_n=2)
            for one, own in zip(hypotheses, references, strict=True)
        ],
    }


@exercise.check(points=1, judge=ROUNDED)
def short_and_long(lab, draw):
    """Translations that are too short pay for it; long ones have paid in p_n already."""
    n = int(draw.integers(12, 20))
    words = [f"w{number}" for number in draw.permutation(n).tolist()]
    return {
        f"9 of {n} words": lab.corpus_bleu([words[:9]], [[words]]),
        f"5 of {n} words": lab.corpus_bleu([words[:5]], [[words]]),
        f"all {n}": lab.corpus_bleu([words], [[words]]),
        f"{n + 3} for {n}": lab.corpus_bleu([[*words, "x", "y", "z"]], [[words]]),
        "one short, one long": lab.corpus_bleu([words[:9], [*words, "x", "y"]], [[words]] * 2),
    }


@exercise.check(points=1.5, hidden=True, judge=ROUNDED)
def several_references(lab, draw):
    """Takes the most of any one reference, and the length of the closest; of two, the shorter."""
    seen = {}
    for count in (2, 3):
        hypotheses, references = corpus(draw, 7, 9, 11, references=count)
        seen[f"{count} references"] = lab.corpus_bleu(hypotheses, references, max_n=3)
        mixed = [own[: 1 + row] for row, own in enumerate(references)]
        seen[f"one to {count} references"] = lab.corpus_bleu(hypotheses, mixed, max_n=3)
    abc = list("abcdefghijk")
    twice = [list("aabc"), list("abbc"), list("abcd")]
    lengths = {
        "4 and 6": (4, 6),
        "6 and 4": (6, 4),
        "7, 9 and 4": (7, 9, 4),
        "9 and 7": (9, 7),
        "3 and 6": (3, 6),
        "3, 4 and 6": (3, 4, 6),
    }
    for name, own in lengths.items():
        references = [[abc[:length] for length in own], [abc[:9]]]  # the second makes r > c
        hypotheses = [abc[:5], abc[7:9]]
        seen[f"5 tokens, references of {name}"] = lab.corpus_bleu(hypotheses, references, 2)
    seen["repeated words"] = lab.corpus_bleu([list("aabbaac")], [twice], 1)
    return seen


@exercise.check(points=0.75, hidden=True, judge=ROUNDED)
def other_orders(lab, draw):
    """Is right for other lengths of n-grams, 1 included; the mean is geometric."""
    hypotheses, references = corpus(draw, 14, 11)
    hypotheses.append(references[0][0])
    references.append(references[0])
    return {f"max_n={n}": lab.corpus_bleu(hypotheses, references, max_n=n) for n in (1, 2, 3, 5)}


@exercise.check(points=0.75, hidden=True, judge=ROUNDED)
def short_sentences(lab, draw):
    """Is right for sentences without tokens or with fewer than `max_n`, and if nothing matches."""
    right = sentence(draw, 9)
    some = [right[:3], [], right[:1], right]
    own = [[right[:4]], [right[:2]], [right[:1]], [right]]
    return {
        "some short, one empty": lab.corpus_bleu(some, own),
        "all empty": lab.corpus_bleu([[], []], [[right], [right]]),
        "all shorter than max_n": lab.corpus_bleu([right[:3]], [[right[:3]]]),
        "an empty reference": lab.corpus_bleu([right, ["x"]], [[right], [[]]]),
        "no token in common": lab.corpus_bleu([["x"] * 5], [[right]], max_n=1),
        "no two in a row in common": lab.corpus_bleu([right[::-1]], [[sorted(right)]], max_n=4),
        "one token": lab.corpus_bleu([["yes"]], [[["yes"]]], max_n=1),
    }


@exercise.check(points=0.5, hidden=True, judge=ROUNDED)
def tokens_of_any_kind(lab, draw):
    """Tokens may be numbers, and words in which other words are."""
    numbers = draw.integers(0, 9, 12).tolist()
    close = [[1, 23, 4, 5], [12, 3, 4, 5]]
    spaced = [["New York", "is", "far"], ["New", "York is", "far"]]
    Cat = [["The", "cat", "sat"], ["the", "cat", "Sat"]]
    return {
        "numbers": lab.corpus_bleu([numbers[:10]], [[numbers]]),
        "1, 23 and 12, 3": lab.corpus_bleu(close[:1], [close[1:]], max_n=2),
        "tokens with spaces": lab.corpus_bleu(spaced[:1], [spaced[1:]], max_n=2),
        "capital letters": lab.corpus_bleu(Cat[:1], [Cat[1:]], max_n=2),
    }


@exercise.check(points=0.5, hidden=True)
def lists_of_another_length(lab, draw):
    """Raises ValueError if there are not as many lists of references as hypotheses."""
    right = sentence(draw, 5)
    return {
        "two references' lists for one": draw.raises(lab.corpus_bleu, [right], [[right], [right]]),
        "one for two": draw.raises(lab.corpus_bleu, [right, right], [[right]]),
        "two for two": draw.raises(lab.corpus_bleu, [right, right], [[right], [right]]),
    }


exercise.promises(
    {
        "how many n-grams of the hypotheses are in their references": "matched_at_most_as_often",
        "100 · BP · (p₁ · p₂ · … · p_N)^(1/N)                         N = max_n": (
            "other_orders counts_of_the_corpus"
        ),
        "p_n: the n-grams of all hypotheses that are matched, divided by the n-grams of all "
        "hypotheses.": "counts_of_the_corpus",
        "An n-gram of a hypothesis is matched at most as many times as it occurs in that one of "
        "its references in which it occurs most often.": (
            "matched_at_most_as_often several_references"
        ),
        "BP: 1 if all hypotheses together are at least as long as their references, c ≥ r; "
        "otherwise exp(1 - r/c).": "short_and_long",
        "The length of a hypothesis's references is that of the one which is closest to it in "
        "length; of two that are equally close, that of the shorter one.": "several_references",
        "Matches, n-grams and lengths are added up over the corpus first.": (
            "counts_of_the_corpus short_and_long"
        ),
        "Nothing is smoothed: if one p_n is 0, or if there are no n-grams of a length, the result "
        "is 0.": "matched_at_most_as_often short_sentences",
        "sentences as lists of tokens (words or numbers); some may be empty": (
            "short_sentences tokens_of_any_kind"
        ),
        "for each hypothesis, one reference or more": "several_references",
        "the length of the longest n-grams, 1 or more": "other_orders",
        "A number from 0 to 100.": "short_and_long",
        "ValueError: there are not as many lists of references as hypotheses": (
            "lists_of_another_length"
        ),
    },
    explained=["BLEU of a whole corpus:"],
)
