"""Known mistakes in `merge_pair`: most are edits of a right version."""

from __future__ import annotations

from . import exercise
from .also_right import walks

ASK_WHAT_A_PAIR_IS = (
    "You join by replacing text, and the text does not know where a part begins: b in `xa b` and a "
    "at its left are not a pair of parts (a, b). What do you compare, and what if a part is a "
    "space?"
)

wrong = exercise.edits(walks, of="merge_pair")

wrong(
    "overlapping",
    "            i += 2\n",
    "            i += 1\n",
    "After a pair you go on with its second part, which is then used twice. Where does the next "
    "part begin?",
)
wrong(
    "only_even_positions",
    "            result.append(parts[i])\n            i += 1\n",
    "            result.extend(parts[i : i + 2])\n            i += 2\n",
    "You go in steps of two, so you find only pairs that begin at an even position. How far should "
    "you go after a part that is not joined?",
)
wrong(
    "last_part_lost",
    "while i < len(parts):",
    "while i < len(parts) - 1:",
    "The last part is lost unless it is joined. Which position does your loop reach?",
)
wrong(
    "joined_once",
    "            i += 2\n",
    "            return result + parts[i + 2 :]\n",
    "You join the pair at one place and leave all later ones. How often may it stand in a word?",
)
wrong(
    "either_order",
    "parts[i] == pair[0] and parts[i + 1] == pair[1]",
    "{parts[i], parts[i + 1]} == set(pair)",
    "You join the two parts in either order. Is (b, a) the same pair as (a, b)?",
)
wrong(
    "reversed_pair",
    "parts[i] == pair[0] and parts[i + 1] == pair[1]",
    "parts[i] == pair[1] and parts[i + 1] == pair[0]",
    "You look for the pair in the wrong order. Which of the two parts is on the left?",
)
wrong(
    "products_compared_in_words",
    "parts[i] == pair[0] and parts[i + 1] == pair[1]",
    "parts[i] + parts[i + 1] == pair[0] + pair[1]",
    "You compare what the two parts make together. Is `ab c` the pair (a, bc)?",
)
wrong(
    "ends_compared",
    "parts[i] == pair[0] and parts[i + 1] == pair[1]",
    "parts[i].endswith(pair[0]) and parts[i + 1].startswith(pair[1])",
    "You compare the end of one part and the beginning of the next. What must be equal to what?",
)
wrong(
    "first_part_only",
    "parts[i] == pair[0] and parts[i + 1] == pair[1]",
    "parts[i] == pair[0]",
    "You look at the left part alone. What must stand to the right of it?",
)
wrong(
    "joined_the_wrong_way_round",
    "result.append(parts[i] + parts[i + 1])",
    "result.append(parts[i + 1] + parts[i])",
    "Your product begins with the second part, so the word is another one. Which part comes first?",
)
wrong(
    "the_pair_itself",
    "result.append(parts[i] + parts[i + 1])",
    "result.append(pair)",
    "Your result holds the pair itself, a tuple. What does joining two parts make of them?",
)
wrong(
    "the_pair_is_dropped",
    "            result.append(parts[i] + parts[i + 1])\n",
    "",
    "The pair disappears from the word. What should be in its place?",
)
wrong(
    "all_joined",
    "return result",
    'return b"".join(result)',
    "You return the whole word as one piece of bytes. What should a merge leave apart?",
)


@exercise.mistake(
    "You join from the right: a a a becomes a aa. At which end does the task begin?",
    of="merge_pair",
)
def from_the_right(parts, pair):
    result, i = [], len(parts)
    while i > 0:
        if i > 1 and parts[i - 2] == pair[0] and parts[i - 1] == pair[1]:
            result.append(pair[0] + pair[1])
            i -= 2
        else:
            result.append(parts[i - 1])
            i -= 1
    return result[::-1]


@exercise.mistake(
    "The list that you were given is changed. Whose list is it, and what can you work on instead?",
    of="merge_pair",
)
def in_place(parts, pair):
    i = 0
    while i < len(parts) - 1:
        if parts[i] == pair[0] and parts[i + 1] == pair[1]:
            parts[i : i + 2] = [pair[0] + pair[1]]
        i += 1
    return parts


@exercise.mistake(
    "If the pair is not there, you return the list that you were given. What does the task promise "
    "about the result?",
    of="merge_pair",
)
def same_list_if_nothing_changes(parts, pair):
    joined = walks(parts, pair)
    return parts if len(joined) == len(parts) else joined


@exercise.mistake(ASK_WHAT_A_PAIR_IS, of="merge_pair")
def replaced_as_text(parts, pair):
    return b" ".join(parts).replace(b" ".join(pair), b"".join(pair)).split(b" ")


@exercise.mistake(
    "A product is joined again with what follows: a a a a becomes one part. How often is a part "
    "used in one merge?",
    of="merge_pair",
)
def joined_on_and_on(parts, pair):
    result = []
    for part in parts:
        if result and result[-1].endswith(pair[0]) and part == pair[1]:
            result[-1] += part
        else:
            result.append(part)
    return result
