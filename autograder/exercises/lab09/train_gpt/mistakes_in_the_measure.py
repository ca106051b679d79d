"""Known mistakes in the measure and in its unit."""

from __future__ import annotations

from . import exercise
from .also_right import through_the_total, window_by_window

wrong = exercise.edits(window_by_window, of="text_loss")

SUM = '            total += F.cross_entropy(logits, y, reduction="sum").item()\n'
ADD = "            count += len(y)\n"

wrong.several(
    "mean_of_means",
    {
        SUM: "            total += F.cross_entropy(logits, y).item()\n",
        ADD: "            count += 1\n",
    },
    "You take the mean of the windows' means, so the tokens of a short last window count more. "
    "What are the sum and the number of all tokens?",
)
wrong(
    "last_window_lost",
    "range(0, len(ids) - 1, context)",
    "range(0, max(len(ids) - context, 1), context)",
    "Your last, shorter window is left out. Which tokens of the text does nobody predict?",
)
wrong(
    "overlapping_windows",
    "range(0, len(ids) - 1, context)",
    "range(0, max(len(ids) - context, 1))",
    "Your windows overlap, so most tokens count many times. Where does the next window begin?",
)
wrong(
    "token_between_windows",
    "range(0, len(ids) - 1, context)",
    "range(0, len(ids) - 1, context + 1)",
    "Between two of your windows there is a token that nobody predicts. Which token does the "
    "second window read first?",
)
wrong(
    "dropout_on",
    "    model.eval()\n",
    "    model.train()\n",
    "You measure in training mode, with dropout: the result is too high, and different every time. "
    "Which mode does the task name?",
)
wrong(
    "mode_left",
    "    model.eval()\n",
    "",
    "You measure in the mode in which the model came; in training, that is with dropout. Which "
    "mode does the task name?",
)
wrong(
    "stays_in_evaluation",
    "    model.train(was_training)\n",
    "",
    "After your function, the model stays in evaluation mode, and the training goes on without "
    "dropout. What did you remember at the beginning?",
)
wrong(
    "back_to_training",
    "model.train(was_training)",
    "model.train()",
    "After your function, every model is in training mode, whatever it was before.",
)
wrong(
    "with_gradients",
    "with torch.no_grad():",
    "with torch.enable_grad():",
    "You build a graph of every window, and never use it. What does the task say about gradients?",
)
wrong(
    "divided_by_windows",
    ADD,
    "            count += 1\n",
    "You divide the sum of all surprises by the number of windows. How many tokens are predicted?",
)
wrong(
    "divided_by_all_tokens",
    "return total / count",
    "return total / len(ids)",
    "You divide by all tokens of the text, but the first one is not predicted.",
)
wrong(
    "shift_missing",
    "x, y = window[:-1], window[1:]",
    "x, y = window[:-1], window[:-1]",
    "You compare with the tokens that the model has just read. Which one follows each?",
)
wrong(
    "first_window_only",
    ADD,
    f"{ADD}            break\n",
    "Only your first window counts. Where does the loop end?",
)
wrong(
    "in_bits",
    "return total / count",
    "return total / count / 0.6931471805599453",
    "Your result is in bits. Which unit does the task name?",
)
wrong(
    "perplexity",
    "return total / count",
    "return float(torch.tensor(total / count, dtype=torch.float64).exp())",
    "You return the perplexity, e to the power of the loss. Which of the two does the task name?",
)

WINDOW = "window = ids[start : start + context + 1]"

wrong.several(
    "all_the_past_that_fits",
    {
        "range(0, len(ids) - 1, context)": "range(1, len(ids))",
        WINDOW: "window = ids[max(0, start - context) : start + 1]",
        "x, y = window[:-1], window[1:]": "x, y = window[:-1], window[-1:]",
        "model(x[None])[0]": "model(x[None])[0, -1:]",
    },
    "You call the model once for each token, with as much of the past as fits, so most tokens have "
    "a longer past than in the task's windows. How many tokens are before the first one that a "
    "window predicts?",
)
wrong(
    "last_window_filled",
    WINDOW,
    f"{WINDOW}\n            window = F.pad(window, (0, context + 1 - len(window)))",
    "You fill up the last window, and count the filling as tokens of the text. How many tokens are "
    "there to predict?",
)

wrong = exercise.edits(through_the_total, of="bits_per_byte")

BITS = "bits = tokens * nats_per_token * math.log2(math.e)"

wrong(
    "bits_per_token",
    "return bits / num_bytes",
    "return bits / tokens",
    "These are bits per *token*. With longer tokens they grow, although the text stays the same. "
    "What are they divided by in the task?",
)
wrong(
    "nats_per_byte",
    BITS,
    "bits = tokens * nats_per_token",
    "These are nats, for each byte. How many nats is one bit?",
)
wrong(
    "times_ln_2",
    BITS,
    "bits = tokens * nats_per_token * math.log(2)",
    "You multiply by ln 2. A uniform guess of two symbols costs ln 2 nats: how many bits is that?",
)
wrong(
    "bytes_over_tokens",
    BITS,
    "bits = num_bytes**2 / tokens * nats_per_token * math.log2(math.e)",
    "Tokens and bytes are swapped. Do longer tokens, which are fewer, make the text cheaper or "
    "dearer at the same loss for each?",
)
wrong(
    "bits_of_the_text",
    "return bits / num_bytes",
    "return bits",
    "These are the bits of the whole text. How many does one byte of it take?",
)
wrong(
    "bytes_per_byte",
    "return bits / num_bytes",
    "return bits / num_bytes / 8",
    "You divide by 8: these are bytes for each byte. Which unit does the task name?",
)
