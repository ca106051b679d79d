"""Wrong versions of `smooth_targets`: most are one small edit of a right version."""

from __future__ import annotations

from . import exercise, mistakes_in_the_loss  # noqa: F401 - to register them, too
from .also_right import filled

smoothed = exercise.edits(filled, of="smooth_targets")

smoothed(
    "share_of_the_right_symbol_missing",
    "others, right = V, 1 - eps + eps / V",
    "others, right = V, 1 - eps",
    'In the style "torch", your rows sum to less than 1. All symbols get a share of eps there: is '
    "the right one among them?",
)
smoothed(
    "deck_shares_among_all",
    "others, right = V - 1, 1 - eps",
    "others, right = V, 1 - eps",
    'In the style "deck", your rows sum to less than 1. How many symbols share eps there?',
)
smoothed(
    "deck_shares_among_two_less",
    "others, right = V - 1, 1 - eps",
    "others, right = V - 2, 1 - eps",
    'In the style "deck", your rows sum to more than 1. How many symbols share eps there?',
)
smoothed(
    "torch_shares_among_others",
    "others, right = V, 1 - eps + eps / V",
    "others, right = V - 1, 1 - eps",
    'Your style "torch" is the style "deck". Which of the two gives a share of eps to the right '
    "symbol, too?",
)
smoothed(
    "deck_like_torch",
    "others, right = V - 1, 1 - eps",
    "others, right = V, 1 - eps + eps / V",
    'Your style "deck" is the style "torch". Does the right symbol get a share of eps in lecture '
    "C's?",
)
smoothed(
    "pad_shares_among_one_less",
    "others, right = V - 2, 1 - eps",
    "others, right = V - 1, 1 - eps",
    'In the style "pad", your rows sum to less than 1. Which symbols get no share of eps there?',
)
smoothed(
    "mass_to_pad",
    '    if style == "pad":\n        targets[:, pad] = 0.0\n',
    "",
    'In the style "pad", the symbol `pad` itself gets a share of eps. What does the table of the '
    "task say about that column?",
)
smoothed(
    "no_mass_to_pad_in_any_style",
    '    if style == "pad":\n        targets[:, pad] = 0.0\n',
    "    if pad is not None:\n        targets[:, pad] = 0.0\n",
    "The column of `pad` is 0 in every style, so some of your rows sum to less than 1. In which "
    "styles is `pad` a symbol like the others?",
)
smoothed(
    "rows_of_padding_kept",
    "    if pad is not None:\n        targets[y == pad] = 0.0\n",
    "",
    "A target that is padding still has a distribution. What should its row be?",
)
smoothed(
    "rows_of_padding_in_one_style",
    "    if pad is not None:\n",
    '    if style == "pad":\n',
    'Rows of padding are 0 only in the style "pad". What does the task say about the other two?',
)
smoothed(
    "pad_0_is_false",
    "    if pad is not None:\n",
    "    if pad:\n",
    "With pad=0 your rows of padding are not 0. What is the truth value of 0 in Python?",
)
smoothed.several(
    "pad_0_is_false_and_its_column_last",
    {
        '    if style == "pad":\n        targets[:, pad] = 0.0\n': "",
        "    if pad is not None:\n": '    if style == "pad":\n'
        "        targets[:, pad] = 0.0\n    if pad:\n",
    },
    "With pad=0 your rows of padding are not 0. What is the truth value of 0 in Python?",
)
smoothed.several(
    "pad_0_counts_as_missing",
    {"pad is None": "not pad"},
    "With pad=0 your code behaves as if `pad` were missing. What is the truth value of 0 in "
    "Python?",
)
smoothed(
    "row_number_pad",
    "targets[y == pad] = 0.0",
    "targets[pad] = 0.0",
    "You set the row *number* `pad` to 0. Which rows have `pad` as their target?",
)
smoothed(
    "column_instead_of_rows",
    "targets[y == pad] = 0.0",
    "targets[:, y == pad] = 0.0",
    "Your mask over the targets selects columns. Which axis of (N, V) counts the targets?",
)
smoothed(
    "padding_left_to_the_last_symbol",
    "targets[y == pad] = 0.0",
    "targets[y == V - 1] = 0.0",
    "You treat the last symbol as padding, whatever `pad` is. Is the argument used?",
)
smoothed(
    "always_symbol_0",
    "targets[y == pad] = 0.0",
    "targets[y == 0] = 0.0",
    "You treat symbol 0 as padding, whatever `pad` is. Is the argument used?",
)
smoothed(
    "added_on_top",
    "targets.scatter_(1, y.unsqueeze(1), right)",
    "targets.scatter_add_(1, y.unsqueeze(1), torch.full((len(y), 1), float(right)))",
    "The right symbol gets its share on top of an equal one, so your rows sum to more than 1. "
    "What is in that entry before you write into it?",
)
smoothed(
    "one_formula_for_all_styles",
    "targets.scatter_(1, y.unsqueeze(1), right)",
    "targets.scatter_(1, y.unsqueeze(1), 1 - eps + eps / others)",
    "In every style, your right symbol keeps a share of eps on top of 1 - eps, so some rows sum to "
    "more than 1. In which style is it one of those that share eps?",
)
smoothed(
    "right_symbol_left_out",
    "    targets.scatter_(1, y.unsqueeze(1), right)\n",
    "",
    "All symbols get the same: in your targets, nothing says which one is right. Where do you use "
    "`y`?",
)
smoothed(
    "right_and_wrong_swapped",
    "others, right = V - 1, 1 - eps",
    "others, right, eps = V - 1, eps, 1 - eps",
    'In the style "deck", the right symbol gets eps and the others share the rest. How much is '
    "taken from the right symbol?",
)
smoothed(
    "not_divided",
    "torch.full((len(y), V), eps / others)",
    "torch.full((len(y), V), float(eps))",
    "Each of the other symbols gets eps, instead of a share of it. What do your rows sum to?",
)
smoothed(
    "along_the_batch",
    "targets.scatter_(1, y.unsqueeze(1), right)",
    "targets.scatter_(0, y.unsqueeze(0).clamp(max=max(0, len(y) - 1)), right)",
    "`scatter_` writes along the batch: its numbers of symbols are taken as numbers of rows. Which "
    "axis of (N, V) has the symbols?",
)
smoothed(
    "rows_and_columns_swapped",
    "return targets",
    "return targets.T",
    "Your table is (V, N). Which axis should come first, according to the task?",
)
smoothed(
    "always_double",
    "torch.full((len(y), V), eps / others)",
    "torch.full((len(y), V), eps / others, dtype=torch.float64)",
    "Your targets are float64. Which dtype does the task name?",
)
smoothed(
    "any_style_accepted",
    '    if style not in ("deck", "torch", "pad"):\n'
    '        raise ValueError(f"no such style: {style}")\n',
    "",
    "A style that does not exist gets an answer: that of the last branch of your code. What "
    "should happen after a typo?",
)
smoothed(
    "style_in_any_case",
    "    if style not in",
    "    style = style.lower()\n    if style not in",
    "You also accept styles that are written in another way. Which three words does the task name?",
)
smoothed(
    "no_pad_accepted",
    '    if style == "pad" and pad is None:\n'
    '        raise ValueError("which symbol is padding?")\n',
    "",
    'The style "pad" gives an answer even if `pad` is None. What does indexing with None do?',
)
smoothed(
    "one_symbol_accepted",
    "if V < 2 or others < 1:",
    "if others < 1:",
    'In the style "torch", you answer even for V = 1. Are there other symbols to share with?',
)
smoothed(
    "division_by_zero",
    '    if V < 2 or others < 1:\n        raise ValueError("no other symbols")\n',
    "",
    "Without other symbols, your code divides by 0. Which error does the task want instead?",
)
smoothed(
    "pad_is_0_if_not_given",
    "    if style not in",
    "    pad = pad or 0\n    if style not in",
    "If `pad` is not given, you take symbol 0 for padding. What does None mean in the task?",
)
smoothed(
    "rows_divided_by_their_sums",
    "return targets",
    "return targets / targets.sum(1, keepdim=True)",
    "You divide each row by its sum, and the sum of a row of padding is 0. If the shares are "
    "right, what do the other rows sum to already?",
)
smoothed(
    "two_symbols_refused",
    "if V < 2 or others < 1:",
    "if V < 3 or others < 1:",
    "Two symbols are refused in every style. In which styles is there another symbol?",
)
smoothed(
    "another_kind_of_error",
    'raise ValueError(f"no such style: {style}")',
    'raise KeyError(f"no such style: {style}")',
    "A style that does not exist raises a `KeyError`. Which error does the task name?",
)
smoothed(
    "targets_overwritten",
    "    targets.scatter_(1, y.unsqueeze(1), right)\n",
    "    targets.scatter_(1, y.unsqueeze(1), right)\n    pads = y == pad\n    y[pads] = 0\n"
    "    targets[pads] = 0.0\n",
    "Your code writes into `y`, which the caller still needs. What makes a new tensor?",
)
smoothed(
    "pad_not_counted_in_torchs_style",
    "others, right = V, 1 - eps + eps / V",
    "others = V if pad is None else V - 1\n        right = 1 - eps + eps / others",
    'In the style "torch", your shares depend on whether there is a `pad`. Which style leaves this '
    "symbol out?",
)
smoothed(
    "pad_not_counted_in_the_decks_style",
    "others, right = V - 1, 1 - eps",
    "others, right = V - 1 - (pad is not None), 1 - eps",
    'In the style "deck", your shares depend on whether there is a `pad`. Which style leaves this '
    "symbol out?",
)


@exercise.mistake(
    "Each row is as long as the largest symbol in `y`, plus 1. How many symbols are there, "
    "according to the arguments?",
    of="smooth_targets",
)
def symbols_that_occur(y, V, eps, style, pad=None):
    return filled(y, V, eps, style, pad)[:, : int(y.max()) + 1]
