"""Known mistakes of `corpus_bleu` in what is added up, and where: for other ideas than slips."""

from __future__ import annotations

import math
from collections import Counter

from attnlab.metrics import corpus_bleu

from . import exercise


@exercise.mistake(
    "For each n, you take the reference that has most matches. But one n-gram may occur most often "
    "in one reference, and the next in another. For what does the task choose a reference?"
)
def best_reference_for_each_n(hypotheses, references, max_n=4):
    def matches(hypothesis, reference, n):
        return (ngrams(hypothesis, n) & ngrams(reference, n)).total()

    return by_precisions(
        hypotheses,
        references,
        [
            ratio(
                sum(
                    max(matches(hypothesis, reference, n) for reference in own)
                    for hypothesis, own in zip(hypotheses, references, strict=True)
                ),
                sum(ngrams(hypothesis, n).total() for hypothesis in hypotheses),
            )
            for n in range(1, max_n + 1)
        ],
    )


@exercise.mistake(
    "Your p_n is a mean of the sentences' precisions, so an n-gram in a short sentence counts "
    "more. What is added up over the corpus?"
)
def mean_of_the_precisions(hypotheses, references, max_n=4):
    means = []
    for n in range(1, max_n + 1):
        found = []
        for hypothesis, own in zip(hypotheses, references, strict=True):
            total = ngrams(hypothesis, n).total()
            if total:
                found.append((ngrams(hypothesis, n) & most(own, n)).total() / total)
        means.append(ratio(sum(found), len(found)))
    return by_precisions(hypotheses, references, means)


@exercise.mistake(
    "You count the n-grams of all sentences together before you compare, so a word may match in "
    "the reference of another sentence. What is compared with what?"
)
def compared_after_adding(hypotheses, references, max_n=4):
    precisions = []
    for n in range(1, max_n + 1):
        written = sum((ngrams(hypothesis, n) for hypothesis in hypotheses), Counter())
        wanted = sum((most(own, n) for own in references), Counter())
        precisions.append(ratio((written & wanted).total(), written.total()))
    return by_precisions(hypotheses, references, precisions)


def ngrams(sentence, n):
    return Counter(tuple(sentence[i : i + n]) for i in range(len(sentence) - n + 1))


def most(references, n):
    """For each n-gram, how often it is in the reference that has it most often."""
    found = Counter()
    for reference in references:
        found |= ngrams(reference, n)
    return found


def ratio(part, whole):
    return part / whole if whole else 0.0


def by_precisions(hypotheses, references, precisions):
    """The score for these precisions."""
    if len(hypotheses) != len(references):
        raise ValueError("unequal")
    if not min(precisions):
        return 0.0
    c, r = sum(map(len, hypotheses)), 0
    for hypothesis, own in zip(hypotheses, references, strict=True):
        r += min((abs(len(reference) - len(hypothesis)), len(reference)) for reference in own)[1]
    return 100 * min(1, math.exp(1 - r / c)) * math.prod(precisions) ** (1 / len(precisions))


def mean_over_sentences(hypotheses, references, max_n, weight):
    scores, weights = [], []
    for hypothesis, own in zip(hypotheses, references, strict=True):
        scores.append(corpus_bleu([hypothesis], [own], max_n))
        weights.append(weight(hypothesis))
    total = sum(weights)
    return sum(s * w for s, w in zip(scores, weights, strict=True)) / total if total else 0.0


@exercise.mistake(
    "You take the mean of the sentences' scores, so one sentence without a match of four words "
    "counts as 0. What is added up over the corpus, according to the task?"
)
def mean_of_sentences(hypotheses, references, max_n=4):
    if len(hypotheses) != len(references):
        raise ValueError("unequal")
    return mean_over_sentences(hypotheses, references, max_n, lambda hypothesis: 1)


@exercise.mistake(
    "You take a mean of the sentences' scores, with their lengths as weights. What is added up "
    "over the corpus, according to the task?"
)
def weighted_mean_of_sentences(hypotheses, references, max_n=4):
    if len(hypotheses) != len(references):
        raise ValueError("unequal")
    return mean_over_sentences(hypotheses, references, max_n, len)
