"""teacher_forced_loss: how surprised the model is by the right answer, while fed with it."""

from __future__ import annotations

import torch
from torch import nn

from attnlab.data.dates import EOS, PAD, Batch
from attnlab.seq2seq import teacher_forced_loss
from attnlab.softmax import cross_entropy
from gradekit.exercise import Exercise

exercise = Exercise(teacher_forced_loss)

VOCAB = 11
WIDTH = 5


class Toy(nn.Module):
    """A small model with `encode` and `cell`, which notes what it was asked."""

    def __init__(self, draw):
        super().__init__()
        self.words = nn.Parameter(draw.normal(VOCAB, WIDTH))
        self.mix = nn.Parameter(draw.normal(WIDTH, WIDTH) / 2)
        self.out = nn.Parameter(draw.normal(WIDTH, VOCAB))
        self.read, self.fed, self.masks, self.modes = [], [], [], []

    def encode(self, source, source_mask):
        self.read.append(source)
        self.modes.append(self.training)
        hidden = self.words[source] * source_mask[..., None]
        return hidden, hidden.sum(1).tanh()

    def cell(self, y_prev, state, hidden, source_mask):
        self.fed.append(y_prev)
        self.masks.append(source_mask)
        scores = (hidden @ state[..., None])[..., 0].masked_fill(~source_mask, -1e9)
        weights = scores.softmax(-1)
        context = (weights[..., None] * hidden).sum(1)
        state = (state @ self.mix + self.words[y_prev] + context).tanh()
        return state @ self.out, state, weights


def batch_of(draw, sources=(4, 6, 2), targets=(3, 7, 1)):
    """A batch whose sentences have so many symbols; in the target BOS and EOS come on top."""
    rows = [draw.integers(3, VOCAB, n).tolist() for n in (*sources, *targets)]
    targets = [[1, *row, 2] for row in rows[len(sources) :]]
    return Batch(*table(rows[: len(sources)]), *table(targets))


def table(rows):
    width = max(map(len, rows))
    ids = torch.tensor([row + [PAD] * (width - len(row)) for row in rows])
    return ids, torch.arange(width) < torch.tensor([len(row) for row in rows])[:, None]


@exercise.check(points=1)
def one_number(lab, draw):
    """Gives one number, a tensor without dimensions, in the dtype of the logits."""
    model, batch = Toy(draw), batch_of(draw)
    loss, low = lab.teacher_forced_loss(model, batch), lab.teacher_forced_loss(model.float(), batch)
    return {
        "shape": list(loss.shape),
        "dtype of float64": str(loss.dtype),
        "dtype of float32": str(low.dtype),
    }


@exercise.check(points=2)
def equal_lengths(lab, draw):
    """Is right where no sentence needs padding."""
    return lab.teacher_forced_loss(Toy(draw), batch_of(draw, (4, 4), (3, 3)))


@exercise.check(points=2)
def unequal_lengths(lab, draw):
    """Is right where sentences differ in length; each prediction counts once, padding never."""
    model, batch = Toy(draw), batch_of(draw)
    wider = batch._replace(
        target=torch.cat([batch.target, torch.full((3, 2), PAD)], 1),
        target_mask=torch.cat([batch.target_mask, torch.zeros(3, 2, dtype=torch.bool)], 1),
    )
    return {
        "loss": lab.teacher_forced_loss(model, batch),
        "two more columns of padding": lab.teacher_forced_loss(model, wider),
    }


@exercise.check(points=1.5, hidden=True)
def what_is_fed(lab, draw):
    """Reads the source once, and feeds the true token of the step before at every step."""
    model, batch = Toy(draw), batch_of(draw)
    lab.teacher_forced_loss(model, batch)
    asked = (batch.target[:, 1:] != PAD) * 1
    steps = asked.shape[1]
    fed = torch.stack(model.fed, 1)[:, :steps]
    return {
        "how often the source is read": len(model.read),
        "what is fed, where a symbol is to follow": fed * asked[:, : fed.shape[1]],
        "the source's mask at the first step": model.masks[0],
        "asked in training mode, as it came": [all(model.modes), model.training],
    }


@exercise.check(points=1.5, hidden=True)
def each_symbol_counts(lab, draw):
    """Changes with every symbol of the answer, the first, the last and EOS included."""
    model, batch = Toy(draw), batch_of(draw)
    seen = {}
    for name, column in (("first", 1), ("second", 2), ("last", 7)):
        target = batch.target.clone()
        target[1, column] = 3 + (target[1, column] - 2) % (VOCAB - 3)
        seen[f"another {name} symbol"] = lab.teacher_forced_loss(
            model, batch._replace(target=target)
        )
    likely = Toy(draw)
    with torch.no_grad():
        likely.out[:, EOS] += 2.0
    seen["EOS likelier"] = lab.teacher_forced_loss(likely, batch)
    empty = batch_of(draw, (3, 2), (0, 4))
    seen["a sentence without symbols"] = lab.teacher_forced_loss(model, empty)
    return seen


@exercise.check(points=2, hidden=True)
def gradients(lab, draw):
    """Gradients flow through all steps to every weight; the batch stays as it was."""
    model, batch = Toy(draw), batch_of(draw)
    before = [tensor.clone() for tensor in batch]
    lab.teacher_forced_loss(model, batch).backward()
    return {
        "weights": [p.grad if p.grad is not None else "no gradient" for p in model.parameters()],
        "batch as it was": [torch.equal(*both) for both in zip(before, batch, strict=True)],
    }


def logits_of(model, batch, inputs):
    """The logits (B, steps, V) when the columns of `inputs` are fed; shared by wrong versions."""
    hidden, state = model.encode(batch.source, batch.source_mask)
    steps = []
    for y_prev in inputs.unbind(1):
        logits, state, _ = model.cell(y_prev, state, hidden, batch.source_mask)
        steps.append(logits)
    return torch.stack(steps, 1)


def mean_loss(logits, labels, ignore=PAD):
    return cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=ignore)


@exercise.mistake(
    "Your model is asked to predict the token that it was just fed. Input and answer are the same "
    "row, one step apart: which of the two starts one column later?"
)
def no_shift(model, batch):
    inputs = batch.target[:, :-1]
    return mean_loss(logits_of(model, batch, inputs), inputs)


@exercise.mistake(
    "Every column is fed and every column is asked, each in its own step. So a model is to "
    "predict what it was just fed, BOS from BOS. Which column is never fed, which never asked?"
)
def whole_row_fed_and_asked(model, batch):
    return mean_loss(logits_of(model, batch, batch.target), batch.target)


@exercise.mistake(
    "Each step is fed the very token that it is to predict, so the model needs only to copy: a "
    "leak, and the loss falls to nothing. What was known before step t?"
)
def answer_fed(model, batch):
    labels = batch.target[:, 1:]
    return mean_loss(logits_of(model, batch, labels), labels)


@exercise.mistake(
    'The first step is not fed BOS but padding (id 0). Which token says "begin", and where is '
    "it in the batch?"
)
def bos_missing(model, batch):
    inputs = torch.cat([torch.zeros_like(batch.target[:, :1]), batch.target[:, 1:-1]], 1)
    return mean_loss(logits_of(model, batch, inputs), batch.target[:, 1:])


@exercise.mistake(
    "The first symbol of the answer is never predicted: your steps start from it. What is fed so "
    "that the model can come up with the first symbol?"
)
def first_symbol_not_predicted(model, batch):
    return mean_loss(logits_of(model, batch, batch.target[:, 1:-1]), batch.target[:, 2:])


@exercise.mistake(
    "EOS is never asked for, so your model will not learn to stop. Which symbols does your loss "
    "leave out, and which of them is a prediction like any other?"
)
def eos_not_trained(model, batch):
    labels = batch.target[:, 1:].where(batch.target[:, 1:] != EOS, PAD)
    return mean_loss(logits_of(model, batch, batch.target[:, :-1]), labels)


@exercise.mistake(
    "The last column is cut off once too often: the longest sentence of the batch never has to "
    "end. How many predictions does a row with n symbols ask for?"
)
def last_column_cut(model, batch):
    inputs, labels = batch.target[:, :-2], batch.target[:, 1:-1]
    return mean_loss(logits_of(model, batch, inputs), labels)


@exercise.mistake(
    "Padding counts as an answer in your loss, and the model is praised for predicting it. Which "
    "argument of cross_entropy leaves an id out?"
)
def padding_in_the_loss(model, batch):
    labels = batch.target[:, 1:]
    return mean_loss(logits_of(model, batch, batch.target[:, :-1]), labels, ignore=None)


@exercise.mistake(
    "From the second step on your decoder is fed what it guessed itself. That is how it will be "
    "used, but not how it is taught here: where do you find the true token?"
)
def own_guesses_fed(model, batch):
    hidden, state = model.encode(batch.source, batch.source_mask)
    y_prev, steps = batch.target[:, 0], []
    for _ in range(batch.target.shape[1] - 1):
        logits, state, _ = model.cell(y_prev, state, hidden, batch.source_mask)
        y_prev = logits.argmax(-1)
        steps.append(logits)
    return mean_loss(torch.stack(steps, 1), batch.target[:, 1:])


@exercise.mistake(
    "You take the mean of each sentence first and then the mean of these, so a token of a short "
    "sentence counts more than one of a long sentence. Over what should one mean run?"
)
def mean_of_sentence_means(model, batch):
    logits, labels = logits_of(model, batch, batch.target[:, :-1]), batch.target[:, 1:]
    return torch.stack(
        [cross_entropy(*row, ignore_index=PAD) for row in zip(logits, labels, strict=True)]
    ).mean()


@exercise.mistake(
    "You take the mean of each step first and then the mean of these; but at late steps only the "
    "long sentences are left, and their tokens count more. Over what should one mean run?"
)
def mean_of_step_means(model, batch):
    logits, labels = logits_of(model, batch, batch.target[:, :-1]), batch.target[:, 1:]
    steps = [
        cross_entropy(logits[:, t], labels[:, t], ignore_index=PAD) for t in range(labels.shape[1])
    ]
    used = [loss for loss, column in zip(steps, labels.unbind(1), strict=True) if column.any()]
    return torch.stack(used).mean()


@exercise.mistake(
    "You add up one mean for each step and divide by the number of steps. Late steps have fewer "
    "sentences left, or none, and count like full ones. Over what should one mean run?"
)
def divided_by_all_steps(model, batch):
    logits, labels = logits_of(model, batch, batch.target[:, :-1]), batch.target[:, 1:]
    steps = [
        cross_entropy(logits[:, t], labels[:, t], ignore_index=PAD) for t in range(labels.shape[1])
    ]
    return torch.stack(steps).mean()


@exercise.mistake(
    "Your loss is a sum over the predictions, and grows with the batch. What do you divide by?"
)
def summed(model, batch):
    logits, labels = logits_of(model, batch, batch.target[:, :-1]), batch.target[:, 1:]
    return cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=PAD, reduction="sum")


@exercise.mistake(
    "Your sum is divided by the number of sentences, so long sentences weigh more and the loss "
    "grows with their length. How many predictions were there?"
)
def divided_by_sentences(model, batch):
    return summed(model, batch) / len(batch.target)


@exercise.mistake(
    "Padding is out of the sum, but still in the number that you divide by: more padding, smaller "
    "loss. How many predictions were there?"
)
def divided_by_all_places(model, batch):
    return summed(model, batch) / batch.target[:, 1:].numel()


@exercise.mistake(
    "Every step starts from the encoder's state: what the decoder wrote is forgotten. Which of the "
    "three results of a step goes into the next one?"
)
def state_not_carried(model, batch):
    hidden, state = model.encode(batch.source, batch.source_mask)
    steps = [
        model.cell(y_prev, state, hidden, batch.source_mask)[0]
        for y_prev in batch.target[:, :-1].unbind(1)
    ]
    return mean_loss(torch.stack(steps, 1), batch.target[:, 1:])


@exercise.mistake(
    "The decoder may look at the padding of the source: it is given a mask that is true "
    "everywhere. Which mask belongs to `hidden`?"
)
def source_mask_lost(model, batch):
    hidden, state = model.encode(batch.source, batch.source_mask)
    steps = []
    for y_prev in batch.target[:, :-1].unbind(1):
        logits, state, _ = model.cell(y_prev, state, hidden, torch.ones_like(batch.source_mask))
        steps.append(logits)
    return mean_loss(torch.stack(steps, 1), batch.target[:, 1:])


@exercise.mistake(
    "The source is read anew at every step. The result is the same, the time is not: what can be "
    "done once, before the loop?"
)
def read_at_every_step(model, batch):
    state, steps = None, []
    for y_prev in batch.target[:, :-1].unbind(1):
        hidden, first = model.encode(batch.source, batch.source_mask)
        state = first if state is None else state
        logits, state, _ = model.cell(y_prev, state, hidden, batch.source_mask)
        steps.append(logits)
    return mean_loss(torch.stack(steps, 1), batch.target[:, 1:])


@exercise.mistake(
    "Only the last step is judged: your loop overwrites the logits of the steps before. Where are "
    "they collected?"
)
def last_step_only(model, batch):
    logits = logits_of(model, batch, batch.target[:, :-1])
    return cross_entropy(logits[:, -1], batch.target[:, -1], ignore_index=PAD)


@exercise.mistake(
    "Logits and answers do not belong together: one is laid out step after step, the other "
    "sentence after sentence. After stacking, which axis is which?"
)
def axes_mixed_up(model, batch):
    logits = logits_of(model, batch, batch.target[:, :-1]).transpose(0, 1)
    return cross_entropy(logits.flatten(0, 1), batch.target[:, 1:].flatten(), ignore_index=PAD)


@exercise.mistake(
    "A softmax is applied before cross_entropy, which has one of its own: twice is too often. What "
    "does cross_entropy take?"
)
def softmax_twice(model, batch):
    logits = logits_of(model, batch, batch.target[:, :-1])
    return mean_loss(logits.softmax(-1), batch.target[:, 1:])


@exercise.mistake(
    "Your loss puts the model into evaluation mode, and from then on it learns without dropout. "
    "In which mode does the task want the model asked?"
)
def mode_changed(model, batch):
    model.eval()
    logits = logits_of(model, batch, batch.target[:, :-1])
    return mean_loss(logits, batch.target[:, 1:])


@exercise.mistake(
    "Your loss is off in its last digits: a small number is added to the probabilities before "
    "the logarithm. Which function takes the logarithm of a softmax without needing that?"
)
def epsilon_in_the_logarithm(model, batch):
    logits, labels = logits_of(model, batch, batch.target[:, :-1]), batch.target[:, 1:]
    p = logits.softmax(-1).gather(-1, labels[..., None])[..., 0]
    real = batch.target_mask[:, 1:]
    return -((p + 1e-9).log() * real).sum() / real.sum()


@exercise.mistake(
    "The mask that you take the mean with is one column off: it belongs to what is fed, not to "
    "what is predicted. Which columns of target_mask go with the answers?"
)
def mask_of_the_input(model, batch):
    logits, labels = logits_of(model, batch, batch.target[:, :-1]), batch.target[:, 1:]
    log_p = logits.log_softmax(-1).gather(-1, labels[..., None])[..., 0]
    real = batch.target_mask[:, :-1]
    return -(log_p * real).sum() / real.sum()


@exercise.mistake(
    "Your decoder stops as soon as one sentence of the batch has come to its EOS, and the rest of "
    "the longer ones is never judged. Until when does the loop have to run?"
)
def stops_at_the_first_end(model, batch):
    logits, labels = logits_of(model, batch, batch.target[:, :-1]), batch.target[:, 1:]
    end = int((labels == EOS).any(0).nonzero()[0, 0]) + 1
    return mean_loss(logits[:, :end], labels[:, :end])


@exercise.mistake(
    "The number is right, but gradients do not flow from one step to those before it: the state "
    "was cut from torch's graph. Which line does that?"
)
def state_detached(model, batch):
    hidden, state = model.encode(batch.source, batch.source_mask)
    steps = []
    for y_prev in batch.target[:, :-1].unbind(1):
        logits, state, _ = model.cell(y_prev, state.detach(), hidden, batch.source_mask)
        steps.append(logits)
    return mean_loss(torch.stack(steps, 1), batch.target[:, 1:])


@exercise.mistake(
    "You return a plain number. It is right, but training starts with `loss.backward()`: what has "
    "to be kept for that?"
)
def plain_number(model, batch):
    logits = logits_of(model, batch, batch.target[:, :-1])
    return mean_loss(logits, batch.target[:, 1:]).item()


@exercise.also_right
def by_mask(model, batch):
    hidden, state = model.encode(batch.source, batch.source_mask)
    total, count = 0.0, 0
    for t in range(1, batch.target.size(1)):
        logits, state, _ = model.cell(batch.target[:, t - 1], state, hidden, batch.source_mask)
        log_p = torch.log_softmax(logits, dim=-1)
        picked = log_p.gather(1, batch.target[:, t : t + 1]).squeeze(1)
        total = total - (picked * batch.target_mask[:, t]).sum()
        count = count + batch.target_mask[:, t].sum()
    return total / count


@exercise.also_right
def all_columns_fed(model, batch):
    steps = logits_of(model, batch, batch.target)
    return nn.functional.cross_entropy(
        steps[:, :-1].permute(0, 2, 1), batch.target[:, 1:], ignore_index=PAD
    )


@exercise.also_right
def by_selection(model, batch):
    labels, real = batch.target[:, 1:], batch.target_mask[:, 1:]
    logits = logits_of(model, batch, batch.target[:, :-1])
    return cross_entropy(logits[real], labels[real])
