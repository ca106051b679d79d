"""Wrong beam searches: which candidates are kept, and by which number they are compared."""

from __future__ import annotations

from . import exercise
from .also_right import by_sorting

KEEP_BEST = "sorted(candidates, key=score, reverse=True)[:width]"
LENGTHS = "len(symbols) ** alpha"

wrong = exercise.edits(by_sorting)

wrong(
    "multiplied_by_the_length",
    f"total / {LENGTHS}",
    f"total * {LENGTHS}",
    "You multiply the sum by a power of the length, so longer sequences fall back even more. Sums "
    "are negative: what does a division do to them?",
)
# A search without a width would never end for a large max_len. This beam is so wide that the best
# of all sequences are in it.
wrong.several(
    "width_at_the_end",
    {"[:width]": "[: width + 40]", "in beam]": "in beam[:width]]"},
    "Between the steps your beam keeps more than `width` hypotheses, perhaps all of them; only the "
    "result has as many as it should. After which steps does the task keep the `width` best?",
)
wrong(
    "equal_scores_kept_once",
    "sorted(candidates,",
    "sorted({score(each): each for each in candidates}.values(),",
    "Of several candidates with the same score you keep one: perhaps scores are the keys of a "
    "dictionary. Which candidates does the task leave out?",
)
wrong(
    "always_the_mean",
    LENGTHS,
    "len(symbols)",
    "Your scores are always means: `alpha` changes nothing. To which power is the length raised, "
    "and what is it for alpha = 0?",
)
wrong(
    "finished_first",
    "    return [",
    "    beam = sorted(beam, key=lambda one: one[0][-1] != eos)\n    return [",
    "Your result has the finished hypotheses first, whatever their scores. By what does the task "
    "order the pairs that are returned?",
)
wrong(
    "merged_by_the_last_symbol",
    f"beam = {KEEP_BEST}",
    "best = {}\n"
    "        for one in sorted(candidates, key=score, reverse=True):\n"
    "            best.setdefault(one[0][-1], one)\n"
    "        beam = list(best.values())[:width]",
    "Of several candidates with the same last symbol you keep only one. They have different "
    "beginnings and states: which candidates does the task compare?",
)
wrong(
    "narrower_with_each_end",
    "[:width]",
    "[: width - sum(one[0][-1:] == [eos] for one in beam)]",
    "Your beam gets narrower with each hypothesis that ends, although finished ones are among the "
    "candidates already. How many candidates are kept after every step?",
)
ENDS = "one[0][-1] == eos"
NEW_ENDS = f"{ENDS} and one[0] not in [old[0] for old in before]"
for name, ends in (("kept", ENDS), ("new", NEW_ENDS)):
    for limit, least in (("", "{}"), ("_down_to_one", "max({}, 1)")):
        narrower = least.format(f"width - sum({ends} for one in beam)")
        wrong(
            f"narrower_after_each_{name}_end{limit}",
            f"beam = {KEEP_BEST}",
            f"before, beam = beam, {KEEP_BEST}\n        width = {narrower}",
            "Your beam gets narrower with each hypothesis that ends, although finished ones are "
            "among the candidates already. How many candidates are kept after every step?",
        )
for name, best in (
    ("topk", "topk(width)"),
    ("topk_of_what_there_is", "topk(min(width, len(log_p)))"),
    ("sort", "sort(descending=True)"),
):
    wrong(
        f"places_after_{name}_for_symbols",
        "enumerate(log_p.tolist())",
        f"enumerate(log_p.{best}.values.tolist())",
        "You sort the log-probabilities, or take the largest, and count their places as symbols. "
        "What does `topk` or `sort` return besides the values?",
    )
wrong(
    "sum_times_alpha",
    "total / len(symbols) ** alpha",
    "total / len(symbols) * alpha",
    "Your scores are multiplied by alpha (`*` for `**`), so with alpha = 0 all of them are 0. "
    "Which number does the task raise to a power?",
)
NOT_SORTED = (
    "You keep the first candidates, or sort them by something else than their score (a list is "
    "compared by its first entry). By which number does the task choose the `width` best?"
)
for name, kept in (
    ("not_sorted", "candidates[:width]"),
    ("sorted_by_symbols", "sorted(candidates, key=lambda one: one[:2], reverse=True)[:width]"),
    ("sorted_by_length", "sorted(candidates, key=lambda one: len(one[0]))[:width]"),
):
    wrong(name, KEEP_BEST, kept, NOT_SORTED)
wrong(
    "starts_at_one",
    "[([], 0.0, state)]",
    "[([], 1.0, state)]",
    "Your sums begin at 1, as a product would. What is the sum of no numbers?",
)
wrong(
    "means_by_default",
    "alpha=0.0",
    "alpha=1.0",
    "If `alpha` is not given, you divide by the length. Which default does the task's first line "
    "give?",
)
wrong(
    "first_symbol_fed_again",
    "step(symbols[-1] if",
    "step(symbols[0] if",
    "You feed the first symbol of a hypothesis in each step. After which symbol does the model "
    "continue?",
)
