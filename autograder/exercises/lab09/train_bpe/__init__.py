"""train_bpe: learn which neighbours to join, from the counts of words."""

from __future__ import annotations

from attnlab.tokenizer import merge_pair, train_bpe
from gradekit.exercise import Exercise

exercise = Exercise(
    merge_pair,
    train_bpe,
    equivalent={},
)

SENNRICH = {b"low_": 5, b"lower_": 2, b"newest_": 6, b"widest_": 3}
PLAIN = {b"low": 5, b"lower": 2, b"newest": 6, b"widest": 3}


def shown(parts):
    """Parts or merges as text: an observation keeps no bytes."""
    return [repr(part) for part in parts]


def some_words(draw, count, letters=b"abcd", longest=6, most=10**6):
    """Different random words of a few letters, with counts that hardly ever tie."""
    words = {}
    while len(words) < count:
        length = int(draw.integers(1, longest + 1))
        word = bytes(letters[i] for i in draw.integers(0, len(letters), length).tolist())
        words[word] = int(draw.integers(1, most))
    return words


def in_other_letters(draw, words):
    """The words in random letters, which have the same order in the alphabet as the old ones."""
    old = sorted({byte for word in words for byte in word} - {ord("_")})
    new = sorted(draw.permutation(26)[: len(old)].tolist())
    letters = bytes.maketrans(bytes(old), bytes(97 + place for place in new))
    return {word.translate(letters): count for word, count in words.items()}


@exercise.check(points=1)
def joined_wherever(lab, draw):
    """`merge_pair`: the pair is joined wherever it stands, and nothing else changes."""
    word = [b"n", b"e", b"w", b"e", b"s", b"t", b"e", b"s"]
    letters = [b"a", b"b", b"ab", b"c"]
    drawn = [letters[i] for i in draw.integers(0, 4, 19).tolist()]
    return {
        "(e, s) in n e w e s t e s": shown(lab.merge_pair(word, (b"e", b"s"))),
        "(w, s), which is not there": shown(lab.merge_pair(word, (b"w", b"s"))),
        "(es, t) in n e w es t": shown(lab.merge_pair([*word[:3], b"es", b"t"], (b"es", b"t"))),
        "(a, b) in random parts": shown(lab.merge_pair(drawn, (b"a", b"b"))),
    }


@exercise.check(points=0.5)
def equal_parts(lab, draw):
    """`merge_pair`: with the pair (a, a), a a a becomes aa a: from the left, without overlap."""
    seen = {}
    for text in (b"aaa", b"aaaa", b"baaab", b"aabaaaaa"):
        parts = [bytes([byte]) for byte in text]
        seen[" ".join(part.decode() for part in parts)] = shown(lab.merge_pair(parts, (b"a", b"a")))
    return seen


@exercise.check(points=1, hidden=True)
def ends_of_parts(lab, draw):
    """`merge_pair`: compares whole parts, whatever bytes they hold; few parts are no problem."""
    cases = [
        ([b"xa", b"b", b"a", b"bx", b"a", b"b"], (b"a", b"b")),
        ([b"ab", b"c", b"a", b"bc", b"abc"], (b"a", b"bc")),
        ([b" ", b"lo", b" ", b"lo", b" lo"], (b" ", b"lo")),
        ([b"\xc3", b"\xa9", b".", b"*", b"\n"], (b".", b"*")),
        ([b"a", b"a", b"b"], (b"a", b"b")),
        ([b"a", b"b", b"b"], (b"b", b"a")),
        ([b"a", b"b"], (b"a", b"b")),
        ([b"a"], (b"a", b"a")),
        ([], (b"a", b"b")),
    ]
    return [shown(lab.merge_pair(parts, pair)) for parts, pair in cases]


@exercise.check(points=0.5, hidden=True)
def parts_unchanged(lab, draw):
    """`merge_pair`: the result is a new list, and the list that it was given stays as it was."""
    seen = []
    for pair in ((b"a", b"b"), (b"x", b"y")):
        parts = [b"a", b"b", b"c"]
        joined = lab.merge_pair(parts, pair)
        seen.append({"given": shown(parts), "a list": isinstance(joined, list)})
        seen[-1]["another list"] = joined is not parts
    return seen


@exercise.check(points=2.5)
def both_tie_rules(lab, draw):
    """Sennrich's words low_, lower_, newest_ and widest_ with both rules, also in other letters."""
    others = in_other_letters(draw, SENNRICH)
    named = ", ".join(word.decode() for word in others)
    return {
        "first": shown(lab.train_bpe(SENNRICH, 12)),
        "greatest": shown(lab.train_bpe(SENNRICH, 12, tie="greatest")),
        f"first, {named}": shown(lab.train_bpe(others, 12)),
        f"greatest, {named}": shown(lab.train_bpe(others, 12, tie="greatest")),
    }


@exercise.check(points=1)
def weighted(lab, draw):
    """A word that occurs more often counts more, and a pair counts at every place."""
    a, b = sorted(draw.permutation(9)[:2].tolist())
    rare, frequent = 10 + a, 10 + b
    return {
        "ab rare, cd frequent": shown(lab.train_bpe({b"ab": rare, b"cd": frequent, b"ef": 1}, 1)),
        "cd frequent, ab twice in a word": shown(
            lab.train_bpe({b"cd": frequent, b"abxab": rare}, 1)
        ),
    }


@exercise.check(points=1)
def stops(lab, draw):
    """Makes as many merges as asked for, unless no word has two parts left."""
    word = bytes(b"abcdefgh"[i] for i in draw.permutation(8)[:5].tolist())
    return {
        f"{word.decode()}, as often as possible": shown(lab.train_bpe({word: 2}, 99)),
        "three of low, lower, newest, widest": shown(lab.train_bpe(PLAIN, 3)),
        "as many as possible": shown(lab.train_bpe(PLAIN, 99)),
        "no merge": shown(lab.train_bpe(PLAIN, 0)),
    }


@exercise.check(points=1.5, hidden=True)
def other_words(lab, draw):
    """Other words, with both rules; with "greatest", the order of the words does not matter."""
    words = some_words(draw, 40)
    few = some_words(draw, 12, letters=b"ab", longest=7, most=4)
    names = list(few)
    shuffled = {names[i]: few[names[i]] for i in draw.permutation(len(names)).tolist()}
    return {
        "hardly any ties": shown(lab.train_bpe(words, 5)),
        "a rare word before a frequent one": shown(lab.train_bpe({b"qrqr": 2, b"st": 4}, 2)),
        "many ties": shown(lab.train_bpe(few, 30, tie="greatest")),
        "parts of two lengths": shown(
            lab.train_bpe({b"bc": 12, b"ab": 8, b"abc": 2, b"abb": 2}, 3, tie="greatest")
        ),
        "the same words in another order": shown(lab.train_bpe(shuffled, 30, tie="greatest")),
    }


@exercise.check(points=1, hidden=True)
def compared_as_tuples(lab, draw):
    """With "greatest", pairs are compared as tuples: (ab, b) is greater than (a, bc)."""
    # First bc is joined, then ab; then (ab, b) and (a, bc) are equally frequent.
    words = {b"bc": 60, b"ab": 50, b"abc": 5, b"abb": 5}
    tables = [words, {b"aZ": 3, b"Za": 3, b"zA": 3}]
    return [shown(lab.train_bpe(table, 8, tie="greatest")) for table in tables]


@exercise.check(points=1, hidden=True)
def repeated_letters(lab, draw):
    """Words such as aaaa: a pair counts at every place, and is joined without overlap."""
    return {
        "aaaa": shown(lab.train_bpe({b"aaaa": 1}, 9)),
        "aaa beside bc": shown(lab.train_bpe({b"bc": 3, b"aaa": 2}, 1)),
        "aaaaaaa": shown(lab.train_bpe({b"aaaaaaa": 2, b"xaab": 1}, 6)),
    }


@exercise.check(points=0.5, hidden=True)
def any_bytes(lab, draw):
    """Words are bytes: é is two of them, an emoji four; a space, or a sign, is a byte as any."""
    words = {" é".encode(): 4, "🙂🙂".encode(): 3, b" a.b": 2, b"\xff\x00": 1, b"\n\n\n": 1}
    return shown(lab.train_bpe(words, 12))


@exercise.check(points=0.5, hidden=True)
def small_tables(lab, draw):
    """Empty words, words of one byte and no words are allowed; the mapping stays unchanged."""
    words = {b"": 7, b"a": 5, b"ab": 1}
    merges = lab.train_bpe(words, 4)
    kinds = {type(merge).__name__ for merge in merges}
    return {
        "'', a, ab": shown(merges),
        "no pair": shown(lab.train_bpe({b"": 1, b"q": 2}, 4)),
        "no word": shown(lab.train_bpe({}, 4)),
        "the mapping afterwards": {repr(word): count for word, count in words.items()},
        "a list": isinstance(merges, list),
        "of tuples": kinds == {"tuple"},
    }


exercise.promises(
    {
        "Join a pair wherever its two parts stand side by side, from the left and without "
        "overlap.": "joined_wherever equal_parts ends_of_parts",
        "So with the pair (a, a), `a a a` becomes `aa a`.": "equal_parts",
        "the list stays unchanged.": "parts_unchanged",
        "It may be empty.": "ends_of_parts",
        "they may be equal.": "equal_parts",
        "A new list: the parts after the merge.": "parts_unchanged",
        "All other parts stay as they are.": "joined_wherever ends_of_parts",
        "again and again, join the pair of neighbours that is most frequent.": (
            "both_tie_rules other_words"
        ),
        "At first each word is cut into its bytes.": "any_bytes",
        "A pair is counted at every place where its two parts stand side by side in a word, and "
        "each place counts as often as the word occurs: `aaa` holds (a, a) twice.": (
            "weighted repeated_letters"
        ),
        "The most frequent pair is joined in all words, as `merge_pair` does.": (
            "both_tie_rules repeated_letters"
        ),
        "Then the pairs of the new parts are counted.": "both_tie_rules other_words",
        "No pair reaches from one word into the next.": "both_tie_rules small_tables",
        "the mapping stays unchanged.": "small_tables",
        "A word may be empty.": "small_tables",
        "the number of merges.": "stops",
        "Fewer are made only if no word has two parts left.": "stops small_tables",
        '"first": the one that you meet first when you read the words in the mapping\'s order, '
        "each from left to right, as they are cut at that moment.": "both_tie_rules other_words",
        '"greatest": the greatest as Python compares tuples of bytes.': (
            "both_tie_rules compared_as_tuples"
        ),
        "The merges in the order in which they were made, each a tuple of the two parts.": (
            "both_tie_rules small_tables"
        ),
    },
    explained=[
        "tie: which of several most frequent pairs is joined.",
        "how often each word occurs, at least once;",
    ],
)
