"""Wrong versions of the three functions, as edits of right ones, and wrong files of weights."""

from pathlib import Path

from safetensors.torch import load_file

from attnlab.models.markov_gpt import MarkovGPT

from . import mistakes_in_parts  # noqa: F401 - to register it
from .also_right import mode_restored, shifted_and_flattened
from .mistakes_in_rows import exercise  # that module has wrong rows of logits and tokens

wrong = exercise.edits(shifted_and_flattened, of="next_token_loss")

wrong.several(
    "not_shifted",
    {"[:, :-1]": "", "[:, 1:]": ""},
    "You compare each place's scores with the token at the same place, which the model was given. "
    "Which token should these scores predict?",
)
wrong(
    "token_0_ignored",
    "ids[:, 1:].flatten()",
    "ids[:, 1:].flatten(), ignore_index=0",
    "You leave out every token 0 (`ignore_index=0`), as if it were padding. Which tokens does the "
    "mean run over, according to the task?",
)
wrong(
    "shifted_backwards",
    "logits[:, :-1].flatten(0, 1), ids[:, 1:]",
    "logits[:, 1:].flatten(0, 1), ids[:, :-1]",
    "The shift goes the wrong way: place t is scored against the token before it, which the model "
    "has seen. Which of the two tensors loses its first place, and which its last?",
)
OTHER_AXIS_SHIFTED = (
    "You leave out the last and the first *sequence* instead of the last and the first token. In "
    "(B, T, V) and (B, T), which axis is time?"
)
wrong.several("sequences_shifted", {"[:, :-1]": "[:-1]", "[:, 1:]": "[1:]"}, OTHER_AXIS_SHIFTED)
wrong.several(
    "sequences_shifted_backwards", {"[:, :-1]": "[1:]", "[:, 1:]": "[:-1]"}, OTHER_AXIS_SHIFTED
)
SAME_END = (
    "You cut logits and tokens at the same end, so they still belong to the same places. Which "
    "token should the scores of place t predict?"
)
wrong("first_of_both_cut", "logits[:, :-1]", "logits[:, 1:]", SAME_END)
wrong("last_of_both_cut", "ids[:, 1:]", "ids[:, :-1]", SAME_END)
wrong.several(
    "rolled_round",
    {"logits[:, :-1]": "logits", "ids[:, 1:]": "ids.roll(-1, 1)"},
    "With `roll`, the last place is scored against the first token of its sequence. What does it "
    "predict, and is that known?",
)
wrong.several(
    "flattened_first",
    {
        "logits[:, :-1].flatten(0, 1)": "logits.flatten(0, 1)[:-1]",
        "ids[:, 1:].flatten()": "ids.flatten()[1:]",
    },
    "Your sequences run into each other: you flatten before you shift, so the last place of one is "
    "scored against the first token of the next. Which must come first?",
)
wrong(
    "orders_mixed",
    "ids[:, 1:]",
    "ids[:, 1:].T",
    "You flatten scores and tokens in different orders (batch first and time first), so scores are "
    "compared with tokens of other sequences. What is row 1 of each after flattening?",
)
wrong(
    "summed",
    "flatten())",
    'flatten(), reduction="sum")',
    "You add up the losses, but the task asks for a mean. Over which tokens does it run?",
)
wrong(
    "first_token_in_the_mean",
    "flatten())",
    'flatten(), reduction="sum") / ids.numel()',
    "You divide by all B · T tokens. How many of them have a place before them?",
)
wrong(
    "mean_over_sequences",
    "flatten())",
    'flatten(), reduction="sum") / len(ids)',
    "You add up the losses of each sequence and take the mean over sequences only. What else does "
    "the mean run over?",
)
for name, dim in (("sequence", 1), ("place", 0)):
    wrong(
        f"one_loss_for_each_{name}",
        "flatten())",
        f'flatten(), reduction="none").view(len(ids), -1).mean({dim})',
        f"You return a loss for each {name}, because your mean runs over one axis. Over which axes "
        "does the mean of the task run?",
    )
wrong(
    "in_bits",
    "flatten())",
    "flatten()) / math.log(2)",
    "Your number is in bits. The entropy of the source is given in nats: which logarithm is that?",
)
wrong(
    "softmax_twice",
    "logits[:, :-1]",
    "torch.softmax(logits[:, :-1], -1)",
    "You apply softmax to the scores before a function that takes logits, so softmax is applied "
    "twice. What does `cross_entropy` of lab 1 expect?",
)
LOGARITHM = (
    "Your result is not the surprise −log p: it is a probability, or the surprise was turned into "
    "another number (`exp`, perplexity). What does lab 1 call cross-entropy?"
)
wrong(
    "no_logarithm",
    "cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())",
    "-torch.softmax(logits[:, :-1], -1).gather(-1, ids[:, 1:, None]).mean()",
    LOGARITHM,
)
wrong("perplexity", "flatten())", "flatten()).exp()", LOGARITHM)
wrong(
    "epsilon_in_the_logarithm",
    "cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())",
    "-(torch.softmax(logits[:, :-1], -1).gather(-1, ids[:, 1:, None]) + 1e-9).log().mean()",
    "You take the logarithm of softmax, with a small number added so that it stays finite. A very "
    "wrong prediction then costs too little. Which function of lab 1 takes the logits themselves?",
)
wrong.several(
    "two_ahead",
    {"[:, :-1]": "[:, :-2]", "[:, 1:]": "[:, 2:]"},
    "You score each place against the token two places on. Which token comes next?",
)
wrong(
    "last_question_only",
    "logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten()",
    "logits[:, -2], ids[:, -1]",
    "You score only the prediction of the last token. How many tokens of a sequence are predicted?",
)

wrong(
    "tokens_shifted_only",
    "[:, :-1]",
    "",
    "You cut the tokens but not the scores, so after flattening they do not line up. How many "
    "places of a sequence are scored?",
)
WINNERS = (
    "You count how often the likeliest token is right (or wrong). A model that is barely sure "
    "counts as much as one that is quite sure: which number says how surprised a model is?"
)
for name, sign in {"winners_wrong": "!=", "winners_right": "=="}.items():
    wrong(
        name,
        "cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())",
        f"(logits[:, :-1].argmax(-1) {sign} ids[:, 1:]).to(logits.dtype).mean()",
        WINNERS,
    )
wrong(
    "one_loss_for_each_token",
    "flatten())",
    'flatten(), reduction="none").view(len(ids), -1)',
    "You return a loss for each token, but the task asks for a mean. Over which tokens does it "
    "run?",
)
wrong(
    "scores_for_logarithms",
    "cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())",
    "-logits[:, :-1].gather(-1, ids[:, 1:, None]).mean()",
    "You take the scores for logarithms of probabilities. What must the probabilities of a row sum "
    "to, and which function makes them do so?",
)
wrong(
    "sign_forgotten",
    "return cross_entropy",
    "return -cross_entropy",
    "The sign of your loss is wrong: a bad prediction makes it smaller. Which sign has the "
    "logarithm of a probability?",
)
wrong(
    "logarithm_of_softmax",
    "cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())",
    "-torch.softmax(logits[:, :-1], -1).gather(-1, ids[:, 1:, None]).log().mean()",
    "You take the logarithm of softmax. Where softmax rounds to 0, your loss is infinite. Which "
    "function of lab 1 takes the logits themselves?",
)
wrong(
    "python_number",
    "flatten())",
    "flatten()).item()",
    "Your loss is a Python number (`.item()`, `float`), so no gradient can flow back. What kind of "
    "value does the task ask for?",
)
CUT = (
    "No gradient flows back from your loss: a `.detach()`, `.data`, `.item()` or `no_grad` cuts "
    "torch's graph. Which line is it?"
)
wrong("loss_detached", "flatten())", "flatten()).detach()", CUT)
NUMBER = {"return cross": "return torch.tensor(cross", "flatten())": "flatten()).item())"}
wrong.several(
    "rebuilt_in_its_dtype", {**NUMBER, "flatten())": "flatten()).item(), dtype=logits.dtype)"}, CUT
)
wrong.several(
    "rebuilt_in_float32",
    NUMBER,
    "No gradient flows back from your loss, and it is float32, whatever the logits are. Do you "
    "make a new tensor from a number? Which of your calls leaves torch's graph?",
)
wrong(
    "always_float32",
    "[:, :-1]",
    "[:, :-1].float()",
    "Your loss is float32, whatever dtype the logits have. Where does your code fix the dtype?",
)

wrong = exercise.edits(mode_restored, of="evaluate")

wrong(
    "dropout_left_on",
    "    model.eval()\n",
    "",
    "The model runs in the mode in which it came, with dropout if it was in training: the loss is "
    "too high and changes each time. Which mode is for evaluation?",
)
wrong(
    "mode_of_the_outermost_restored",
    "    model.train(before)\n",
    "    model.training = before\n",
    "After your call, the layers inside the model stay in evaluation mode: `training` is an "
    "attribute of each layer. Which call sets all of them?",
)
wrong(
    "mode_not_restored",
    "    model.train(before)\n",
    "",
    "After your call the model stays in evaluation mode, so training goes on without dropout. In "
    "which mode did it come?",
)
wrong(
    "always_back_to_training",
    "model.train(before)",
    "model.train()",
    "After your call the model is in training mode, even if it came in evaluation mode. How do "
    "you know which mode to restore?",
)
wrong(
    "other_mode_afterwards",
    "model.train(before)",
    "model.train(not before)",
    "After your call the model is in the other mode than before. In which modes can it come, and "
    "what does your code do for each?",
)
for name, arguments in (("mask_left_out", "ids, None"), ("mask_not_passed", "ids")):
    wrong(
        name,
        "model(ids, mask)",
        f"model({arguments})",
        "Your code does not pass the mask on to the model. What does the task say that positions "
        "may attend to?",
    )
wrong(
    "perplexity_returned",
    "loss(model(ids, mask), ids))",
    "loss(model(ids, mask), ids).exp())",
    LOGARITHM,
)
wrong(
    "gradients_recorded",
    "    with torch.no_grad():\n        result = float(loss(model(ids, mask), ids))",
    "    result = float(loss(model(ids, mask), ids).detach())",
    "You record gradients, but nothing is trained here; with a large model they take more memory "
    "than there is. What switches them off for a few lines?",
)
wrong(
    "gradients_off_for_good",
    "    with torch.no_grad():\n        result = ",
    "    torch.set_grad_enabled(False)\n    result = ",
    "Gradients stay switched off after your call, so the next training step fails. Which form of "
    "that switch undoes itself?",
)
wrong(
    "a_tensor",
    "float(loss(model(ids, mask), ids))",
    "loss(model(ids, mask), ids)",
    "You return a tensor, but the task asks for a Python number, which prints well and keeps no "
    "graph alive. What turns one into the other?",
)
wrong(
    "mask_ignored",
    "model(ids, mask)",
    "model(ids, torch.ones_like(mask).tril())",
    "The model does not get the mask that you were given: your result is the same for every mask. "
    "Which mask do you hand to the model?",
)
for name, given in (("turned_round", "~mask"), ("turned_round_by_hand", "mask == 0")):
    wrong(
        f"mask_{name}",
        "model(ids, mask)",
        f"model(ids, {given})",
        "Your model gets the opposite of `mask`: True where it must not attend. If a row of that "
        "has no True, the loss may be NaN. What does True mean in the `mask` of this task?",
    )
wrong(
    "mask_as_numbers",
    "model(ids, mask)",
    "model(ids, torch.zeros(mask.shape).masked_fill(~mask, -math.inf))",
    "Your model gets numbers to be added to scores, and no boolean mask. What does the task say "
    "that the model is called with?",
)
wrong(
    "one_by_one",
    "float(loss(model(ids, mask), ids))",
    "sum(float(loss(model(row[None], mask), row[None])) for row in ids) / len(ids)",
    "You call the model for each sequence by itself. According to the task, how many calls take "
    "all of `ids`?",
)
wrong(
    "first_sequence_only",
    "model(ids, mask), ids",
    "model(ids[:1], mask), ids[:1]",
    "You evaluate only the first sequence. How many sequences does `ids` hold?",
)
wrong(
    "arguments_swapped",
    "loss(model(ids, mask), ids)",
    "loss(ids, model(ids, mask))",
    "You give the tokens to `loss` before the logits. In which order does the task call it?",
)
wrong(
    "last_token_withheld",
    "model(ids, mask), ids",
    "model(ids[:, :-1], mask[:-1, :-1]), ids[:, :-1]",
    "You cut the last token before you call the model. According to the task, which `ids` go to "
    "the model and to `loss`, and which of the two shifts them?",
)
wrong(
    "everything_shown",
    "model(ids, mask)",
    "model(ids, torch.ones_like(mask))",
    "Your model does not get `mask`, but a mask that shows everything. What does the argument say?",
)
wrong(
    "cut_before_the_loss",
    "loss(model(ids, mask), ids)",
    "loss(model(ids, mask)[:, :-1], ids[:, 1:])",
    "You shift logits and tokens before you call `loss`, which may do it again. What does the task "
    "say that `loss` gets?",
)
wrong(
    "loss_ignored",
    "float(loss(",
    "float(next_token_loss(",
    "Your result is always the next-token loss. What is the argument `loss` for?",
)


def saved(name):
    return load_file(Path(__file__).with_name(name))


def untrained():
    return dict(MarkovGPT(seed=3).state_dict())


@exercise.mistake(
    "The file markov_past.safetensors holds an untrained model. Delete it, run the training cell "
    "again and wait for its curve.",
    of="markov_past.safetensors",
)
def past_untrained():
    return untrained()


@exercise.mistake(
    "Under the right mask, the model in markov_past.safetensors is worse than guessing: it relies "
    "on symbols that come later. Was it trained with the mask that hides them?",
    of="markov_past.safetensors",
)
def past_that_leaks():
    return saved("markov_ahead.safetensors")


@exercise.mistake(
    "The file markov_ahead.safetensors holds a model that sees only the past. Have two files been "
    "swapped?",
    of="markov_ahead.safetensors",
)
def ahead_that_is_honest():
    return saved("markov_past.safetensors")


@exercise.mistake(
    "The file markov_all.safetensors holds an untrained model. Delete it and run the training cell "
    "again.",
    of="markov_all.safetensors",
)
def all_untrained():
    return untrained()
