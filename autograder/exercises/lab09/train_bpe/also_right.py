"""Other right versions of `merge_pair` and `train_bpe`; most mistakes are edits of these."""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from itertools import pairwise

from . import exercise


@exercise.also_right(of="merge_pair")
def walks(parts, pair):
    result = []
    i = 0
    while i < len(parts):
        if i + 1 < len(parts) and parts[i] == pair[0] and parts[i + 1] == pair[1]:
            result.append(parts[i] + parts[i + 1])
            i += 2
        else:
            result.append(parts[i])
            i += 1
    return result


@exercise.also_right(of="merge_pair")
def from_a_stack(parts, pair):
    first, second = pair
    result, open_end = [], False  # whether the last part may still be joined
    for part in parts:
        if open_end and result[-1] == first and part == second:
            result[-1] = first + second
            open_end = False
        else:
            result.append(part)
            open_end = True
    return result


@exercise.also_right(of="merge_pair")
def searches_the_first(parts, pair):
    first, second = pair
    new_word = []
    i = 0
    while i < len(parts):
        try:
            j = parts.index(first, i)
        except ValueError:
            new_word.extend(parts[i:])
            break
        new_word.extend(parts[i:j])
        i = j
        if i < len(parts) - 1 and parts[i + 1] == second:
            new_word.append(first + second)
            i += 2
        else:
            new_word.append(parts[i])
            i += 1
    return new_word


@exercise.also_right(of="merge_pair")
def deletes_in_a_copy(parts, pair):
    parts = list(parts)
    i = 0
    while i < len(parts) - 1:
        if (parts[i], parts[i + 1]) == tuple(pair):
            parts[i] += parts.pop(i + 1)
        i += 1
    return parts


def _joined(parts, pair):
    out, i = [], 0
    while i < len(parts):
        if parts[i : i + 2] == list(pair):
            out.append(pair[0] + pair[1])
            i += 2
        else:
            out.append(parts[i])
            i += 1
    return out


@exercise.also_right(of="train_bpe")
def counts_again(words, n_merges, *, tie="first"):
    split = [[bytes([b]) for b in word] for word in words]
    merges = []
    for _ in range(n_merges):
        counts = {}
        for parts, count in zip(split, words.values(), strict=True):
            for pair in pairwise(parts):
                counts[pair] = counts.get(pair, 0) + count
        if not counts:
            break
        if tie == "first":
            best = max(counts, key=counts.get)
        else:
            best = max(counts, key=lambda pair: (counts[pair], pair))
        merges.append(best)
        split = [_joined(parts, best) for parts in split]
    return merges


@exercise.also_right(of="train_bpe")
def counter_and_words_as_keys(words, n_merges, *, tie="first"):
    vocab = {tuple(word[i : i + 1] for i in range(len(word))): n for word, n in words.items()}
    merges = []
    while len(merges) < n_merges:
        stats = Counter()
        for word, freq in vocab.items():
            for i in range(len(word) - 1):
                stats[word[i], word[i + 1]] += freq
        if not stats:
            return merges
        ((pair, most),) = stats.most_common(1)  # of equal ones, the first that was met
        if tie == "greatest":
            pair = max(p for p in stats if stats[p] == most)
        vocab = {tuple(_joined(list(word), pair)): freq for word, freq in vocab.items()}
        merges.append(pair)
    return merges


@exercise.also_right(of="train_bpe")
def only_changed_counts(words, n_merges, *, tie="first"):
    """Keeps one table of counts, and changes what a merge changes."""
    split = [[bytes([b]) for b in word] for word in words]
    freqs = list(words.values())
    counts, where = {}, defaultdict(set)
    for n, parts in enumerate(split):
        for pair in pairwise(parts):
            counts[pair] = counts.get(pair, 0) + freqs[n]
            where[pair].add(n)
    merges = []
    while len(merges) < n_merges and any(counts.values()):
        most = max(counts.values())
        tied = {pair for pair, count in counts.items() if count == most}
        if tie == "first":
            best = next(pair for parts in split for pair in pairwise(parts) if pair in tied)
        else:
            best = max(tied)
        merges.append(best)
        for n in sorted(where.pop(best)):
            for pair in pairwise(split[n]):
                counts[pair] -= freqs[n]
            split[n] = _joined(split[n], best)
            for pair in pairwise(split[n]):
                counts[pair] = counts.get(pair, 0) + freqs[n]
                where[pair].add(n)
    return merges


class _Falling:
    """Turns the order of pairs around, for a heap that gives the smallest first."""

    def __init__(self, pair):
        self.pair = pair

    def __lt__(self, other):
        return self.pair > other.pair


@exercise.also_right(of="train_bpe")
def numbers_and_a_heap(words, n_merges, *, tie="first"):
    """Works with numbers of tokens, and looks up their bytes at the end."""
    vocab = {i: bytes([i]) for i in range(256)}
    split = [list(word) for word in words]
    merges = []
    for new in range(256, 256 + n_merges):
        counts, met = Counter(), {}
        for ids, freq in zip(split, words.values(), strict=True):
            for pair in pairwise(ids):
                counts[pair] += freq
                met.setdefault(pair, len(met))
        if not counts:
            break
        heap = []
        for a, b in counts:
            order = met[a, b] if tie == "first" else _Falling((vocab[a], vocab[b]))
            heapq.heappush(heap, (-counts[a, b], order, (a, b)))
        a, b = heap[0][2]
        merges.append((vocab[a], vocab[b]))
        vocab[new] = vocab[a] + vocab[b]
        for n, ids in enumerate(split):
            out = []
            for i in ids:
                if out and out[-1] == a and i == b:
                    out[-1] = new
                else:
                    out.append(i)
            split[n] = out
    return merges
