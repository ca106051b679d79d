"""Known mistakes in `compression_curve`: most are edits of a right version."""

from __future__ import annotations

from . import exercise
from .also_right import with_names

wrong = exercise.edits(with_names)

wrong(
    "split_at_spaces",
    "text.split()",
    'text.split(" ")',
    "You divide words at single spaces, so two spaces make an empty word. What does `split` divide "
    "at if it gets no argument?",
)
wrong(
    "words_of_letters",
    "len(text.split())",
    'len(__import__("re").findall(r"[a-zA-Z]+", text))',
    "You count runs of letters, so `it's` is two words. What is a word, according to the task?",
)
wrong(
    "pieces_as_words",
    "len(text.split())",
    'len(__import__("regex").findall(r" ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+", text))',
    "You count pieces, so a comma is a word. What is a word, according to the task?",
)
wrong(
    "different_words",
    "len(text.split())",
    "len(set(text.split()))",
    "A word that occurs twice counts once. Do its tokens count twice?",
)
wrong(
    "characters_for_bytes",
    'len(text.encode("utf-8"))',
    "len(text)",
    "You count characters. How many bytes has é, or an emoji?",
)
wrong(
    "different_tokens",
    "ids = encode(text, merges[:size])",
    "ids = set(encode(text, merges[:size]))",
    "A token that occurs twice counts once. What does a model read?",
)
wrong(
    "last_merges",
    "merges[:size]",
    "merges[len(merges) - size :]",
    "You keep the last merges. Which ones are needed to build the parts of the others?",
)
wrong(
    "bytes_in_the_size",
    "merges[:size]",
    "merges[: max(0, size - 256)]",
    "You read a size as that of a vocabulary, with 256 bytes in it. What does the task count?",
)
wrong(
    "one_merge_less",
    "merges[:size]",
    "merges[: max(0, size - 1)]",
    "With a size of 8 you use seven merges. What does `merges[:n]` hold?",
)
wrong(
    "one_merge_more",
    "merges[:size]",
    "merges[: size + 1]",
    "With a size of 0 you already use a merge. What does `merges[:n]` hold?",
)
wrong(
    "all_merges_always",
    "merges[:size]",
    "merges",
    "Your numbers are the same for every size. Where does the size come in?",
)
wrong(
    "words_per_token",
    "len(ids) / n_words",
    "n_words / len(ids)",
    "Your first number is words per token. Which of the two counts is divided by the other?",
)
wrong(
    "tokens_per_byte",
    "n_bytes / len(ids)",
    "len(ids) / n_bytes",
    "Your second number is tokens per byte. Which of the two counts is divided by the other?",
)
wrong(
    "numbers_swapped",
    "(per_word, per_token)",
    "(per_token, per_word)",
    "Your two numbers are swapped. Which one comes first?",
)
wrong(
    "whole_numbers",
    "len(ids) / n_words",
    "len(ids) // n_words",
    "Your tokens per word are whole numbers. Which division keeps what is left over?",
)
wrong(
    "sizes_sorted",
    "for size in sizes:",
    "for size in sorted(set(sizes)):",
    "You sort the sizes and drop those that come twice. To which size does your third pair belong?",
)
wrong(
    "one_size_only",
    "        result.append((per_word, per_token))\n",
    "        result.append((per_word, per_token))\n        break\n",
    "You return the numbers of the first size alone. How many pairs should there be?",
)
wrong(
    "words_encoded_alone",
    "ids = encode(text, merges[:size])",
    "ids = [n for word in text.split() for n in encode(word, merges[:size])]",
    "You encode each word alone, without its space. Which merges begin with a space?",
)
wrong(
    "words_joined_by_one_space",
    "ids = encode(text, merges[:size])",
    'ids = encode(" ".join(text.split()), merges[:size])',
    "You encode another text, with single spaces. What happens to tabs and line ends?",
)
