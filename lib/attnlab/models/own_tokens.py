"""A tokeniser of the student's own: merges from Python's manuals, compared with tiktoken's.

Its parts are the student's functions, which are arguments here.
"""

from __future__ import annotations

import inspect
import os
import random
import textwrap
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from attnlab.data import manuals
from attnlab.notebook.check import GRADING_VARIABLE
from attnlab.notebook.unwritten import why_not
from attnlab.tokenizer import Pair, as_tiktoken, count_pieces

NUM_MERGES = 300
CHARACTERS = 150_000  # of the manuals: counting all pairs 300 times takes three seconds
NUM_STRINGS = 1000

# Sentences of everyday words, most of which a large vocabulary holds whole.
PLAIN = (
    "The old man went down to the river in the morning. He had a small boat, and his dog came "
    "with him. They were out on the water for most of the day, and when the sun went down they "
    "came home. His wife asked him what he had found. He said that he had found nothing, but that "
    "it had been a good day. She put some bread and soup on the table and sat down next to him."
)
_SIGNS = "🙂👩‍🚀é中文ß\u0301\u00a0\t\n  '’—.,(){}[]=+_#0123456789 abcdefghijklmnop ABC"


@lru_cache(1)
def manual_text() -> manuals.Manuals:
    """The manuals of this Python, read once (four seconds)."""
    return manuals.load()


def learn_from_manuals(train_bpe: Callable[..., list[Pair]]) -> list[Pair] | None:
    """Learn 300 merges from the first 150,000 characters of Python's manuals (some seconds).

    Args:
        train_bpe: called as ``train_bpe(words, n_merges)``.

    Returns:
        The merges; None if the function is not written yet, or while grading.
    """
    if os.environ.get(GRADING_VARIABLE) == "1":
        print("While grading, nothing is learned here: no points depend on it.")
        return None
    words = count_pieces(manual_text().train[:CHARACTERS])
    try:
        return train_bpe(words, NUM_MERGES)
    except Exception as error:
        print(f"No merges yet: {why_not(error, train_bpe)}")
        return None


def strings(count: int = NUM_STRINGS, seed: int = 0) -> list[str]:
    """Texts to compare tokenisers on: prose, code, white space, emoji, and an empty one.

    Args:
        count: how many.
        seed: of their choice.
    """
    draw = random.Random(seed)  # noqa: S311 - nothing is secret here
    sources = [manual_text().validation, inspect.getsource(textwrap), PLAIN]
    found = ["", " ", "\n", "   \n\t ", "🙂", "👩‍🚀", "e\u0301", "中文"]
    while len(found) < count:
        if len(found) % 4:
            source = sources[len(found) % 4 - 1]
            start = draw.randrange(len(source))
            found.append(source[start : start + draw.randint(1, 80)])
        else:
            found.append("".join(draw.choices(_SIGNS, k=draw.randint(1, 40))))
    return found[:count]


def compare_with_tiktoken(encode: Callable[..., list[int]], merges: Sequence[Pair] | None) -> None:
    """Make a real `tiktoken.Encoding` of the merges, and encode 1,000 strings with both.

    Prints how many strings have the same tokens, and the first one that has others.

    Args:
        encode: called as ``encode(text, merges)``.
        merges: from `learn_from_manuals`.
    """
    if merges is None:
        print("There are no merges to compare with tiktoken's.")
        return
    try:
        encoding = as_tiktoken(merges)
        texts = strings()
        own = [list(encode(text, merges)) for text in texts]
    except ValueError as error:
        print(f"tiktoken cannot use these merges: {error}.")
        return
    except Exception as error:
        print(f"Nothing to compare yet: {why_not(error, encode)}")
        return
    theirs = encoding.encode_ordinary_batch(texts, num_threads=1)
    different = [i for i in range(len(texts)) if own[i] != theirs[i]]
    same = len(texts) - len(different)
    print(f"{same:,} of {len(texts):,} strings have the same tokens as with tiktoken.")
    if different:
        i = different[0]
        print(f"The first other one is {texts[i]!r}: you say {own[i]}, tiktoken says {theirs[i]}.")


def texts_of_three_kinds() -> Mapping[str, str]:
    """Plain sentences, a part of Python's manuals, and a module of Python, by name."""
    return {
        "plain sentences": PLAIN,
        "Python's manuals": manual_text().validation[:12_000],
        "Python code": inspect.getsource(textwrap)[:12_000],
    }
