"""Other right versions of `corpus_bleu`; the mistakes edit the first two."""

from __future__ import annotations

import math
from collections import Counter

from . import exercise


@exercise.also_right
def step_by_step(hypotheses, references, max_n=4):
    if len(hypotheses) != len(references):
        raise ValueError("as many lists of references as hypotheses are needed")
    precisions = []
    for n in range(1, max_n + 1):
        matched, total = 0, 0
        for h, refs in zip(hypotheses, references, strict=True):
            counts = Counter(tuple(h[i : i + n]) for i in range(len(h) - n + 1))
            total += sum(counts.values())
            for gram, count in counts.items():
                most = 0
                for r in refs:
                    found = sum(tuple(r[i : i + n]) == gram for i in range(len(r) - n + 1))
                    most = max(most, found)
                matched += min(count, most)
        if matched == 0:
            return 0.0
        precisions.append(matched / total)
    c = sum(len(h) for h in hypotheses)
    r = 0
    for h, refs in zip(hypotheses, references, strict=True):
        lengths = [len(ref) for ref in refs]
        r += min(lengths, key=lambda length: (abs(length - len(h)), length))
    bp = 1.0 if c >= r else math.exp(1 - r / c)
    mean = math.exp(sum(math.log(p) for p in precisions) / max_n)
    return 100 * bp * mean


@exercise.also_right
def as_in_nltk(hypotheses, references, max_n=4):
    if len(hypotheses) != len(references):
        raise ValueError("The number of hypotheses and their reference(s) should be the same")

    def ngrams(tokens, n):
        return zip(*(tokens[i:] for i in range(n)), strict=False)

    numerators, denominators = Counter(), Counter()
    hyp_lengths = ref_lengths = 0
    for hypothesis, refs in zip(hypotheses, references, strict=True):
        for i in range(1, max_n + 1):
            counts = Counter(ngrams(hypothesis, i))
            max_counts = {}
            for reference in refs:
                reference_counts = Counter(ngrams(reference, i))
                for ngram in counts:
                    max_counts[ngram] = max(max_counts.get(ngram, 0), reference_counts[ngram])
            clipped = {ngram: min(count, max_counts[ngram]) for ngram, count in counts.items()}
            numerators[i] += sum(clipped.values())
            denominators[i] += sum(counts.values())
        hyp_len = len(hypothesis)
        hyp_lengths += hyp_len
        ref_lens = (len(reference) for reference in refs)
        ref_lengths += min(ref_lens, key=lambda length: (abs(length - hyp_len), length))
    if min(numerators[i] for i in range(1, max_n + 1)) == 0:
        return 0.0
    bp = 1 if hyp_lengths > ref_lengths else math.exp(1 - ref_lengths / hyp_lengths)
    weights = [1 / max_n] * max_n
    s = math.fsum(
        w * math.log(numerators[i] / denominators[i]) for i, w in enumerate(weights, start=1)
    )
    return 100 * bp * math.exp(s)


@exercise.also_right
def as_in_tensor2tensor(hypotheses, references, max_n=4):
    if len(references) != len(hypotheses):
        raise ValueError(f"{len(references)} != {len(hypotheses)}")
    matches_by_order, possible_matches_by_order = [0] * max_n, [0] * max_n
    reference_length, translation_length = 0, 0

    def get_ngrams(segment):
        counts = Counter()
        for order in range(1, max_n + 1):
            for i in range(len(segment) - order + 1):
                counts[tuple(segment[i : i + order])] += 1
        return counts

    for refs, translation in zip(references, hypotheses, strict=True):
        ordered = sorted(refs, key=len)
        reference_length += len(min(ordered, key=lambda ref: abs(len(ref) - len(translation))))
        translation_length += len(translation)
        merged = Counter()
        for reference in refs:
            merged |= get_ngrams(reference)
        found = get_ngrams(translation)
        for ngram, count in (found & merged).items():
            matches_by_order[len(ngram) - 1] += count
        for order in range(1, max_n + 1):
            possible_matches_by_order[order - 1] += max(0, len(translation) - order + 1)
    precisions = [0.0] * max_n
    for i in range(max_n):
        if possible_matches_by_order[i] > 0:
            precisions[i] = matches_by_order[i] / possible_matches_by_order[i]
    geo_mean = 0.0
    if min(precisions) > 0:
        geo_mean = math.exp(sum((1.0 / max_n) * math.log(p) for p in precisions))
    ratio = (translation_length + 1e-6) / (reference_length + 1e-6)
    bp = math.exp(1 - 1.0 / ratio) if ratio < 1.0 else 1.0
    return geo_mean * bp * 100


@exercise.also_right
def as_in_multi_bleu(hypotheses, references, max_n=4):
    if len(hypotheses) - len(references):
        raise ValueError("lists of different length")
    correct, total = {}, {}
    length_translation = length_reference = 0
    for s, hypothesis in enumerate(hypotheses):
        closest_diff, closest_length = 9999, 9999
        reference_ngram = {}
        for reference in references[s]:
            diff = abs(len(hypothesis) - len(reference))
            if diff < closest_diff:
                closest_diff, closest_length = diff, len(reference)
            elif diff == closest_diff and len(reference) < closest_length:
                closest_length = len(reference)
            for n in range(1, max_n + 1):
                counted = {}
                for start in range(len(reference) - n + 1):
                    ngram = (n, *reference[start : start + n])
                    counted[ngram] = counted.get(ngram, 0) + 1
                for ngram, count in counted.items():
                    if reference_ngram.get(ngram, 0) < count:
                        reference_ngram[ngram] = count
        length_translation += len(hypothesis)
        length_reference += closest_length
        for n in range(1, max_n + 1):
            left = dict(reference_ngram)
            for start in range(len(hypothesis) - n + 1):
                ngram = (n, *hypothesis[start : start + n])
                total[n] = total.get(n, 0) + 1
                if left.get(ngram, 0) > 0:
                    left[ngram] -= 1
                    correct[n] = correct.get(n, 0) + 1
    product = 1.0
    for n in range(1, max_n + 1):
        product *= correct.get(n, 0) / total[n] if total.get(n) else 0
    if product == 0:
        return 0
    brevity_penalty = 1
    if length_translation < length_reference:
        brevity_penalty = math.exp(1 - length_reference / length_translation)
    return 100 * brevity_penalty * product ** (1 / max_n)


@exercise.also_right
def as_in_sacrebleu(hypotheses, references, max_n=4):
    if len(hypotheses) != len(references):
        raise ValueError("one list of references for each hypothesis")
    correct, total = [0] * max_n, [0] * max_n
    sys_len, ref_len = 0, 0
    for output, refs in zip(hypotheses, references, strict=True):
        sys_len += len(output)
        closest_diff, closest_len = None, None
        for ref in refs:
            diff = abs(len(output) - len(ref))
            if closest_diff is None or diff < closest_diff:
                closest_diff, closest_len = diff, len(ref)
            elif diff == closest_diff:
                closest_len = min(closest_len, len(ref))
        ref_len += closest_len
        for n in range(max_n):
            grams = [tuple(output[i : i + n + 1]) for i in range(len(output) - n)]
            total[n] += len(grams)
            for gram in set(grams):
                in_refs = [
                    [tuple(ref[i : i + n + 1]) for i in range(len(ref) - n)].count(gram)
                    for ref in refs
                ]
                correct[n] += min(grams.count(gram), max(in_refs))
    if 0 in correct:
        return 0.0
    bp = 1.0
    if sys_len < ref_len:
        bp = math.exp(1 - ref_len / sys_len) if sys_len > 0 else 0.0
    logs = [math.log(c / t) for c, t in zip(correct, total, strict=True)]
    return bp * math.exp(sum(logs) / max_n) * 100.0
