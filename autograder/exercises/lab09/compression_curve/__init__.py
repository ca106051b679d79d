"""compression_curve: how many tokens a word has, and how many bytes a token."""

from __future__ import annotations

from attnlab.compression import compression_curve
from attnlab.tokenizer import encode
from gradekit.exercise import Exercise

exercise = Exercise(compression_curve, uses=[encode])

# Learned from a short text about low land; ␣ stands for a space.
LEARNED = (
    "t h|␣ th|o w|␣th e|l ow|␣ low|e s|es t|a n|␣ i|␣i s|e r|an d|␣ w|␣ o|␣ n|␣ and|␣w i|␣ s|"
    "␣s low|␣low est|␣o f|␣low er|␣th an|␣n e|␣ne w|␣new est|␣wi d|␣wid est|␣slow est|␣n ow|␣wi n"
)
WORDS = ["the", "low", "lowest", "wind", "newest", "slower", "now", "and", "is", "sea", "é", "x,"]


def learned():
    """Merges from the text of pairs."""
    pairs = (pair.replace("␣", " ").encode() for pair in LEARNED.split("|"))
    # The space between the two parts is the last one: no second part begins with a space.
    return [tuple(pair.rsplit(b" ", 1)) for pair in pairs]


def some_text(draw, count, between=" "):
    """Random words after "the", so that the first merges are made."""
    words = [WORDS[i] for i in draw.integers(0, len(WORDS), count).tolist()]
    return between.join(["the", *words])


def seen(curve):
    """The pairs of numbers, whatever holds the two."""
    return [list(pair) for pair in curve]


@exercise.check(points=1)
def one_sentence(lab, draw):
    """Right for one sentence, without merges, with some, and with all of them."""
    text = "the lowest wind is now the slowest wind"
    return seen(lab.compression_curve(text, learned(), [0, 8, 32]))


@exercise.check(points=1)
def other_sizes(lab, draw):
    """Right for random words; sizes may come in any order, and twice."""
    sizes = draw.permutation(30)[:4].tolist()
    return seen(lab.compression_curve(some_text(draw, 23), learned(), [*sizes, 0, sizes[0]]))


@exercise.check(points=1, hidden=True)
def words_by_white_space(lab, draw):
    """Words are divided by any white space, and signs belong to them."""
    texts = [
        some_text(draw, 7, "  "),
        some_text(draw, 7, "\n\n"),
        " \t" + some_text(draw, 5, "\t") + "\n",
        "the well-known (low) land, isn't it? 3.14 x_1",
    ]
    return [seen(lab.compression_curve(text, learned(), [0, 32])) for text in texts]


@exercise.check(points=1, hidden=True)
def any_text(lab, draw):
    """Bytes are counted, and not characters; merges and sizes stay unchanged."""
    merges, sizes = learned(), [32, 0]
    text = f"naïve 中文 🙂🙂 {some_text(draw, 9)} é"
    return {
        "é, emoji, Chinese": seen(lab.compression_curve(text, merges, sizes)),
        "one letter": seen(lab.compression_curve("w", merges, sizes)),
        "no sizes": seen(lab.compression_curve(text, merges, [])),
        "unchanged": [merges == learned(), sizes == [32, 0]],
        "a list": isinstance(lab.compression_curve(text, merges, (1, 2)), list),
    }


exercise.promises(
    {
        "How well a text is compressed by the first merges alone: by none, by a hundred, by all.": (
            "one_sentence other_sizes"
        ),
        "A word is what `text.split()` returns, with the comma or bracket that stands next to "
        "it.": "words_by_white_space",
        "numbers of merges, in any order.": "other_sizes",
        "For a size of 100, the text is encoded with the first 100 merges alone, and with the "
        "usual pattern.": "one_sentence other_sizes",
        "For each size, two numbers: tokens per word, and bytes (of the text in UTF-8) per "
        "token.": "one_sentence any_text",
    },
    explained=["any text that holds a word.", "merges: from `train_bpe`."],
)
