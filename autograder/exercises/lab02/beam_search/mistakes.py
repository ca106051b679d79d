"""Wrong beam searches, each a small change of a right one."""

from __future__ import annotations

from . import (  # noqa: F401 - to register them
    exercise,
    mistakes_in_keeping,
    mistakes_in_logarithms,
)
from .also_right import by_sorting

START = "[([], 0.0, state)]"
KEEP_BEST = "sorted(candidates, key=score, reverse=True)[:width]"
IS_OVER = "all(symbols[-1] == eos for symbols, _, _ in beam)"
ADD_UP = "total + more, following"
RETURN = "return [(hypothesis[0], score(hypothesis)) for hypothesis in beam]"

wrong = exercise.edits(by_sorting)

wrong.several(
    "one_state_for_all",
    {
        "bos, place)": "bos, state)",
        "log_p, following": "log_p, state",
        ADD_UP: "total + more, state",
    },
    "All hypotheses continue from the same state, the latest one. A state remembers the symbols "
    "that went in: whose symbols, in your code?",
)
FINISHED_CONTINUED = (
    "A hypothesis that has ended is continued. What can follow `eos`, and what does a finished "
    "hypothesis do in a step?"
)
wrong.several(
    "finished_continued",
    {
        "            if symbols[-1:] == [eos]:\n"
        "                candidates.append((symbols, total, place))\n"
        "                continue\n": "",
        "symbols[-1] if symbols else bos": "bos if symbols[-1:] in ([], [eos]) else symbols[-1]",
        f"        if {IS_OVER}:\n            break\n": "",
    },
    FINISHED_CONTINUED,
)
wrong.several(
    "end_fed_to_the_step",
    {
        "            if symbols[-1:] == [eos]:\n"
        "                candidates.append((symbols, total, place))\n"
        "                continue\n": "",
        f"        if {IS_OVER}:\n            break\n": "",
    },
    FINISHED_CONTINUED,
)
wrong(
    "axis_of_one_dropped",
    "log_p.tolist()",
    "log_p.squeeze().tolist()",
    "A vocabulary of a single symbol is a special case in your code: its log-probabilities, (V,), "
    "lose their only axis. Which call drops an axis of length 1?",
)
wrong(
    "finished_lost",
    "                candidates.append((symbols, total, place))\n                continue",
    "                continue",
    "A hypothesis that has ended is gone after the next step, although it may be the best in the "
    "end. At which point of a step is it a candidate?",
)
FINISHED_ASIDE = (
    "Finished hypotheses are put aside, and others take their places in the beam. Some programs "
    "do that; here a finished one keeps its place. How many are kept in total?"
)
ASIDE = {
    f"beam = {START}": f"aside, beam = [], {START}",
    "in beam]": "in sorted(aside + beam, key=score, reverse=True)[:width]]",
}
wrong.several(
    "finished_put_aside",
    {
        **ASIDE,
        f"beam = {KEEP_BEST}": "aside += [one for one in candidates if one[0][-1] == eos]\n"
        "        candidates = [one for one in candidates if one[0][-1] != eos]\n"
        f"        beam = {KEEP_BEST}",
    },
    FINISHED_ASIDE,
)
for name, over in (
    ("finished_taken_out", IS_OVER),
    ("finished_counted_to_stop", "not beam or len(aside) >= width"),
):
    wrong.several(
        name,
        {
            **ASIDE,
            f"beam = {KEEP_BEST}": f"kept = {KEEP_BEST}\n"
            "        aside += [one for one in kept if one[0][-1] == eos]\n"
            "        beam = [one for one in kept if one[0][-1] != eos]",
            f"if {IS_OVER}": f"if {over}",
        },
        FINISHED_ASIDE,
    )
wrong.several(
    "finished_leave_a_narrower_beam",
    {
        **ASIDE,
        f"beam = {KEEP_BEST}": "kept = sorted(candidates, key=score, reverse=True)"
        "[: width - len(aside)]\n"
        "        aside += [one for one in kept if one[0][-1] == eos]\n"
        "        beam = [one for one in kept if one[0][-1] != eos]",
        f"if {IS_OVER}": "if not beam",
    },
    "A finished hypothesis leaves your beam, which is narrower from then on, and nothing can push "
    "it out any more. With which candidates does the task compare it in every step?",
)
wrong(
    "finished_beside_the_width",
    f"beam = {KEEP_BEST}",
    "ended = [one for one in candidates if one[0][-1] == eos]\n"
    "        candidates = [one for one in candidates if one[0][-1] != eos]\n"
    f"        beam = sorted(ended + {KEEP_BEST}, key=score, reverse=True)",
    "Finished hypotheses do not count among your `width`, so more and more are kept. How many "
    "candidates of both kinds stay after a step, according to the task?",
)
PROBABILITIES = (
    "Your scores are probabilities, between 0 and 1, and for long sequences they underflow. Which "
    "number does the task put beside each sequence?"
)
wrong.several(
    "probabilities_multiplied",
    {START: "[([], 1.0, state)]", ADD_UP: "total * math.exp(more), following"},
    PROBABILITIES,
)
wrong(
    "probabilities_returned",
    "(hypothesis[0], score(hypothesis))",
    "(hypothesis[0], math.exp(score(hypothesis)))",
    PROBABILITIES,
)
wrong(
    "probabilities_added",
    ADD_UP,
    "total + math.exp(more), following",
    "You add up probabilities: a longer sequence then always has the higher score. What is added "
    "up for a product of probabilities?",
)
wrong(
    "last_symbol_only",
    ADD_UP,
    "more, following",
    "Only the last symbol counts in your scores. At which point does a continuation take over the "
    "sum of its beginning?",
)
wrong(
    "alpha_ignored",
    "total / len(symbols) ** alpha",
    "total",
    "The scores are not normalised: `alpha` changes nothing. A sum of log-probabilities only "
    "falls as a sequence grows; what compensates for that?",
)
wrong.several(
    "normalised_at_the_end",
    {
        "key=score": "key=lambda one: one[1]",
        "in beam]": "in sorted(beam, key=score, reverse=True)]",
    },
    "During the search you compare plain sums, and you normalise only the returned scores. Each "
    "step compares short finished hypotheses with long unfinished ones: by which number?",
)
wrong(
    "sums_returned",
    "(hypothesis[0], score(hypothesis))",
    "(hypothesis[0], hypothesis[1])",
    "You compare normalised scores, as you should, but you return plain sums. Which number does "
    "the task put beside each sequence?",
)
DIVIDED_AGAIN = (
    "A sum that was already divided is divided again at the next step. Keep two numbers for each "
    "hypothesis: which one is added to, and which one is compared?"
)
wrong.several(
    "divided_again_and_again",
    {
        ADD_UP: "(total + more) / (len(symbols) + 1) ** alpha, following",
        "total / len(symbols) ** alpha": "total",
    },
    DIVIDED_AGAIN,
)
wrong(
    "divided_on_the_way_and_in_the_score",
    ADD_UP,
    "(total + more) / (len(symbols) + 1) ** alpha, following",
    DIVIDED_AGAIN,
)
SCORE_KEPT = f"beam = [(one[0], score(one), one[2]) for one in {KEEP_BEST}]"
wrong("divided_in_the_beam", f"beam = {KEEP_BEST}", SCORE_KEPT, DIVIDED_AGAIN)
wrong.several(
    "divided_in_the_beam_alone",
    {f"beam = {KEEP_BEST}": SCORE_KEPT, "(hypothesis[0], score(hypothesis))": "hypothesis[:2]"},
    DIVIDED_AGAIN,
)
wrong(
    "one_length_for_all",
    "key=score",
    "key=lambda one: one[1]",
    "You compare sums, or divide all of them by one length, which does not change their order. "
    "Finished hypotheses are shorter than the others: whose length counts for each?",
)
wrong(
    "another_penalty",
    "len(symbols) ** alpha",
    "((5 + len(symbols)) / 6) ** alpha",
    "Your length penalty is ((5 + n) / 6)**alpha, as in some translation systems. Which penalty "
    "does the task state?",
)
wrong(
    "bos_counted",
    "len(symbols) ** alpha",
    "(len(symbols) + 1) ** alpha",
    "Your lengths are one too large: `bos` is counted. Which symbols count, according to the task?",
)
wrong(
    "eos_not_counted",
    "len(symbols) ** alpha",
    "max(len(symbols) - symbols.count(eos), 1) ** alpha",
    "`eos` does not count in your lengths, although the model had to choose it like any other "
    "symbol. Which symbols does the task count?",
)
wrong(
    "alpha_times_length",
    "len(symbols) ** alpha",
    "(alpha * len(symbols) or 1)",
    "The length is multiplied by alpha, not raised to its power. What should alpha = 0 do to a "
    "score?",
)
BEST_OF_EACH = (
    "Each hypothesis keeps its own best continuation, so a bad one never loses its place to the "
    "second child of a good one. Among which candidates are the `width` best chosen?"
)
wrong(
    "best_of_each_beam",
    f"beam = {KEEP_BEST}",
    "kept = {}\n"
    "        for one in sorted(candidates, key=score, reverse=True):\n"
    "            parent = one[0] if one[0][-1] == eos else one[0][:-1]\n"
    "            kept.setdefault(tuple(parent or one[0]), one)\n"
    "        beam = list(kept.values())[:width]",
    BEST_OF_EACH,
)
wrong(
    "one_child_each",
    "enumerate(log_p.tolist())",
    "sorted(enumerate(log_p.tolist()), key=lambda one: -one[1])[: 1 if symbols else None]",
    BEST_OF_EACH,
)
wrong(
    "starts_with_copies",
    START,
    f"{START} * width",
    "Your beam holds the same sequence several times: it starts with `width` copies of `bos`. "
    "How many different beginnings are there before the first step?",
)
wrong(
    "stops_at_the_first_end",
    "if all(",
    "if any(",
    "The search stops as soon as one hypothesis has ended, but a longer one may still overtake it. "
    "Which must finish before the search may stop?",
)
wrong(
    "stops_when_the_best_ends",
    IS_OVER,
    "beam[0][0][-1] == eos",
    "The search stops when the best hypothesis has ended; the others are returned unfinished. "
    "Which must finish, according to the task?",
)
wrong(
    "worst_first",
    "in beam]",
    "in reversed(beam)]",
    "The worst hypothesis comes first. Log-probabilities are negative: is the best one the "
    "largest or the smallest, and in which direction do you sort?",
)
wrong(
    "worst_kept",
    "key=score, reverse=True",
    "key=score",
    "The least likely candidates are kept. In which direction does your sort (or `topk`) go?",
)
wrong(
    "stop_condition_inverted",
    "if all(",
    "if not any(",
    "The condition of your loop is inverted: it goes on when the stop symbol has come and ends "
    "when it has not, as one slide says. Say in words: when should the search go on?",
)
wrong(
    "always_greedy",
    "[:width]",
    "[:1]",
    "For every `width`, one hypothesis survives each step: that is greedy search. What is kept "
    "besides the best?",
)
wrong(
    "width_cut_to_the_vocabulary",
    "for symbol, more in",
    "width = min(width, len(log_p))\n            for symbol, more in",
    "You make `width` smaller if the vocabulary is, and keep it so. After two steps, how many "
    "hypotheses are possible with a vocabulary of six?",
)
wrong(
    "bos_fed_again",
    "symbols[-1] if symbols else bos",
    "bos",
    "Every step is fed `bos` again, so the model never sees how the hypothesis goes on. Which "
    "symbol did the hypothesis end with?",
)
wrong(
    "state_not_kept",
    "bos, place)",
    "bos, state)",
    "Each step starts from the first state of the search. `step` returns two things: where does "
    "the second go?",
)
wrong(
    "one_step_short",
    "range(max_len)",
    "range(max(max_len - 1, 1))",
    "The search makes one step too few. How long may a sequence be if it does not end by itself?",
)
wrong(
    "one_step_more",
    "range(max_len)",
    "range(max_len + 1)",
    "The search makes one step more than `max_len`. How many steps does it make for max_len = 1?",
)
wrong(
    "bos_kept",
    "(hypothesis[0], score",
    "([bos, *hypothesis[0]], score",
    "The sequences begin with `bos`. Which symbols should your function return?",
)
wrong(
    "eos_taken_off",
    "(hypothesis[0], score",
    "([symbol for symbol in hypothesis[0] if symbol != eos], score",
    "The `eos` at the end was removed. Without it, nothing shows which hypotheses are finished; "
    "which symbols should your function return?",
)
wrong(
    "finished_ones_only",
    "in beam]",
    "in beam if hypothesis[0][-1] == eos]",
    "You leave out hypotheses that did not end within `max_len` steps. Which ones does the task "
    "return?",
)
wrong(
    "best_alone",
    RETURN,
    "return beam[0][0]",
    "You return only the best sequence. What else does the task ask for, and for how many "
    "hypotheses?",
)
wrong(
    "too_wide_fails",
    f"beam = {KEEP_BEST}",
    "scores = torch.tensor([score(one) for one in candidates], dtype=torch.float64)\n"
    "        beam = [candidates[i] for i in scores.topk(width).indices.tolist()]",
    "`topk(width)` fails if there are fewer than `width` numbers to choose from. How many "
    "candidates does the first step have, for a vocabulary of six?",
)
wrong(
    "one_list_for_all",
    "candidates.append(([*symbols, symbol]",
    "symbols.append(symbol)\n                    candidates.append((symbols",
    "All continuations of a hypothesis share one list, and each `append` changes all of them. "
    "What makes a new list?",
)

wrong(
    "best_pair_alone",
    RETURN,
    "return beam[0][0], score(beam[0])",
    "You return only the best sequence. What else does the task ask for, and for how many "
    "sequences?",
)
wrong(
    "scores_as_tensors",
    "log_p.tolist()",
    "log_p",
    "Your scores are tensors of one number each. The task asks for plain Python numbers: which "
    "method makes one?",
)
wrong(
    "symbols_as_tensors",
    "enumerate(log_p.tolist())",
    "zip(torch.arange(len(log_p)), log_p.tolist(), strict=True)",
    "Your symbols are tensors, and `step` is called with one. The task asks for Python ints: which "
    "method makes one?",
)
