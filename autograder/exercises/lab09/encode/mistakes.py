"""Known mistakes in `tokens_of` and `decode`: most are edits of right versions."""

from __future__ import annotations

from . import exercise
from .also_right import _joined, joins_bytes_first, lowest_rank_first
from .mistakes_in_encode import HALVES  # that module has the mistakes in encode

wrong = exercise.edits(lowest_rank_first, of="tokens_of")

wrong(
    "latest_merge_first",
    'min(pairs, key=lambda pair: ranks.get(pair, float("inf")))',
    "max(pairs, key=lambda pair: ranks.get(pair, -1))",
    "Of all possible merges you make the one that was learned last. Which one was made first when "
    "the merges were learned?",
)
wrong(
    "one_merge_only",
    "        parts = _joined(parts, best)\n",
    "        return _joined(parts, best)\n",
    "You make one merge and stop. When is a piece finished?",
)
wrong(
    "leftmost_first",
    'min(pairs, key=lambda pair: ranks.get(pair, float("inf")))',
    "next((pair for pair in pairs if pair in ranks), pairs[0])",
    "You make the first merge that you meet from the left. What decides between two merges that "
    "are possible at the same time?",
)
wrong(
    "characters",
    "[piece[i : i + 1] for i in range(len(piece))]",
    '[c.encode() for c in piece.decode(errors="replace")]',
    "You cut the piece into characters. Into what were words cut when the merges were learned?",
)
wrong(
    "numbers_of_bytes",
    "return parts",
    "return [p[0] if len(p) == 1 else p for p in parts]",
    "Single bytes are numbers in your result. What are all other tokens?",
)
wrong(
    "text_of_tokens",
    "return parts",
    'return [p.decode(errors="replace") for p in parts]',
    "Your tokens are text (`str`), and half a character cannot be text. What should they be?",
)


@exercise.mistake(
    "You take the longest token that fits, again and again. BERT's WordPiece does that, and byte "
    "pairs do not: which tokens could `abc` have, and which merge was learned first?",
    of="tokens_of",
)
def longest_match(piece, ranks):
    known = {a + b for a, b in ranks} | {bytes([b]) for b in range(256)}
    tokens = []
    while piece:
        size = max(n for n in range(1, len(piece) + 1) if piece[:n] in known)
        tokens.append(piece[:size])
        piece = piece[size:]
    return tokens


@exercise.mistake(
    "You go through the piece once, from the left, and join what you can. A product can be a part "
    "of another merge: when is a piece finished?",
    of="tokens_of",
)
def once_through_the_piece(piece, ranks):
    parts, i = [], 0
    while i < len(piece):
        pair = (piece[i : i + 1], piece[i + 1 : i + 2])
        parts.append(pair[0] + pair[1] if pair in ranks else pair[0])
        i += len(parts[-1])
    return parts


@exercise.mistake(
    "You join a part with what is on its left as soon as you can. What decides between two merges "
    "that are possible at the same time?",
    of="tokens_of",
)
def grows_to_the_right(piece, ranks):
    parts = []
    for i in range(len(piece)):
        parts.append(piece[i : i + 1])
        while len(parts) > 1 and (parts[-2], parts[-1]) in ranks:
            parts[-2:] = [parts[-2] + parts[-1]]
    return parts


@exercise.mistake(
    "You use your mapping in its own order, longest merges first. What do the numbers in it mean?",
    of="tokens_of",
)
def longest_product_first(piece, ranks):
    parts = [bytes([b]) for b in piece]
    for _ in piece:
        for pair in sorted(ranks, key=lambda pair: (-len(pair[0] + pair[1]), ranks[pair])):
            parts = _joined(parts, pair)
    return parts


@exercise.mistake(
    "Each merge joins its pair at one place of the piece only. Where else may the pair stand?",
    of="tokens_of",
)
def each_merge_at_one_place(piece, ranks):
    parts = [bytes([b]) for b in piece]
    for pair in sorted(ranks, key=ranks.get):
        for i in range(len(parts) - 1):
            if (parts[i], parts[i + 1]) == pair:
                parts[i : i + 2] = [pair[0] + pair[1]]
                break
    return parts


wrong = exercise.edits(joins_bytes_first, of="decode")

wrong("errors_ignored", '"replace"', '"ignore"', HALVES)
wrong(
    "errors_raised",
    '"utf-8", "replace"',
    '"utf-8"',
    "Half a character is an error in your version. A model can write any token at any time: what "
    "should such bytes become?",
)
wrong(
    "token_by_token",
    'data += vocab[number]\n    return data.decode("utf-8", "replace")',
    'data += vocab[number].decode("utf-8", "replace").encode()\n    return data.decode()',
    "You make text of each token alone. In how many tokens can one character lie?",
)
wrong(
    "spaces_between_tokens",
    "data += vocab[number]\n    return data",
    'data += vocab[number] + b" "\n    return data.strip()',
    "You put spaces between tokens. Where is the space of a word already?",
)
wrong(
    "other_encoding",
    '"utf-8", "replace"',
    '"latin-1"',
    "You read each byte as one character. How many bytes has é in `encode`?",
)
wrong(
    "stripped",
    'data.decode("utf-8", "replace")',
    'data.decode("utf-8", "replace").strip()',
    "You remove white space at the ends of the text. What should come back from `encode`?",
)
wrong(
    "unknown_numbers_left_out",
    '            raise ValueError(f"no token has the number {number}")\n',
    "            continue\n",
    "A number without a token causes no error. What does the task promise for it?",
)
wrong(
    "unknown_numbers_as_a_key_error",
    "        if number not in vocab:\n"
    '            raise ValueError(f"no token has the number {number}")\n',
    "",
    "A number without a token raises the error of a dictionary. Which error does the task promise?",
)
wrong(
    "special_tokens_forgotten",
    "        vocab[256 + len(merges) + i] = token.encode()\n",
    "        pass\n",
    "Numbers of special tokens are unknown to you. Which numbers has `encode` given them?",
)
wrong(
    "special_tokens_before_merges",
    "        vocab[256 + i] = a + b\n    for i, token in enumerate(special):\n"
    "        vocab[256 + len(merges) + i] = token.encode()\n",
    "        vocab[256 + len(special) + i] = a + b\n    for i, token in enumerate(special):\n"
    "        vocab[256 + i] = token.encode()\n",
    "You number special tokens before the merges. Which come first in `encode`?",
)
wrong(
    "merges_instead_of_bytes",
    "vocab[256 + i] = a + b",
    "vocab[i] = a + b",
    "Your merges have the numbers of bytes. Which number has the first merge?",
)


@exercise.mistake(
    "Negative numbers count from the end of your list. Which numbers have a token?", of="decode"
)
def negative_numbers(ids, merges, special=()):
    tokens = [bytes([i]) for i in range(256)] + [a + b for a, b in merges]
    tokens += [token.encode() for token in special]
    try:
        return b"".join(tokens[number] for number in ids).decode(errors="replace")
    except IndexError as error:
        raise ValueError("no such token") from error
