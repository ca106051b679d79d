"""How good a translation is, and how much of a device a training uses."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence

import torch

Sentence = Sequence[Hashable]


def corpus_bleu(
    hypotheses: Sequence[Sentence], references: Sequence[Sequence[Sentence]], max_n: int = 4
) -> float:
    """BLEU of a whole corpus: how many n-grams of the hypotheses are in their references.

        100 · BP · (p₁ · p₂ · … · p_N)^(1/N)                         N = max_n

    - p_n: the n-grams of all hypotheses that are matched, divided by the n-grams of all hypotheses.
      An n-gram of a hypothesis is matched at most as many times as it occurs in that one of its
      references in which it occurs most often.
    - BP: 1 if all hypotheses together are at least as long as their references, c ≥ r; otherwise
      exp(1 - r/c). The length of a hypothesis's references is that of the one which is closest to
      it in length; of two that are equally close, that of the shorter one.

    Matches, n-grams and lengths are added up over the corpus first. Nothing is smoothed: if one p_n
    is 0, or if there are no n-grams of a length, the result is 0.

    Args:
        hypotheses: sentences as lists of tokens (words or numbers); some may be empty.
        references: for each hypothesis, one reference or more.
        max_n: the length of the longest n-grams, 1 or more.

    Returns:
        A number from 0 to 100.

    Raises:
        ValueError: there are not as many lists of references as hypotheses.

    Source: Papineni et al. 2002; lecture G.
    """
    # blank: add up matches and n-grams over the corpus, then the formula
    if len(hypotheses) != len(references):
        raise ValueError(f"{len(hypotheses)} hypotheses, but references of {len(references)}")
    matches, totals = [0] * max_n, [0] * max_n
    length = reference_length = 0
    for hypothesis, own in zip(hypotheses, references, strict=True):
        length += len(hypothesis)
        reference_length += min(
            (len(reference) for reference in own),
            key=lambda other: (abs(other - len(hypothesis)), other),
        )
        for n in range(1, max_n + 1):
            found = _ngrams(hypothesis, n)
            most: Counter[tuple[Hashable, ...]] = Counter()
            for reference in own:
                most |= _ngrams(reference, n)  # the larger of two counts
            matches[n - 1] += (found & most).total()  # the smaller of two counts
            totals[n - 1] += found.total()
    if min(matches) == 0:
        return 0.0
    mean = sum(math.log(m / t) for m, t in zip(matches, totals, strict=True)) / max_n
    return 100 * math.exp(mean + min(0.0, 1 - reference_length / length))
    # end blank


def _ngrams(sentence: Sentence, n: int) -> Counter[tuple[Hashable, ...]]:
    return Counter(tuple(sentence[i : i + n]) for i in range(len(sentence) - n + 1))


def mfu(tokens_per_second: float, params: float, peak_flops: float) -> float:
    """Model FLOPs utilisation: the share of a device's speed that a training really uses.

    A token costs 6 floating-point operations for each parameter: an addition and a multiplication
    in the forward pass, and twice as many in the backward pass. This is right for decoder-only
    models. In an encoder–decoder model, a source token passes only the encoder and a target token
    only the decoder, so each has parameters of its own.

    Args:
        tokens_per_second: tokens that are trained on.
        params: the number of parameters that each token passes.
        peak_flops: operations per second of all devices together, from the data sheet.

    Source: Chowdhery et al. 2022 (PaLM), appendix B; lectures W, C.
    """
    return 6 * params * tokens_per_second / peak_flops


# Operations per second without sparsity, from NVIDIA's data sheets: in 16 bits, in float32.
_PEAKS = (
    ("H200", 989e12, 67e12),
    ("H100 PCIe", 756e12, 51e12),
    ("H100", 989e12, 67e12),
    ("A100", 312e12, 19.5e12),
    ("V100", 125e12, 15.7e12),
    ("T4", 65e12, 8.1e12),
)


def peak_flops(device: torch.device, dtype: torch.dtype) -> float | None:
    """Floating-point operations per second that a device can do; None if we do not know it."""
    if device.type != "cuda":
        return None
    name = torch.cuda.get_device_name(device)
    for part, half, single in _PEAKS:
        if part in name:
            return single if dtype == torch.float32 else half
    return None
