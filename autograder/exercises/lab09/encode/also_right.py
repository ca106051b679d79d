"""Other right versions of `tokens_of`, `encode` and `decode`; most mistakes are edits of these."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import regex

from attnlab.tokenizer import GPT2_PATTERN

from . import exercise


def _joined(parts, pair):
    out, i = [], 0
    while i < len(parts):
        if tuple(parts[i : i + 2]) == tuple(pair):
            out.append(pair[0] + pair[1])
            i += 2
        else:
            out.append(parts[i])
            i += 1
    return out


@exercise.also_right(of="tokens_of")
def lowest_rank_first(piece, ranks):
    parts = [piece[i : i + 1] for i in range(len(piece))]
    while len(parts) > 1:
        pairs = [(parts[i], parts[i + 1]) for i in range(len(parts) - 1)]
        best = min(pairs, key=lambda pair: ranks.get(pair, float("inf")))
        if best not in ranks:
            break
        parts = _joined(parts, best)
    return parts


@exercise.also_right(of="tokens_of")
def all_merges_once_in_order(piece, ranks):
    parts = [bytes([b]) for b in piece]
    for pair in sorted(ranks, key=ranks.get):
        parts = _joined(parts, pair)
    return parts


@exercise.also_right(of="tokens_of")
def one_place_at_a_time(piece, ranks):
    """The leftmost of the lowest-ranked pairs is joined, then all are looked up again."""
    parts = [bytes([b]) for b in piece]
    while True:
        lowest, where = None, None
        for i, pair in enumerate(pairwise(parts)):
            rank = ranks.get(pair)
            if rank is not None and (lowest is None or rank < lowest):
                lowest, where = rank, i
        if where is None:
            return parts
        parts[where : where + 2] = [parts[where] + parts[where + 1]]


@exercise.also_right(of="tokens_of")
def by_products(piece, ranks):
    """As tiktoken does: pairs are looked up by what they make, and places are split points."""
    known = {a + b: rank for (a, b), rank in ranks.items()}
    cuts = list(range(len(piece) + 1))
    while len(cuts) > 2:
        found = [
            (known[piece[cuts[i] : cuts[i + 2]]], i)
            for i in range(len(cuts) - 2)
            if piece[cuts[i] : cuts[i + 2]] in known
        ]
        if not found:
            break
        del cuts[min(found)[1] + 1]
    return [piece[a:b] for a, b in pairwise(cuts)]


@exercise.also_right(of="encode")
def piece_by_piece(text, merges, pattern=GPT2_PATTERN, special=()):
    ranks = {pair: i for i, pair in enumerate(merges)}
    vocab = {bytes([i]): i for i in range(256)}
    for i, (a, b) in enumerate(merges):
        vocab[a + b] = 256 + i
    special_ids = {token: 256 + len(merges) + i for i, token in enumerate(special)}
    chunks = [text]
    if special_ids:
        by_length = sorted(special_ids, key=len, reverse=True)
        chunks = regex.split("(" + "|".join(map(regex.escape, by_length)) + ")", text)
    ids = []
    for chunk in chunks:
        if chunk in special_ids:
            ids.append(special_ids[chunk])
        else:
            for match in regex.finditer(pattern, chunk):
                for token in lowest_rank_first(match.group().encode("utf-8"), ranks):
                    ids.append(vocab[token])
    return ids


@exercise.also_right(of="encode")
def walks_through_the_text(text, merges, pattern=GPT2_PATTERN, special=()):
    """Looks for the next special token by hand, and keeps the numbers of pieces that it has met."""
    order = sorted(range(len(special)), key=lambda i: len(special[i]), reverse=True)
    ranks = {pair: i for i, pair in enumerate(merges)}
    products = {a + b: i for i, (a, b) in enumerate(merges)}
    compiled = regex.compile(pattern)

    @cache
    def of_a_piece(piece):
        tokens = all_merges_once_in_order(piece.encode(), ranks)
        return [256 + products[token] if token in products else token[0] for token in tokens]

    def ordinary(part):
        return [n for found in compiled.finditer(part) for n in of_a_piece(found[0])]

    ids, start, at = [], 0, 0
    while at < len(text):
        found = next((i for i in order if text.startswith(special[i], at)), None)
        if found is None:
            at += 1
            continue
        ids += [*ordinary(text[start:at]), 256 + len(merges) + found]
        at = start = at + len(special[found])
    return ids + ordinary(text[start:])


@exercise.also_right(of="encode")
def in_numbers(text, merges, pattern=GPT2_PATTERN, special=()):
    """Joins numbers of tokens and not their bytes."""
    number = {bytes([i]): i for i in range(256)}
    rules = {}
    for i, (a, b) in enumerate(merges):
        rules[number[a], number[b]] = number[a + b] = 256 + i
    names = "|".join(regex.escape(name) for name in sorted(special, key=lambda s: -len(s)))
    ids = []
    for part in regex.splititer(f"({names})", text) if special else [text]:
        if part in special:
            ids.append(256 + len(merges) + list(special).index(part))
            continue
        for piece in regex.findall(pattern, part):
            now = list(piece.encode())
            while len(now) >= 2:
                pair = min(
                    ((now[i], now[i + 1]) for i in range(len(now) - 1)),
                    key=lambda p: rules.get(p, 1 << 30),
                )
                if pair not in rules:
                    break
                now = _joined_numbers(now, pair, rules[pair])
            ids.extend(now)
    return ids


def _joined_numbers(ids, pair, new):
    out, i = [], 0
    while i < len(ids):
        if i < len(ids) - 1 and (ids[i], ids[i + 1]) == pair:
            out.append(new)
            i += 2
        else:
            out.append(ids[i])
            i += 1
    return out


@exercise.also_right(of="decode")
def joins_bytes_first(ids, merges, special=()):
    vocab = {i: bytes([i]) for i in range(256)}
    for i, (a, b) in enumerate(merges):
        vocab[256 + i] = a + b
    for i, token in enumerate(special):
        vocab[256 + len(merges) + i] = token.encode()
    data = b""
    for number in ids:
        if number not in vocab:
            raise ValueError(f"no token has the number {number}")
        data += vocab[number]
    return data.decode("utf-8", "replace")


@exercise.also_right(of="decode")
def one_token_at_a_time(ids, merges, special=()):
    count = 256 + len(merges)
    data = bytearray()
    for number in ids:
        if 0 <= number < 256:
            data.append(number)
        elif 256 <= number < count:
            data.extend(b"".join(merges[number - 256]))
        elif count <= number < count + len(special):
            data.extend(special[number - count].encode("utf-8"))
        else:
            raise ValueError(number)
    return str(data, "utf-8", errors="replace")
