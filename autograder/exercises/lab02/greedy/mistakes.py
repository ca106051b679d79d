"""Wrong versions of greedy decoding: most are a small change of a right one."""

from __future__ import annotations

import torch

from . import exercise, mistakes_in_tokens  # noqa: F401 - to register them
from .also_right import column_by_column

STEP = "logits, state, _ = model.cell(fed, state, hidden, source_mask)"
COLUMNS = "torch.stack(chosen, 1)"
CUT = "row[: row.index(eos)] if eos in row else row"

wrong = exercise.edits(column_by_column)

wrong(
    "bos_fed_again",
    "model.cell(fed,",
    "model.cell(torch.full_like(fed, bos),",
    "Every step is fed `bos` again, so the model never sees its own output. What goes into a later "
    "step?",
)
wrong(
    "zero_fed_first",
    "torch.full((len(source),), bos)",
    "torch.zeros(len(source), dtype=torch.int64)",
    "The first step is always fed 0, whatever `bos` is. Where is that argument used?",
)
wrong(
    "state_not_kept",
    "logits, state, _",
    "logits, _, _",
    "Every step starts from the encoder's last state. The cell returns three things: which of them "
    "must go into the next step?",
)
wrong.several(
    "bos_fed_again_and_state_not_kept",
    {
        "model.cell(fed,": "model.cell(torch.full_like(fed, bos),",
        "logits, state, _": "logits, _, _",
    },
    "Two things are wrong at once, so all steps are equal. (1) Every step is fed `bos` again. What "
    "goes into a later step? (2) Every step starts from the encoder's last state. Which of the "
    "cell's results must go into the next one?",
)
STOPS_WITH_THE_FIRST = (
    "The whole batch stops as soon as one of its sentences has ended, and the others are cut off. "
    "How many sentences must be over before the loop may stop?"
)
wrong("stops_with_the_first", "not over.all()", "not over.any()", STOPS_WITH_THE_FIRST)
wrong(
    "batch_of_one_dropped",
    "logits.argmax",
    "logits.squeeze().argmax",
    "With a single sentence, your logits have one axis instead of two. Which call drops an axis "
    "of length 1?",
)
TALKS_ON = (
    "A sentence goes on after its `eos`. The batch may need more steps for the others: which "
    "symbols belong to a sentence that is over?"
)
WITHOUT_EOS = "[symbol for symbol in row if symbol != eos]"
wrong("talks_on", CUT, WITHOUT_EOS, TALKS_ON)
wrong.several("talks_on_to_the_end", {" and not over.all()": "", CUT: WITHOUT_EOS}, TALKS_ON)
wrong(
    "eos_kept",
    "row.index(eos)]",
    "row.index(eos) + 1]",
    "The sentences contain their `eos`, or even later symbols. Which symbols does the task leave "
    "out of the result?",
)
wrong(
    "bos_kept",
    COLUMNS,
    "torch.stack([torch.full_like(fed, bos), *chosen], 1)",
    "Each sentence begins with `bos`. Did the model choose that symbol, or did you add it?",
)
for name, chosen in (
    ("largest_of_the_batch", "logits.argmax(0)[: len(source)]"),
    ("largest_along_the_first_axis", "logits.argmax(0)"),
):
    wrong(
        name,
        "logits.argmax(-1)",
        chosen,
        "You take the largest logit along the wrong axis: over the batch, not over the vocabulary. "
        "Which axis of (B, V) is which, and how many symbols should the step choose?",
    )
wrong(
    "no_end_in_the_first_step",
    "fed = logits.argmax(-1)",
    "if not chosen:\n"
    "                logits = logits.index_fill(1, torch.tensor([eos]), -torch.inf)\n"
    "            fed = logits.argmax(-1)",
    "Your first step cannot choose `eos`, so no sentence is empty. According to the task, which "
    "symbols may a step choose?",
)
wrong(
    "sampled",
    "logits.argmax(-1)",
    "torch.multinomial(logits.softmax(-1), 1)[:, 0]",
    "Two equal calls give two answers: perhaps the symbol is drawn at random from the softmax. "
    "That is sampling (lab 10). Which symbol does greedy take?",
)
wrong(
    "least_likely",
    "argmax",
    "argmin",
    "You take the least likely symbol. Which end of the logits do you look at?",
)
ONE_TOO_FEW = (
    "A sentence that does not end by itself has one symbol too few: the loop makes too few steps "
    "(perhaps `bos` is counted), or the last symbol is cut off. How many symbols may it have?"
)
wrong("one_step_short", "len(chosen) < max_len", "len(chosen) < max(max_len - 1, 1)", ONE_TOO_FEW)
wrong("no_step_for_one", "len(chosen) < max_len", "len(chosen) < max_len - 1", ONE_TOO_FEW)
wrong("last_symbol_cut", "else row for", "else row[:-1] for", ONE_TOO_FEW)
for name, cut in (
    ("end_always_expected", "row[: row.index(eos)]"),
    ("end_looked_up", "row[: (torch.tensor(row) == eos).nonzero()[0].item()]"),
):
    wrong(
        name,
        CUT,
        cut,
        "Your code looks for `eos` in each sentence, and it fails for one that has none after "
        "`max_len` steps. What should become of such a sentence?",
    )
wrong(
    "one_step_more",
    "len(chosen) < max_len",
    "len(chosen) <= max_len",
    "The loop makes one step more than `max_len`. How many steps does it make for max_len = 1?",
)
wrong(
    "stop_condition_inverted",
    "not over.all()",
    "(over.all() or not chosen)",
    "The condition of your loop is inverted: it goes on when the stop symbol has come and ends "
    "when it has not, as one slide says. Say in words: when should decoding go on?",
)
wrong(
    "unfinished_sentence_emptied",
    CUT,
    "row[: row.index(eos) if eos in row else 0]",
    "A sentence that does not end within `max_len` steps is empty in your result: a search for "
    "`eos` (such as `argmax` of a comparison) that finds nothing gives place 0. What belongs "
    "there?",
)
wrong(
    "start_never_chosen",
    "fed = logits.argmax(-1)",
    "fed = logits.index_fill(1, torch.tensor([bos]), -torch.inf).argmax(-1)",
    "You never let the model choose `bos`. Which symbol does greedy take if that one is the "
    "likeliest?",
)
wrong(
    "goes_on_for_one_of_two_reasons",
    "< max_len and not",
    "< max_len or not",
    "Your loop goes on as long as one of two things is true: that there are fewer than `max_len` "
    "steps, or that a sentence is not over (`or`, or an `if` of its own). When should it go on?",
)
for symbol in (0, 1):
    wrong(
        f"over_at_the_symbol_{symbol}",
        "over = over | (fed == eos)",
        f"over = over | (fed == {symbol})",
        "Your loop waits for another symbol than `eos`, so it ends too early or too late. With "
        "which argument do you compare the chosen symbols?",
    )
wrong(
    "ends_forgotten",
    "over = over | (fed == eos)",
    "over = fed == eos",
    "Your loop goes on when every sentence is over: it always makes `max_len` steps, or waits for "
    "`eos` in all sentences at the same step. How does it know that a sentence ended earlier?",
)
wrong(
    "gradients_recorded",
    "torch.no_grad()",
    "torch.enable_grad()",
    "torch records gradients while you decode: every step keeps all earlier ones in memory. Which "
    "context manager switches that off?",
)
wrong(
    "gradients_off_for_good",
    "    with torch.no_grad():",
    "    torch.set_grad_enabled(False)\n    with torch.no_grad():",
    "Gradients stay off: after a call of your function, nothing can be trained. What switches "
    "them off only inside a `with` block?",
)
READ_AGAIN = (
    "The source is read again at every step, although it never changes. Which line can move above "
    "the loop?"
)
wrong(
    "source_read_again",
    STEP,
    f"hidden, _ = model.encode(source, source_mask)\n            {STEP}",
    READ_AGAIN,
)
wrong.several(
    "source_read_inside_the_loop",
    {
        "hidden, state = model.encode(source, source_mask)": "state = None",
        STEP: "hidden, first = model.encode(source, source_mask)\n"
        f"            state = state if chosen else first\n            {STEP}",
    },
    READ_AGAIN,
)
wrong(
    "mask_not_passed",
    "hidden, source_mask)",
    "hidden, None)",
    "The decoder attends to padding: the source's mask does not reach the cell. What are the four "
    "arguments of `model.cell`?",
)
wrong(
    "mask_inverted",
    "hidden, source_mask)",
    "hidden, ~source_mask)",
    "The mask reaches the cell inverted, so the decoder attends only to padding. What does True "
    "mean in `source_mask`, and what does it mean for the cell?",
)
for name, columns in (
    ("steps_for_sentences", "torch.stack(chosen, 0)"),
    ("steps_cut_into_sentences", "torch.cat(chosen).view(len(source), -1)"),
):
    wrong(
        name,
        COLUMNS,
        columns,
        "The symbols are put together in another order: perhaps a row of your table is a step, "
        "with one symbol of each sentence. After you stack the steps, which axis is which?",
    )
wrong(
    "one_list_for_all",
    f"    return [{CUT} for row in rows]",
    "    sentences = [[]] * len(rows)\n"
    "    for sentence, row in zip(sentences, rows, strict=True):\n"
    f"        sentence += {CUT}\n"
    "    return sentences",
    "All your sentences are the same list: `[[]] * n` makes n names for it. What makes a new list "
    "for each sentence?",
)
ENDS_WITH_THE_FIRST_ROW = (
    "Your loop checks only whether the *first* sentence has ended (`[0]`, or `.item()` of it), and "
    "the others stop with it. Do all sentences of a batch end at the same step?"
)
wrong("end_of_the_first_sentence", "not over.all()", "not over[0]", ENDS_WITH_THE_FIRST_ROW)
# A loop that stops before it keeps the step's symbols. It may keep none.
ENDS = "over = over | (fed == eos)"
ALL_EMPTY = (
    "If all sentences of a batch are empty, your function stops with an error, or returns too few "
    "lists: perhaps your loop keeps no step, and then there is nothing to put together. How many "
    "lists does the task ask for, for B sentences?"
)
NOTHING_KEPT = {
    "": f"({COLUMNS} if chosen else torch.zeros(len(source), 0, dtype=torch.int64))",
    "_and_stacks_nothing": COLUMNS,
    "_and_joins_nothing": "torch.cat([one[:, None] for one in chosen], 1)",
    "_and_returns_nothing": f"({COLUMNS} if chosen else torch.zeros(0))",
}
SHORT = {"len(chosen) < max_len": "len(chosen) < max_len - 1"}
for name, ends, condition, changed, advice in (
    ("the_first", "over = fed == eos", "over.any()", {}, STOPS_WITH_THE_FIRST),
    ("that_of_the_first_row", ENDS, "over[0]", {}, ENDS_WITH_THE_FIRST_ROW),
    ("all_and_keeps_the_rest", ENDS, "over.all()", {CUT: "row"}, TALKS_ON),
    ("all_at_once_and_keeps_the_rest", "over = fed == eos", "over.all()", {CUT: "row"}, TALKS_ON),
    ("all_or_max_len", ENDS, "over.all()", SHORT, ONE_TOO_FEW),
    ("all", ENDS, "over.all()", {}, ALL_EMPTY),
):
    stops = f"{ends}\n            if {condition}:\n                break"
    for end, rows in NOTHING_KEPT.items():
        together = {} if rows == COLUMNS else {COLUMNS: rows}
        if end or advice != ALL_EMPTY:  # else it is right
            wrong.several(f"stops_before_{name}{end}", {ENDS: stops, **together, **changed}, advice)
wrong(
    "source_overwritten",
    "    return",
    "    source[:, 0] = bos\n    return",
    "Your code writes into `source` (or its mask), which the caller still needs. What makes a new "
    "tensor?",
)
wrong(
    "bos_dropped_everywhere",
    f"{COLUMNS}.tolist()",
    f"[[n for n in row if n != bos] for row in {COLUMNS}.tolist()]",
    "You remove `bos` and `eos` everywhere. The model may choose any symbol, even `bos`: which "
    "symbols does the task leave out?",
)
wrong(
    "cut_at_the_last_end",
    CUT,
    "row[: len(row) - 1 - row[::-1].index(eos)] if eos in row else row",
    TALKS_ON,
)
wrong(
    "zeros_dropped_everywhere",
    f"{COLUMNS}.tolist()",
    f"[[n for n in row if n != 0] for row in {COLUMNS}.tolist()]",
    "You remove the symbol 0 everywhere, as if it were padding. The model may choose any symbol, "
    "even that one: which symbols does the task leave out?",
)
wrong(
    "unfinished_left_out",
    f"[{CUT} for row in rows]",
    "[row[: row.index(eos)] for row in rows if eos in row]",
    "A sentence that does not end within `max_len` steps is missing from your result. How many "
    "lists does the task ask for, for B sentences?",
)
wrong(
    "single_sentence_unpacked",
    f"    return [{CUT} for row in rows]",
    f"    found = [{CUT} for row in rows]\n    return found[0] if len(found) == 1 else found",
    "For a batch of one sentence you return that sentence alone, not a list of sentences. What "
    "does the task return, for any B?",
)
wrong(
    "ends_of_the_dates",
    "    with torch.no_grad():",
    "    bos, eos = 1, 2\n    with torch.no_grad():",
    "You start and stop with the numbers of the dates task, 1 and 2. Here the first and the last "
    "symbol are arguments: are they used?",
)
wrong(
    "symbols_as_tensors",
    CUT,
    f"[torch.tensor(symbol) for symbol in ({CUT})]",
    "Your sentences are lists, but their symbols are still tensors. The task asks for plain "
    "numbers: which method turns a tensor into them?",
)
wrong(
    "one_table",
    f"    rows = {COLUMNS}.tolist()  # one list per sentence, one symbol per step\n"
    f"    return [{CUT} for row in rows]",
    f"    return {COLUMNS}",
    "You return one tensor for the whole batch. Sentences end at different steps: which kind of "
    "result does the task ask for, and where does each of them stop?",
)
wrong(
    "tensors_returned",
    CUT,
    f"torch.tensor({CUT})",
    "You return tensors. The task asks for lists of plain numbers: what turns a tensor into one?",
)


@exercise.mistake(
    "For each new symbol you run the decoder again from `bos`. Its state remembers everything that "
    "went in: what does one step need?"
)
def begun_again_each_time(model, source, source_mask, bos, eos, max_len):
    with torch.no_grad():
        hidden, first = model.encode(source, source_mask)
        written = torch.full((len(source), 1), bos)
        over = torch.zeros(len(source), dtype=torch.bool)
        while written.shape[1] <= max_len and not over.all():
            state = first
            for fed in written.unbind(1):
                logits, state, _ = model.cell(fed, state, hidden, source_mask)
            symbol = logits.argmax(-1)
            over = over | (symbol == eos)
            written = torch.cat([written, symbol[:, None]], 1)
    rows = written[:, 1:].tolist()
    return [row[: row.index(eos)] if eos in row else row for row in rows]


wrong(
    "other_special_symbols_left_out",
    "return [row[: row.index(eos)] if eos in row else row for row in rows]",
    "rows = [row[: row.index(eos)] if eos in row else row for row in rows]\n"
    "    return [[symbol for symbol in row if symbol not in (0, bos)] for row in rows]",
    "You leave other symbols out than the end, such as 0 or `bos`, wherever the model wrote them. "
    "What does the task leave out of a sentence?",
)
