"""Wrong losses that call the model or `cross_entropy` with arguments in another order."""

from __future__ import annotations

from . import exercise
from .also_right import all_columns_fed, step_by_step

RESULTS = "logits, state, _ ="
ENCODED = "hidden, state ="
CALL = "model.cell(y_prev, state, hidden, batch.source_mask)"

wrong = exercise.edits(step_by_step)
wrong_columns = exercise.edits(all_columns_fed)

wrong.several(
    "forced_in_training_alone",
    {
        "    steps = []\n": "    steps, token = [], inputs[:, 0]\n",
        CALL: "model.cell(y_prev if model.training else token, state, hidden, batch.source_mask)",
        "steps.append(logits)": "steps.append(logits)\n        token = logits.argmax(-1)",
    },
    "For a model in evaluation mode, you feed the symbols that it chose itself. Which symbols does "
    "the task feed, and does it say anything of modes?",
)
UNPACKED = (
    "Your second step gives `model.cell` a state of another shape: perhaps you take its three "
    "results in another order. In which order does the task name them?"
)
for name, results in (
    ("state_unpacked_first", "state, logits, _ ="),
    ("state_unpacked_last", "logits, _, state ="),
    ("logits_unpacked_last", "state, _, logits ="),
    ("weights_unpacked_first", "_, logits, state ="),
):
    wrong(name, RESULTS, results, UNPACKED)

EXCHANGED = (
    "In your first step, `model.cell` gets other shapes of state and `hidden` than it needs: "
    "perhaps the results of `model.encode`, or your arguments of `model.cell`, are in another "
    "order. In which order does the task name them?"
)
wrong("encoded_in_the_other_order", ENCODED, "state, hidden =", EXCHANGED)
wrong(
    "hidden_before_the_state",
    CALL,
    "model.cell(y_prev, hidden, state, batch.source_mask)",
    EXCHANGED,
)
wrong(
    "state_before_the_token",
    CALL,
    "model.cell(state, y_prev, hidden, batch.source_mask)",
    "In your first step, `model.cell` gets other shapes of token and state than it needs: perhaps "
    "the two are in another order. In which order does the task name its arguments?",
)
for name, fed in (("column_fed", "y_prev[:, None]"), ("first_token_fed", "y_prev[0]")):
    wrong(
        name,
        "model.cell(y_prev,",
        f"model.cell({fed},",
        "`y_prev` of your first step is not of shape (B,), with one token for each sentence. Which "
        "shape has what you take from `batch.target`, and which index or slice makes it?",
    )
wrong(
    "mask_read_as_source",
    "model.encode(batch.source, batch.source_mask)",
    "model.encode(batch.source_mask, batch.source)",
    "Your `model.encode` gets a mask in place of the token ids. In which order does the task name "
    "its arguments?",
)
SWAPPED = (
    "Your code stops with an error: perhaps `cross_entropy` gets the right tokens in place of the "
    "logits. Which of the two does it take first?"
)
wrong(
    "answers_before_logits",
    "(logits.flatten(0, 1), labels.flatten(),",
    "(labels.flatten(), logits.flatten(0, 1),",
    SWAPPED,
)
wrong_columns(
    "answers_before_logits_of_torch",
    "steps[:, :-1].permute(0, 2, 1), batch.target[:, 1:],",
    "batch.target[:, 1:], steps[:, :-1].permute(0, 2, 1),",
    SWAPPED,
)

TOO_MANY = (
    "Your loop takes one step more than there are answers, so `cross_entropy` gets more logits "
    "than targets. How many symbols of a row with T columns are predicted?"
)
FED = "batch.target[:, :-1], batch.target[:, 1:]"
ALL_FED = "batch.target, batch.target[:, 1:]"
FLAT = "cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=PAD)"
BY_TORCH = f"nn.functional.{FLAT}"
for name, loss in (("", FLAT), ("_for_torch", BY_TORCH)):
    wrong.several(f"one_step_too_many{name}", {FED: ALL_FED, FLAT: loss}, TOO_MANY)
    wrong.several(
        f"one_step_too_few{name}",
        {FED: FED.replace(":-1", ":-2"), FLAT: loss},
        "Your loop takes one step fewer than there are answers, so `cross_entropy` gets fewer "
        "logits than targets. How many symbols of a row with T columns are predicted?",
    )
wrong.several(
    "first_step_left_out",
    {FED: ALL_FED, "torch.stack(steps, 1)": "torch.stack(steps[1:], 1)"},
    "You feed all columns and leave out the logits of the first step, so each other step should "
    "predict the token that it was just fed. Which step of yours has no answer?",
)
NOT_FLAT = (
    "`cross_entropy` of lab 1 takes logits of shape (N, V) and a target of shape (N,), and yours "
    "have other shapes. What is N for a batch of B rows and T - 1 steps?"
)
for name, arguments in (
    ("targets_not_flattened", "logits.flatten(0, 1), labels"),
    ("nothing_flattened", "logits, labels"),
    ("logits_not_flattened", "logits, labels.flatten()"),
):
    wrong(name, FLAT, f"cross_entropy({arguments}, ignore_index=PAD)", NOT_FLAT)
