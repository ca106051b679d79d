"""encode: text to tokens and back, by merges in the order in which they were learned."""

from __future__ import annotations

from attnlab.tokenizer import decode, encode, merge_pair, tokens_of
from gradekit.exercise import Exercise

exercise = Exercise(
    tokens_of,
    encode,
    decode,
    uses=[merge_pair],
    equivalent={
        "encode: `256` → `255` in `numbers = {bytes([byte]): byte for byte in range(256)}`": (
            "no text in UTF-8 has the byte 255"
        ),
        "encode: `sorted(special, key=len, reverse=True)` → `sorted(special, reverse=True)` in "
        "`cuts = '|'.join((regex.escape(token) for token in sorted(special, key=len, "
        "reverse=True)))`": (
            "of two tokens at one place, one begins with the other, and is also the greater text"
        ),
    },
)

# Learned from a short text about low land; ␣ stands for a space.
LEARNED = (
    "t h|␣ th|o w|␣th e|l ow|␣ low|e s|es t|a n|␣ i|␣i s|e r|an d|␣ w|␣ o|␣ n|␣ and|␣w i|␣ s|"
    "␣s low|␣low est|␣o f|␣low er|␣th an|␣n e|␣ne w|␣new est|␣wi d|␣wid est|␣slow est|␣n ow|␣wi n|"
    "␣win d|␣ b|␣b low|␣blow s|␣o v|␣ov er|␣ l|␣l and|␣w a|␣wa t|␣wat er|th e"
)
OF_THREE_LETTERS = (
    "c a|b b|a a|b ca|a ca|b c|c ca|bb a|aa c|c bca|bca cbca|bca aca|bcaaca aa|c bb",
    "a b|c c|c ab|c b|cc b|cab a|b b|ccb cc|ccbcc ab|ccbccab b|a cb|cb a|cba ab|cbaab ab",
    "c c|b b|a b|c b|cc cc|bb b|cccc b|c bbb|c a|a cc|a a|ab cb|acc abcb|cc b",
)
LETTERS = "lowestrandi  th  é🙂中\n\tW.'12"


def learned(text=LEARNED):
    """Merges from a text of pairs."""
    pairs = (pair.replace("␣", " ").encode() for pair in text.split("|"))
    # The space between the two parts is the last one: no second part begins with a space.
    return [tuple(pair.rsplit(b" ", 1)) for pair in pairs]


def of_characters():
    """Merges inside and across characters: of é, of the first bytes of an emoji, of é with a."""
    return [
        (b"\xc3", b"\xa9"),
        (b"\xf0", b"\x9f"),
        (b"\xf0\x9f", b"\x99"),
        (b"a", b"\xc3\xa9"),
        (b"\x82", b"\xf0\x9f\x99"),
    ]


def numbered(merges):
    """The place of each merge in the order of learning."""
    return {pair: place for place, pair in enumerate(merges)}


def shown(parts):
    """Parts as text: an observation keeps no bytes."""
    return [repr(part) for part in parts]


def some_text(draw, length, letters=LETTERS):
    return "".join(letters[i] for i in draw.integers(0, len(letters), length).tolist())


@exercise.check(points=1.5)
def in_the_order_of_learning(lab, draw):
    """`tokens_of`: of all merges that are possible, the one that was learned first is made."""
    merges = [(b"b", b"c"), (b"a", b"b"), (b"ab", b"ab"), (b"bc", b"d")]
    words = [" lowest", " slower", " blowsy", " " + some_text(draw, 7, "lowest")]
    ranks = numbered(learned())
    return {
        "abc, with b c before a b": shown(lab.tokens_of(b"abc", numbered(merges))),
        "ababab": shown(lab.tokens_of(b"ababab", numbered(merges))),
        "abcd": shown(lab.tokens_of(b"abcd", numbered(merges))),
        **{word: shown(lab.tokens_of(word.encode(), ranks)) for word in words},
    }


@exercise.check(points=1, hidden=True)
def any_merges(lab, draw):
    """`tokens_of`: is right for other merges and random pieces."""
    seen = []
    for table in OF_THREE_LETTERS:
        ranks = numbered(learned(table))
        pieces = [some_text(draw, 14, "abc").encode() for _ in range(4)]
        seen.append([shown(lab.tokens_of(piece, ranks)) for piece in pieces])
    return seen


@exercise.check(points=1.5, hidden=True)
def any_piece(lab, draw):
    """`tokens_of`: an empty piece, single bytes, repeated letters, no merges, half characters."""
    twice = [(b"a", b"a"), (b"aa", b"a"), (b"aa", b"aa")]
    return {
        "empty": shown(lab.tokens_of(b"", numbered(learned()))),
        "one byte": shown(lab.tokens_of(b"\xff", numbered(learned()))),
        "no merges": shown(lab.tokens_of("é!".encode(), {})),
        "repeated": [shown(lab.tokens_of(b"a" * n, numbered(twice))) for n in range(2, 9)],
        "characters": shown(lab.tokens_of("aé🙂🙂".encode(), numbered(of_characters()))),
    }


@exercise.check(points=1.5)
def numbers(lab, draw):
    """`encode`: a byte has its value as number, the product of merge i has 256 + i."""
    merges = learned()
    texts = ["the lowest of the low", "slower winds", "", " ", "x", "Low, low!\n\n  low", "it's"]
    texts.append("é🙂" + some_text(draw, 12, "lowest  é🙂"))
    seen = {repr(text): lab.encode(text, merges) for text in texts}
    across = [*merges, (b" low", b",")]  # a comma is a piece of its own
    return {**seen, "' low,' with a merge of ' low' and ','": lab.encode(" low,", across)}


@exercise.check(points=1)
def special_tokens(lab, draw):
    """`encode`: special tokens are found anywhere, and their numbers follow the merges'."""
    merges, special = learned(), ("<|end|>", "<|pad|>")
    texts = ["<|pad|>", "low<|end|>er", "the <|end|><|pad|> low", "<|start|>", "end"]
    texts.append(some_text(draw, 5, "lowest ") + "<|end|>" + some_text(draw, 5, "lowest "))
    seen = {text: lab.encode(text, merges, special=special) for text in texts}
    return {**seen, "low<|end|>er, without special tokens": lab.encode("low<|end|>er", merges)}


@exercise.check(points=1, hidden=True)
def any_text(lab, draw):
    """`encode`: is right for random texts, whatever is in them, and the merges stay unchanged."""
    merges = learned()
    texts = [some_text(draw, 60) for _ in range(5)] + [
        "Åe\u0301 ﬁ\u00a0x\r\n",
        "naïve 中文 🙂🙂 \t ",
    ]
    seen = [lab.encode(text, merges) for text in texts]
    seen.append(lab.encode("aé🙂🙂a", of_characters()))
    kinds = {type(ids).__name__ for ids in seen}
    return {
        "numbers": seen,
        "merges as they were": merges == learned(),
        "all are lists": kinds == {"list"},
    }


@exercise.check(points=0.5, hidden=True)
def another_pattern(lab, draw):
    """`encode`: pieces are those of the pattern; no token reaches from one into the next."""
    merges = [*learned(), (b"w", b" "), (b"1", b"2")]
    text = f"low lower {some_text(draw, 12)} 12 the  wind"
    patterns = (r"\s|\S+", r"[\s\S]", r"\p{L}{1,2}|[^\p{L}]", r"(?s:.+)")
    return {pattern: lab.encode(text, merges, pattern) for pattern in patterns}


@exercise.check(points=0.5, hidden=True)
def overlapping_special_tokens(lab, draw):
    """`encode`: of two special tokens at one place the longer is found; dots are only dots."""
    merges = learned()
    special = ("<|x", "<|x|>", "a.c", "(", " low")
    texts = ["<|x|><|x", "abc a.c", "((lower low", "x|>", "a.cabc"]
    seen = {text: lab.encode(text, merges, special=special) for text in texts}
    other_order = lab.encode("<|x|><|x<|", merges, special=["<|x|>", "<|x", "<|"])
    return {**seen, "the longer one first": other_order}


@exercise.check(points=1.5)
def back_to_text(lab, draw):
    """`decode`: gives the text back, even if a character lies in several tokens."""
    merges, lamp = of_characters(), list("é🙂".encode())
    numbers = [256 + i for i in draw.integers(0, 44, 6).tolist()]
    return {
        "two bytes and four": lab.decode(lamp, []),
        "a part of an emoji in each token": lab.decode([256, 258, 130, 97], merges),
        "random tokens": lab.decode(numbers, learned()),
        "no token": lab.decode([], merges),
    }


@exercise.check(points=0.5, hidden=True)
def half_a_character(lab, draw):
    """`decode`: bytes that are no UTF-8 become U+FFFD, and nothing else is lost."""
    return [
        lab.decode(ids, of_characters())
        for ids in ([195], [97, 169, 98], [256, 257, 98], [258, 97, 0xFF, 98], [195, 195, 169])
    ]


@exercise.check(points=1, hidden=True)
def other_numbers(lab, draw):
    """`decode`: special tokens become text again; a number without a token is a ValueError."""
    merges, special = learned(), ["<|end|>", "<|é|>"]
    last = 256 + len(merges)
    return {
        "special": lab.decode([108, 260, last, last + 1, 0], merges, special),
        "one too large": draw.raises(lab.decode, [97, last + 2], merges, special),
        "without special tokens": draw.raises(lab.decode, [last], merges),
        "without merges": draw.raises(lab.decode, [256], []),
        "negative": draw.raises(lab.decode, [97, -1], merges),
        "the last": lab.decode([255 + len(merges)], merges),
    }


@exercise.check(points=0.5, hidden=True)
def there_and_back(lab, draw):
    """`encode` and `decode` together give any text back, with special tokens and without."""
    seen = {}
    for merges in (learned(), of_characters(), []):
        text = some_text(draw, 40)
        for special in ((), ("<|end|>", "<|pad|>")):
            ids = lab.encode(f"<|pad|>{text}<|end|>", merges, special=special)
            back = lab.decode(ids, merges, special=special)
            seen[f"{len(merges)} merges, {len(special)} special"] = back == f"<|pad|>{text}<|end|>"
    return seen


exercise.promises(
    {
        "Cut one piece into tokens: merges are applied in the order in which they were learned.": (
            "in_the_order_of_learning any_merges"
        ),
        "The piece is cut into bytes.": "any_piece",
        "Of all pairs of neighbours that are merges, the one with the lowest rank is joined "
        "wherever it stands, from the left and without overlap; then again, until no pair of "
        "neighbours is a merge.": "in_the_order_of_learning any_merges any_piece",
        "the bytes of a piece; it may be empty.": "any_piece",
        "The tokens, from left to right; together they are the piece.": "any_merges any_piece",
        "Special tokens are cut out first, wherever they stand, the longer first where two begin "
        "at one place.": "special_tokens overlapping_special_tokens",
        "The rest is cut into pieces, and each piece into tokens; no token reaches from one piece "
        "into the next.": "numbers another_pattern",
        "The number of a byte is its value, that of the product of merge i is 256 + i, and special "
        "tokens follow.": "numbers special_tokens",
        "Text that looks like a special token and is not in `special` is ordinary text.": (
            "special_tokens"
        ),
        "any text, which may be empty.": "numbers any_text",
        "they stay unchanged.": "any_text",
        "what a piece is, for the package `regex`": "another_pattern",
        "the special tokens; their numbers have the same order.": "special_tokens",
        "The numbers of the tokens.": "numbers any_text",
        "Nothing of the text is lost: `decode` gives it back.": "there_and_back",
        "Turn token numbers back into text.": "back_to_text",
        "The bytes of all tokens are joined first, because one character may lie in several "
        "tokens.": "back_to_text",
        "the special tokens, as in `encode`.": "other_numbers",
        "The text.": "back_to_text",
        "Bytes that are no UTF-8, such as half a character, become U+FFFD.": "half_a_character",
        "ValueError: a number has no token.": "other_numbers",
    },
    explained=[
        "ranks: for each merge, its place in the order of learning, from 0.",
        "Turn text into token numbers.",
        "from `train_bpe`, or made by hand",
        "None is empty.",
        "ids: numbers of tokens.",
        "merges: as in `encode`.",
    ],
)
