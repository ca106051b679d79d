"""Known mistakes in `encode`: most are edits of a right version."""

from __future__ import annotations

import re

from attnlab.tokenizer import GPT2_PATTERN

from . import exercise
from .also_right import piece_by_piece

HALVES = (
    "Bytes that are no UTF-8 disappear silently. What should half a character become, so that a "
    "reader sees that something is missing?"
)

wrong = exercise.edits(piece_by_piece, of="encode")

wrong(
    "one_piece",
    "for match in regex.finditer(pattern, chunk):",
    'for match in regex.finditer("(?s).+", chunk):',
    "The whole text is one piece, so a token can reach from one word into the next. What cuts a "
    "text into pieces?",
)
wrong(
    "always_the_same_pattern",
    "regex.finditer(pattern, chunk)",
    "regex.finditer(GPT2_PATTERN, chunk)",
    "You always use GPT-2's pattern. Which argument says what a piece is?",
)
wrong(
    "separators_lost",
    "for match in regex.finditer(pattern, chunk):",
    r'for match in regex.finditer(r"\S+", chunk):',
    "White space gets lost, so the text cannot come back. What does GPT-2's pattern do with the "
    "space before a word?",
)
wrong(
    "space_before_each_word_lost",
    "match.group().encode",
    "match.group().strip().encode",
    "Each piece loses its space, so the text cannot come back. To which word does a space belong?",
)
wrong(
    "text_stripped",
    "chunks = [text]",
    "text = text.strip()\n    chunks = [text]",
    "White space at the ends of the text gets lost. What does the task promise about the text?",
)
wrong(
    "lower_case",
    "chunks = [text]",
    "text = text.lower()\n    chunks = [text]",
    "Capital letters become small ones. What does the task promise about the text?",
)
wrong(
    "normalised",
    "chunks = [text]",
    'import unicodedata\n    text = unicodedata.normalize("NFKC", text)\n    chunks = [text]',
    "You normalise the text, so other characters come back. What does the task promise about it?",
)
wrong(
    "errors_ignored_in_ascii",
    'encode("utf-8")',
    'encode("ascii", "ignore")',
    "Characters beyond ASCII get lost silently. Which encoding has bytes for all of them?",
)
wrong(
    "latin_bytes",
    'encode("utf-8")',
    'encode("latin-1", "replace")',
    "Your bytes are not UTF-8, so é has one. Which encoding does the task ask for?",
)
wrong(
    "merges_from_0",
    "vocab[a + b] = 256 + i",
    "vocab[a + b] = i",
    "A merge and a byte share a number. Which numbers do bytes have already?",
)
wrong(
    "merges_from_257",
    "vocab[a + b] = 256 + i",
    "vocab[a + b] = 257 + i",
    "Your merges are numbered from 257. What is the largest number of a byte?",
)
wrong(
    "bytes_after_merges",
    "vocab = {bytes([i]): i for i in range(256)}",
    "vocab = {bytes([i]): len(merges) + i for i in range(256)}",
    "Bytes have other numbers than their values in your version. Which number has the byte of `a`?",
)
wrong(
    "special_tokens_right_after_bytes",
    "256 + len(merges) + i for",
    "256 + i for",
    "Special tokens have the numbers of merges. After what do their numbers follow?",
)
wrong(
    "special_tokens_one_later",
    "256 + len(merges) + i for",
    "257 + len(merges) + i for",
    "The first special token has a number too large by 1. Which number has the last merge?",
)
wrong(
    "special_tokens_dropped",
    "ids.append(special_ids[chunk])",
    "continue",
    "You cut special tokens out, and then they are missing. What should be in their place?",
)
wrong(
    "special_tokens_numbered_by_length",
    "for i, token in enumerate(special)}",
    "for i, token in enumerate(sorted(special, key=len, reverse=True))}",
    "You number special tokens by their lengths. In which order do their numbers follow?",
)
wrong(
    "shorter_special_first",
    "sorted(special_ids, key=len, reverse=True)",
    "sorted(special_ids, key=len)",
    "Where two special tokens begin at one place, you take the shorter one. Which one should it "
    "be?",
)
wrong(
    "special_in_the_order_given",
    "sorted(special_ids, key=len, reverse=True)",
    "list(special_ids)",
    "Where two special tokens begin at one place, you take the one that was given first. Which one "
    "should it be?",
)
wrong(
    "signs_of_the_pattern",
    "map(regex.escape, by_length)",
    "by_length",
    "You use special tokens as patterns, and `|` or `.` has a meaning there. How do you look for "
    "the sign itself?",
)
wrong(
    "special_tokens_as_text",
    "if chunk in special_ids:",
    "if False:",
    "Special tokens are cut into ordinary tokens. How many numbers should a special token have?",
)
wrong(
    "a_tuple_of_numbers",
    "return ids",
    "return tuple(ids)",
    "You return a tuple. Which type does the signature promise?",
)


@exercise.mistake(
    "A special token is found only if it is the whole text, or stands between spaces. Where may it "
    "stand?",
    of="encode",
)
def special_between_spaces(text, merges, pattern=GPT2_PATTERN, special=()):
    ids = []
    for word in re.split(r"( )", text):
        if word in special:
            ids.append(256 + len(merges) + list(special).index(word))
        else:
            ids += [("open", word)]
    joined, numbers = "", []
    for part in [*ids, ("open", "")]:
        if isinstance(part, tuple):
            joined += part[1]
            continue
        numbers += [*piece_by_piece(joined, merges, pattern), part]
        joined = ""
    return numbers + piece_by_piece(joined, merges, pattern)


@exercise.mistake(
    "You treat `<|…|>` as a special token even if it is not in `special`. What is such text if it "
    "was not named?",
    of="encode",
)
def always_special(text, merges, pattern=GPT2_PATTERN, special=()):
    names = [*special, *dict.fromkeys(re.findall(r"<\|\w+\|>", text))]
    return piece_by_piece(text, merges, pattern, list(dict.fromkeys(names)))


@exercise.mistake(
    "Your numbers are those of characters (`ord`), some of them far above 255. Into what is a "
    "piece cut first?",
    of="encode",
)
def numbers_of_characters(text, merges, pattern=GPT2_PATTERN, special=()):
    if all(ord(c) < 256 for c in text) and text.isascii():
        return piece_by_piece(text, merges, pattern, special)
    return [ord(c) for c in text]
