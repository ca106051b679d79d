"""Known mistakes in `make_nsp`: most are one small edit of a right version."""

from __future__ import annotations

from . import exercise
from .also_right import lists_and_loops

wrong = exercise.edits(lists_and_loops)

STRANGERS = (
    "strangers = {d: [s for e, doc in enumerate(documents) if e != d for s in doc] for d, _ in "
    "firsts}"
)
DRAWN = "others[torch.randint(len(others), (1,), generator=generator).item()].tolist()"
ONE_SEP = "Your rows have one [SEP] each. After which of the two sentences does one belong?"
ROW = "[CLS, *a, SEP, *b, SEP]"
SEGMENTS = "[0] * (len(a) + 2) + [1] * (len(b) + 1)"
LABELS = (
    "    labels = torch.zeros(N, dtype=torch.long)\n"
    "    labels[: N // 2] = 1\n"
    "    labels = labels[torch.randperm(N, generator=generator)]\n"
)

wrong(
    "label_inverted",
    "if labels[n] == 1:",
    "if labels[n] == 0:",
    "The label of the next sentence is 0. (Code that came with the paper does so, too.) Which "
    "label does the task give it?",
)
wrong(
    "stranger_from_the_same_document",
    "if e != d for s in doc]",
    "if e == d for s in doc]",
    "Your random sentence is from the same document, so now and then it is the next one after all. "
    "From where should it be?",
)
wrong(
    "stranger_from_anywhere",
    "if e != d for s in doc]",
    "for s in doc]",
    "Your random sentence may be from the same document, even the next one. From where should it "
    "be?",
)
wrong(
    "first_word_of_the_stranger_only",
    DRAWN,
    DRAWN + "[:1]",
    "Only the first word of the random sentence is in the row. How long is that sentence?",
)
wrong(
    "always_the_first_stranger",
    DRAWN,
    "others[0].tolist()",
    "The random sentence is always the first of another document. Among which sentences should it "
    "be drawn?",
)
wrong(
    "last_stranger_never_drawn",
    "torch.randint(len(others), (1,)",
    "torch.randint(max(1, len(others) - 1), (1,)",
    "One sentence is never drawn: the last one. Is the upper end of `randint` included?",
)
wrong(
    "next_document_only",
    "strangers[d]",
    "next(doc for k in range(1, len(documents)) if (doc := documents[(d + k) % len(documents)]))",
    "The random sentence is always from the document after this one. Which documents are possible?",
)
wrong.several(
    "one_number_for_all_strangers",
    {
        LABELS: LABELS + "    drawn = torch.rand((), generator=generator).item()\n",
        DRAWN: "others[int(drawn * len(others))].tolist()",
    },
    "In one call, the second sentences of one document's pairs with label 0 are all the same. How "
    "often is a sentence drawn?",
)
wrong(
    "no_first_sep",
    ROW,
    "[CLS, *a, *b, SEP]",
    ONE_SEP,
)
wrong(
    "no_second_sep",
    ROW,
    "[CLS, *a, SEP, *b]",
    ONE_SEP,
)
wrong.several(
    "no_cls",
    {ROW: "[*a, SEP, *b, SEP]", "[0] * (len(a) + 2)": "[0] * (len(a) + 1)"},
    "Your rows have no [CLS]. What does the head for pairs read?",
)
wrong.several(
    "cls_per_sentence",
    {ROW: "[CLS, *a, SEP, CLS, *b, SEP]", "[1] * (len(b) + 1)": "[1] * (len(b) + 2)"},
    "Each of your sentences has a [CLS]. How many does a row have?",
)
wrong.several(
    "sentences_exchanged",
    {ROW: "[CLS, *b, SEP, *a, SEP]", SEGMENTS: "[0] * (len(b) + 2) + [1] * (len(a) + 1)"},
    "The two sentences are exchanged: the second one comes first. In which order does the text "
    "have them?",
)
wrong(
    "first_sep_in_segment_1",
    SEGMENTS,
    "[0] * (len(a) + 1) + [1] * (len(b) + 2)",
    "The first [SEP] belongs to segment 1. To which sentence does it belong in the task?",
)
wrong(
    "second_sep_in_segment_0",
    SEGMENTS,
    "[0] * (len(a) + 2) + [1] * len(b) + [0]",
    "The second [SEP] belongs to segment 0. To which sentence does it belong in the task?",
)
wrong(
    "cls_in_segment_1",
    SEGMENTS,
    "[1] + [0] * (len(a) + 1) + [1] * (len(b) + 1)",
    "[CLS] belongs to segment 1. Which places have a 1 in the task?",
)
wrong(
    "segments_exchanged",
    SEGMENTS,
    "[1] * (len(a) + 2) + [0] * (len(b) + 1)",
    "The first sentence has segment 1 and the second has 0. Which is which in the task?",
)
wrong(
    "segments_from_one",
    SEGMENTS,
    "[1] * (len(a) + 2) + [2] * (len(b) + 1)",
    "Your segments are 1 and 2. How many rows does the table of segments have, and at which number "
    "do they begin?",
)
wrong(
    "padding_in_segment_1",
    "seg += [0] * missing",
    "seg += [1] * missing",
    "Your padding belongs to segment 1. Which places have a 1 in the task?",
)
wrong(
    "padding_on_the_left",
    "        row += [PAD] * missing\n        seg += [0] * missing\n",
    "        row[:0] = [PAD] * missing\n        seg[:0] = [0] * missing\n",
    "Your padding is on the left, so [CLS] is in another column in each row. Which column does the "
    "head for pairs read?",
)
wrong(
    "padded_with_sep",
    "row += [PAD] * missing",
    "row += [SEP] * missing",
    "Your rows are filled up with [SEP]. Which token is for that?",
)
wrong(
    "a_column_too_many",
    "T = max(len(row) for row in ids)",
    "T = max(len(row) for row in ids) + 1",
    "Even the longest pair has padding. How many columns does it need?",
)
wrong(
    "balanced_by_a_coin",
    LABELS,
    "    labels = (torch.rand(N, generator=generator) < 0.5).long()\n",
    "You throw a coin for each pair, so the halves are not equal. (Code that came with the paper "
    "does so, too.) By how much may they differ here?",
)
wrong(
    "labels_in_turn",
    LABELS,
    "    labels = torch.arange(N) % 2\n",
    "Labels 0 and 1 come in turn, in every call. What is random in the task?",
)
wrong(
    "labels_in_blocks",
    "    labels = labels[torch.randperm(N, generator=generator)]\n",
    "",
    "All pairs with label 1 come first, in every call. A batch of the first rows would be easy to "
    "guess: in which order should they be?",
)
wrong(
    "order_of_the_text",
    "    firsts = [firsts[k] for k in order]\n",
    "",
    "Your pairs come in the order of the text. In which order should they be?",
)
wrong(
    "same_half_each_time",
    "labels = labels[torch.randperm(N, generator=generator)]",
    "labels = (torch.tensor(order) % 2 == 0).long()",
    "The same pairs have label 1 in every call. What should be drawn anew?",
)
wrong(
    "each_sentence_once",
    "range(len(document) - 1)",
    "range(0, len(document) - 1, 2)",
    "Each sentence is in one pair only, so you have half as many as possible. Which sentences have "
    "one after them?",
)
wrong(
    "last_pair_lost",
    "range(len(document) - 1)",
    "range(len(document) - 2)",
    "The last pair of each document is missing. Which sentence has none after it?",
)
wrong(
    "both_kinds_of_each",
    "            firsts.append((d, i))\n",
    "            firsts += [(d, i), (d, i)]\n",
    "Each first sentence is in two pairs. In how many should it be?",
)
wrong(
    "generator_ignored",
    "    N = len(firsts)\n",
    "    N, generator = len(firsts), None\n",
    "Two equal generators give different results, or torch's global random state moves. Which "
    "argument should every random call get?",
)
wrong(
    "seeded_inside",
    "    N = len(firsts)\n",
    "    N, generator = len(firsts), torch.Generator().manual_seed(0)\n",
    "Every call makes the same pairs. Where should random numbers come from?",
)
wrong(
    "float_labels",
    "dtype=torch.long)",
    "dtype=torch.float32)",
    "Your labels are floating-point numbers. Which type do indices have, and `cross_entropy` want?",
)
wrong(
    "empty_result",
    '        raise ValueError("no pairs")\n',
    "        empty = torch.zeros(0, 0, dtype=torch.long)\n        return empty, empty, empty\n",
    "Documents without pairs or without strangers give an empty result. What does the task ask "
    "for?",
)
wrong(
    "no_strangers_no_error",
    "if not firsts or not all(strangers.values()):",
    "if not firsts:",
    "A single document has no strangers, and your function stops with another error or goes on. "
    "Which error does the task name?",
)
wrong(
    "all_but_these_two",
    "            others = strangers[d]\n",
    "            doc = documents[d]\n"
    "            others = strangers[d] + [s for j, s in enumerate(doc) if j not in (i, i + 1)]\n",
    "Your random sentence can be another one of the same document, although not one of these two. "
    "Where should it come from?",
)
wrong(
    "first_sentences_only",
    "            others = strangers[d]\n",
    "            others = [doc[0] for e, doc in enumerate(documents) if e != d and len(doc)]\n",
    "Your random sentence is always the first one of its document, so a model can learn to know "
    "first sentences. Which sentences can be drawn?",
)
wrong(
    "never_first_sentences",
    "            others = strangers[d]\n",
    "            others = [s for e, doc in enumerate(documents) if e != d for s in doc[1:]]\n"
    "            others = others or strangers[d]\n",
    "Your random sentence is never the first one of its document. Which sentences can be drawn?",
)
