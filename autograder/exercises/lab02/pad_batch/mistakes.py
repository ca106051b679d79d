"""Wrong versions of pad_batch, each a change of a right one."""

from __future__ import annotations

from . import exercise
from .also_right import by_pad_sequence, row_by_row

RETURN = "return ids, lengths, mask"
LENGTHS = "torch.tensor([len(s) for s in sequences])"
WIDTH = "max(len(s) for s in sequences)"
COMPARISON = "torch.arange(width) < lengths[:, None]"
CUT = {"torch.tensor(s)": "torch.tensor(s[:width])"}

wrong = exercise.edits(row_by_row)

wrong(
    "mask_inverted",
    RETURN,
    "return ids, lengths, ~mask",
    'Your mask is True at padding. In these labs True means "here is a token", as in torch\'s '
    "scaled_dot_product_attention. In which direction does your comparison go?",
)
LEFT = {"row, : len(s)": "row, width - len(s) :"}
for name, left in (
    ("pads_left", {**LEFT, RETURN: "return ids, lengths, mask.flip(1)"}),
    ("pads_left_of_the_ids_alone", LEFT),
):
    wrong.several(
        name,
        left,
        "Your padding comes before the tokens. On which side of a row should it be, according to "
        "the docstring?",
    )
wrong.several(
    "fixed_width",
    {WIDTH: "64", **CUT},
    "Your table has a fixed width, so short batches have columns of nothing but padding. Which "
    "sequences should decide how wide the table of this batch is?",
)
wrong.several(
    "width_of_the_first",
    {WIDTH: "len(sequences[0])", **CUT},
    "Your table is as wide as its first sequence, so longer ones are cut. Is the first always the "
    "longest?",
)
wrong.several(
    "cut_to_the_shortest",
    {WIDTH: "min(len(s) for s in sequences)", **CUT},
    "Your table is as wide as the shortest sequence, and tokens of the others are lost. No token "
    "may be cut: which length fits all sequences?",
)
wrong(
    "mask_of_floats",
    RETURN,
    "return ids, lengths, mask.float()",
    "Your mask holds floats. You can multiply by it, but `~mask` and `masked_fill` need booleans. "
    "Which dtype does a comparison give?",
)
wrong(
    "mask_of_integers",
    RETURN,
    "return ids, lengths, mask.long()",
    "Your mask holds whole numbers. As an index, 0 and 1 mean the places 0 and 1, and `~1` is -2. "
    "Which dtype means yes and no?",
)
wrong(
    "axes_of_one_dropped",
    RETURN,
    "return ids.squeeze(), lengths, mask.squeeze()",
    "A batch of a single sequence, or of single tokens, loses an axis. The table has two axes, "
    "however long they are: which call drops one?",
)
wrong(
    "lengths_with_padding",
    RETURN,
    "return ids, torch.full_like(lengths, width), mask",
    "Your lengths are all the same: the width of the table, padding included. How many tokens did "
    "each sequence have before the padding?",
)
wrong(
    "mask_from_ids",
    COMPARISON,
    "ids != pad",
    "Your mask checks whether an id differs from `pad`, so a token with that number counts as "
    "padding. What do you know about a row besides its ids?",
)
wrong.several(
    "lengths_from_ids",
    {COMPARISON: "ids != pad", RETURN: "return ids, mask.sum(1), mask"},
    "Both lengths and mask come from ids that differ from `pad`, so a token with that number is "
    "lost. What do you know about a sequence before you pad it?",
)
wrong(
    "lengths_counted_in_the_table",
    "    mask = torch",
    "    lengths = (ids != pad).sum(1)\n    mask = torch",
    "Your lengths count the ids of a row that differ from `pad`, so a token with that number is "
    "lost. What do you know about a sequence before you pad it?",
)
wrong(
    "length_up_to_the_first_pad",
    "    mask = torch",
    "    found = [row.index(pad) if pad in row else width for row in ids.tolist()]\n"
    "    lengths = torch.tensor(found)\n    mask = torch",
    "Your lengths end at the first `pad` in a row, so a token with that number ends its sentence "
    "too early. What do you know about a sequence before you pad it?",
)
wrong(
    "pad_ignored",
    "width), pad)",
    "width), 0)",
    "You always fill with 0. What is the second argument for?",
)
wrong(
    "empty_counts_one",
    LENGTHS,
    f"{LENGTHS}.clamp(min=1)",
    "A sequence without tokens gets length 1 in your version (and the mask shows a token there). "
    "Perhaps you wanted to avoid a division by 0: does this step divide?",
)
wrong(
    "empty_left_out",
    "    lengths =",
    "    sequences = [s for s in sequences if len(s)]\n    lengths =",
    "Sequences without tokens are left out, so your table has fewer rows than there are sequences. "
    "Which row would then belong to which sentence?",
)
wrong(
    "ids_of_floats",
    RETURN,
    "return ids.float(), lengths, mask",
    "Your ids are floats: an empty or new tensor is float32 by default, and an embedding cannot "
    "look up row 3.0. Where do you make the table?",
)
wrong(
    "sorted_by_length",
    "    lengths =",
    "    sequences = sorted(sequences, key=len, reverse=True)\n    lengths =",
    "Your rows are sorted by length. In another order they no longer match their targets. In which "
    "order did the sequences come?",
)
wrong(
    "one_place_too_many",
    "torch.arange(width) <",
    "torch.arange(width) <=",
    "Your mask includes one place of padding after each sequence. Places are counted from 0: which "
    "is the last place of a sequence of four?",
)
wrong(
    "one_place_too_few",
    "torch.arange(width) <",
    "torch.arange(width) + 1 <",
    "Your mask leaves out the last token of each sequence. Places are counted from 0: which is the "
    "last place of a sequence of four?",
)
wrong(
    "one_column_too_many",
    WIDTH,
    f"{WIDTH} + 1",
    "Your table has one column more than the longest sequence has tokens. How wide must it be?",
)
AS_WIDE_AS_THE_BATCH = (
    "The number of sequences (`len(sequences)`) is where the number of columns should be. Which of "
    "the two axes of your table counts sequences, and which counts places?"
)
wrong("as_wide_as_the_batch", WIDTH, "len(sequences)", AS_WIDE_AS_THE_BATCH)
wrong.several(
    "as_wide_as_the_batch_and_cut", {WIDTH: "len(sequences)", **CUT}, AS_WIDE_AS_THE_BATCH
)
wrong(
    "axes_of_the_table_exchanged",
    "(len(sequences), width)",
    "(width, len(sequences))",
    AS_WIDE_AS_THE_BATCH,
)
wrong(
    "as_wide_as_the_first",
    WIDTH,
    "len(sequences[0])",
    "Your table is as wide as the first sequence is long. Which sequence decides the width?",
)
wrong(
    "batch_second",
    RETURN,
    "return ids.T, lengths, mask.T",
    "Your tables have a row for each place and a column for each sequence. In these labs the batch "
    "comes first. Which argument of torch's own function controls that?",
)
LISTS_CHANGED = (
    "You changed the lists that you were given: `+=`, `append`, `pop`, `sort` and assigning "
    "to an item change the caller's data. What makes a new list instead?"
)
wrong(
    "lists_grown",
    "    return",
    "    for s in sequences:\n"
    "        if isinstance(s, list):\n"
    "            s += [pad] * (width - len(s))\n"
    "    return",
    LISTS_CHANGED,
)
wrong(
    "lists_only",
    "torch.tensor(s)",
    "torch.tensor(s + [])",
    "Your code stops if the sequences are tuples: something in it, such as `+` with a list or an "
    "assignment to an item, works with lists alone. Which kinds does the first argument allow?",
)
wrong(
    "lists_extended",
    "    return",
    "    for s in sequences:\n        s.extend([pad] * (width - len(s)))\n    return",
    LISTS_CHANGED,
)
wrong(
    "lists_appended_to",
    "    return",
    "    for s in sequences:\n        while len(s) < width:\n            s.append(pad)\n    return",
    LISTS_CHANGED,
)
wrong(
    "other_order",
    RETURN,
    "return ids, mask, lengths",
    "You return the three results in another order. Which one should come second?",
)
for name, returned, what in (
    ("two_returned", "ids, mask", "2 values"),
    ("ids_alone", "ids", "one tensor"),
    ("four_returned", "ids, lengths, mask, width", "4 values"),
):
    wrong(
        name,
        RETURN,
        f"return {returned}",
        f"You return {what}, and the task asks for 3 values. Which ones does the docstring name?",
    )
for name, returned in (
    ("mask_as_lists", "ids, lengths, mask.tolist()"),
    ("ids_as_lists", "ids.tolist(), lengths, mask"),
    ("everything_as_lists", "ids.tolist(), lengths.tolist(), mask.tolist()"),
):
    wrong(
        name,
        RETURN,
        f"return {returned}",
        "A table that you return is a list of lists, which has no shape and no dtype. Which kind "
        "of value does the docstring ask for, three times?",
    )
wrong(
    "lengths_of_floats",
    RETURN,
    "return ids, lengths.float(), mask",
    "Your lengths are floats, although they count tokens. Which dtype does the docstring name, "
    "and which does `torch.Tensor([…])` or a mean give?",
)
wrong(
    "lengths_as_a_list",
    RETURN,
    "return ids, lengths.tolist(), mask",
    "Your lengths are a plain list. A tensor of whole numbers can be compared with a whole row of "
    "places at once: what turns a list into one?",
)

wrong_padding = exercise.edits(by_pad_sequence)

wrong_padding(
    "floats_if_the_first_is_empty",
    ", dtype=torch.long",
    "",
    "Your ids are floats if the first sequence is empty: `torch.tensor([])` holds no number that "
    "sets its dtype, so it is float32. How do you state the dtype that you mean?",
)
wrong_padding(
    "floats_if_any_is_empty",
    "[torch.tensor(s, dtype=torch.long) for s in sequences]\n",
    "[torch.tensor(s) for s in sequences]\n"
    "    dtypes = [t.dtype for t in tensors]\n"
    "    tensors = [t.float() if torch.float32 in dtypes else t for t in tensors]\n",
    "Your ids are floats if one of the sequences is empty: `torch.tensor([])` holds no number that "
    "sets its dtype, so it is float32, and so are all rows that are put together with it. How do "
    "you state the dtype that you mean?",
)
wrong(
    "tokens_at_the_end_taken_for_padding",
    "    mask = torch",
    "    for row, one in enumerate(sequences):\n"
    "        while lengths[row] and one[int(lengths[row]) - 1] == pad:\n"
    "            lengths[row] -= 1\n    mask = torch",
    "You take tokens at the end of a sequence for padding if they have the number `pad`. Was "
    "anything padded before your function was called?",
)
for bits in (16, 8):
    wrong(
        f"ids_of_{bits}_bits",
        RETURN,
        f"return ids.to(torch.int{bits}).long(), lengths, mask",
        "Your table has numbers of too few bits on its way (int16, int8), so large ids become "
        "others. How many words can a vocabulary have?",
    )
wrong(
    "token_0_taken_for_nothing",
    "torch.tensor(s)",
    "torch.tensor([token or pad for token in s], dtype=torch.long)",
    "A token 0 becomes padding in your table: as a condition (`or`, `if token`), 0 is false. Which "
    "places should get `pad`, whatever the tokens are?",
)
wrong(
    "row_looked_up",
    "ids[row, :",
    "ids[sequences.index(s), :",
    "You look up the row of a sequence (`index`), which finds the first equal one, so of two equal "
    "sequences only one is written. Which function counts rows while you go through them?",
)
wrong.several(
    "never_wider_than_512",
    {WIDTH: f"min(512, {WIDTH})", **CUT},
    "Your table is never wider than some number, so long sequences are cut. Which sequence decides "
    "the width, according to the task?",
)
