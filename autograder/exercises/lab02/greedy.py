"""greedy: a sentence, one likeliest symbol after another."""

from __future__ import annotations

import torch

from attnlab.decoding import greedy
from gradekit.exercise import Exercise

exercise = Exercise(greedy)

BOS = 6
EOS = 4
SYMBOLS = 7


class Talker:
    """A translator made of a few tables. The sentence of a row ends after a number of steps that
    stands in its state; if it is asked for more, it goes on talking.
    """

    def __init__(self, draw, ends):
        self.words, self.symbols = draw.normal(9, 3), draw.normal(SYMBOLS, 5)
        self.look, self.mix = draw.normal(3, 5), draw.normal(5, 5)
        self.out = draw.normal(5, SYMBOLS)
        self.ends = {9 - row: end for row, end in enumerate(ends)}  # by the first word of a row
        self.rows_read, self.rows_stepped, self.steps, self.recorded = 0, 0, [], []

    def source(self, draw):
        """Rows of unequal length; the first word says which sentence it is."""
        rows, lengths = len(self.ends), [5, 3, 4, 2][: len(self.ends)]
        source = draw.integers(0, 6, rows, 5).clone()
        source[:, 0] = torch.tensor(list(self.ends)) - 1
        return source, torch.arange(5) < torch.tensor(lengths)[:, None]

    def encode(self, source, source_mask):
        self.rows_read += len(source)
        self.recorded.append(torch.is_grad_enabled())
        ends = [float(self.ends[first + 1]) for first in source[:, 0].tolist()]
        state = torch.zeros(len(source), 7, dtype=torch.float64)
        state[:, 5] = torch.tensor(ends)
        return self.words[source], state

    def cell(self, y_prev, state, hidden, mask=None):
        self.recorded.append(torch.is_grad_enabled())
        self.rows_stepped += len(state)
        place, left, made = state[:, :5], state[:, 5:6] - 1, state[:, 6:] + 1
        self.steps += made.flatten().tolist()
        weights = torch.ones(hidden.shape[:2]).double() if mask is None else mask.double()
        weights = weights / weights.sum(1, keepdim=True)
        seen = (weights[:, None] @ hidden)[:, 0] @ self.look
        place = torch.tanh(place @ self.mix + self.symbols[y_prev] + seen)
        logits = 3 * place @ self.out
        logits[:, EOS] = torch.where(left[:, 0] == 0, 50.0, -50.0)
        return logits, torch.cat([place, left, made], 1), weights


def told(lab, draw, ends, max_len):
    """The sentences of a talker, and the talker."""
    model = Talker(draw, ends)
    return lab.greedy(model, *model.source(draw), BOS, EOS, max_len), model


@exercise.check(points=1)
def one_list_for_each_sentence(lab, draw):
    """Gives a list of lists of plain numbers, one for each sentence of the batch."""
    sentences, _ = told(lab, draw, (4, 4, 4), 9)
    return {
        "kind": type(sentences).__name__,
        "kinds inside": sorted({type(one).__name__ for one in sentences}),
        "kinds of symbols": sorted({type(n).__name__ for one in sentences for n in one}),
        "sentences": len(sentences),
    }


@exercise.check(points=3)
def likeliest_symbols(lab, draw):
    """Takes the likeliest symbol after those already chosen, up to the end of the sentence."""
    return {
        "three sentences of five symbols": told(lab, draw, (6, 6, 6), 9)[0],
        "two of three": told(lab, draw, (4, 4), 7)[0],
    }


@exercise.check(points=1.5, hidden=True)
def ends_apart(lab, draw):
    """Sentences of one batch may end at different steps; nothing follows an end."""
    return {
        "four sentences": told(lab, draw, (3, 7, 2, 5), 9)[0],
        "one is empty": told(lab, draw, (1, 4, 3), 9)[0],
        "one sentence": told(lab, draw, (5,), 9)[0],
    }


@exercise.check(points=1, hidden=True)
def no_more_than_max_len(lab, draw):
    """Stops after max_len steps where a sentence does not end by itself."""
    return {
        "none ends": told(lab, draw, (99, 98, 97), 5)[0],
        "one ends": told(lab, draw, (99, 3), 6)[0],
        "an end at the last step": told(lab, draw, (6, 9), 6)[0],
        "one step": told(lab, draw, (9, 1, 8), 1)[0],
    }


@exercise.check(points=1.5, hidden=True)
def work_done(lab, draw):
    """Reads the source once, makes no step too many, records no gradients, keeps its inputs."""
    model = Talker(draw, (3, 6, 2))
    given = model.source(draw)
    before = [tensor.clone() for tensor in given]
    lab.greedy(model, *given, BOS, EOS, 11)
    return {
        "rows that were read": model.rows_read,
        "most steps of a sentence": max(model.steps),
        "gradients were recorded": any(model.recorded),
        "no step is made twice": model.rows_stepped <= 3 * 6,
        "inputs as they were": [torch.equal(*both) for both in zip(given, before, strict=True)],
        "gradients are on afterwards": torch.is_grad_enabled(),
    }


def up_to_end(rows, eos):
    return [row[: row.index(eos)] if eos in row else row for row in rows]


def decoded(model, source, mask, bos, eos, max_len, keep=None, pick=None, feed=None, go_on=None):
    """What right versions do, with one part exchanged: how a symbol is picked, what is fed next,
    which state is kept, and when the loop goes on.
    """
    with torch.no_grad():
        hidden, state = model.encode(source, mask)
        fed = torch.full((len(source),), bos)
        over = torch.zeros(len(source), dtype=torch.bool)
        chosen = []
        for _ in range(max_len):
            logits, new_state, _ = model.cell(fed, state, hidden, mask)
            state = new_state if keep is None else keep(state, new_state)
            symbol = logits.argmax(-1) if pick is None else pick(logits)
            fed = symbol if feed is None else feed(fed, symbol)
            over = over | (symbol == eos)
            chosen.append(symbol)
            if not (~over.all() if go_on is None else go_on(over, symbol)):
                break
    return torch.stack(chosen, 1).tolist()


@exercise.mistake(
    "Every step is fed `bos` again, so the model never hears what it has said. What goes into a "
    "later step?"
)
def bos_fed_again(model, source, source_mask, bos, eos, max_len):
    rows = decoded(model, source, source_mask, bos, eos, max_len, feed=lambda fed, symbol: fed)
    return up_to_end(rows, eos)


@exercise.mistake(
    "Every step starts from the state that the encoder left. The cell returns three things: which "
    "of them has to come back in at the next step?"
)
def state_not_kept(model, source, source_mask, bos, eos, max_len):
    rows = decoded(model, source, source_mask, bos, eos, max_len, keep=lambda old, new: old)
    return up_to_end(rows, eos)


@exercise.mistake(
    "The whole batch stops as soon as one of its sentences has ended, and the others are cut off. "
    "Who has to be over before the loop may stop: any, or all?"
)
def stops_with_the_first(model, source, source_mask, bos, eos, max_len):
    rows = decoded(
        model, source, source_mask, bos, eos, max_len, go_on=lambda over, symbol: not over.any()
    )
    return up_to_end(rows, eos)


@exercise.mistake(
    "A sentence goes on after its `eos`. The batch may have to make more steps for the others; "
    "what belongs to a sentence that is over?"
)
def talks_on(model, source, source_mask, bos, eos, max_len):
    rows = decoded(model, source, source_mask, bos, eos, max_len)
    return [[symbol for symbol in row if symbol != eos] for row in rows]


@exercise.mistake(
    "The sentences hold their `eos` (or all that came after, too). Which symbols does the task "
    "leave out of what you return?"
)
def eos_kept(model, source, source_mask, bos, eos, max_len):
    rows = decoded(model, source, source_mask, bos, eos, max_len)
    return [row[: row.index(eos) + 1] if eos in row else row for row in rows]


@exercise.mistake("Each sentence begins with `bos`. Was it chosen by the model, or put in by you?")
def bos_kept(model, source, source_mask, bos, eos, max_len):
    rows = decoded(model, source, source_mask, bos, eos, max_len)
    return [[bos, *row] for row in up_to_end(rows, eos)]


@exercise.mistake(
    "You look for the largest logit along the wrong axis: down the batch, not along the "
    "vocabulary. Which axis of (B, V) is which, and how many symbols should come out?"
)
def largest_of_the_batch(model, source, source_mask, bos, eos, max_len):
    size = len(source)
    rows = decoded(
        model,
        source,
        source_mask,
        bos,
        eos,
        max_len,
        pick=lambda logits: logits.argmax(0)[:size] % SYMBOLS,
    )
    return up_to_end(rows, eos)


@exercise.mistake(
    "The symbol is drawn at random from the softmax, so two runs differ. That is sampling (lab "
    "10). Which symbol does greedy take?"
)
def sampled(model, source, source_mask, bos, eos, max_len):
    rows = decoded(
        model,
        source,
        source_mask,
        bos,
        eos,
        max_len,
        pick=lambda logits: torch.multinomial(logits.softmax(-1), 1)[:, 0],
    )
    return up_to_end(rows, eos)


@exercise.mistake("You take the least likely symbol. Which end of the logits do you look at?")
def least_likely(model, source, source_mask, bos, eos, max_len):
    rows = decoded(
        model, source, source_mask, bos, eos, max_len, pick=lambda logits: logits.argmin(-1)
    )
    return up_to_end(rows, eos)


@exercise.mistake(
    "The loop makes one step too few (`bos` was counted among the symbols?). How many symbols "
    "may a sentence have that does not end by itself?"
)
def one_step_short(model, source, source_mask, bos, eos, max_len):
    rows = decoded(model, source, source_mask, bos, eos, max(max_len - 1, 1))
    return up_to_end(rows, eos)


@exercise.mistake("The loop makes one step more than `max_len`. Count its rounds for max_len = 1.")
def one_step_more(model, source, source_mask, bos, eos, max_len):
    return up_to_end(decoded(model, source, source_mask, bos, eos, max_len + 1), eos)


@exercise.mistake(
    "The condition of your loop is turned round: it goes on when the stop symbol has come and "
    "ends when it has not, as one slide says it. Say in words when decoding should go on."
)
def stop_condition_inverted(model, source, source_mask, bos, eos, max_len):
    rows = decoded(
        model, source, source_mask, bos, eos, max_len, go_on=lambda over, symbol: over.all()
    )
    return up_to_end(rows, eos)


@exercise.mistake(
    "Your loop runs on when every sentence is over: it always makes `max_len` steps, or waits for "
    "all to say `eos` in the very same step. How does it know that a sentence ended earlier?"
)
def ends_forgotten(model, source, source_mask, bos, eos, max_len):
    rows = decoded(
        model,
        source,
        source_mask,
        bos,
        eos,
        max_len,
        go_on=lambda over, symbol: bool((symbol != eos).any()),
    )
    return up_to_end(rows, eos)


@exercise.mistake(
    "torch records gradients while you decode: every step keeps all the earlier ones in memory. "
    "Which context manager switches that off?"
)
def gradients_recorded(model, source, source_mask, bos, eos, max_len):
    hidden, state = model.encode(source, source_mask)
    fed, over, chosen = torch.full((len(source),), bos), torch.zeros(len(source)).bool(), []
    while len(chosen) < max_len and not over.all():
        logits, state, _ = model.cell(fed, state, hidden, source_mask)
        fed = logits.argmax(-1)
        over = over | (fed == eos)
        chosen.append(fed)
    return up_to_end(torch.stack(chosen, 1).tolist(), eos)


@exercise.mistake(
    "Gradients are switched off for good: after your function nothing can be trained any more. "
    "What switches them off for the time of a `with` block only?"
)
def gradients_off_for_good(model, source, source_mask, bos, eos, max_len):
    torch.set_grad_enabled(False)
    return up_to_end(decoded(model, source, source_mask, bos, eos, max_len), eos)


@exercise.mistake(
    "The source is read again at every step, though it never changes. Which line can move above "
    "the loop?"
)
def source_read_again(model, source, source_mask, bos, eos, max_len):
    with torch.no_grad():
        hidden, state = model.encode(source, source_mask)
        fed, over, chosen = torch.full((len(source),), bos), torch.zeros(len(source)).bool(), []
        while len(chosen) < max_len and not over.all():
            hidden, _ = model.encode(source, source_mask)
            logits, state, _ = model.cell(fed, state, hidden, source_mask)
            fed = logits.argmax(-1)
            over = over | (fed == eos)
            chosen.append(fed)
    return up_to_end(torch.stack(chosen, 1).tolist(), eos)


@exercise.mistake(
    "The decoder looks at padding: the source's mask does not reach the cell. What are the four "
    "things that `model.cell` takes?"
)
def mask_not_passed(model, source, source_mask, bos, eos, max_len):
    with torch.no_grad():
        hidden, state = model.encode(source, source_mask)
        fed, over, chosen = torch.full((len(source),), bos), torch.zeros(len(source)).bool(), []
        while len(chosen) < max_len and not over.all():
            logits, state, _ = model.cell(fed, state, hidden, None)
            fed = logits.argmax(-1)
            over = over | (fed == eos)
            chosen.append(fed)
    return up_to_end(torch.stack(chosen, 1).tolist(), eos)


@exercise.mistake(
    "The mask reaches the cell the wrong way round, so the decoder looks at padding and nothing "
    "else. What does True mean, and who has to turn it round, if anybody?"
)
def mask_inverted(model, source, source_mask, bos, eos, max_len):
    with torch.no_grad():
        hidden, state = model.encode(source, source_mask)
        fed, over, chosen = torch.full((len(source),), bos), torch.zeros(len(source)).bool(), []
        while len(chosen) < max_len and not over.all():
            logits, state, _ = model.cell(fed, state, hidden, ~source_mask)
            fed = logits.argmax(-1)
            over = over | (fed == eos)
            chosen.append(fed)
    return up_to_end(torch.stack(chosen, 1).tolist(), eos)


@exercise.mistake(
    "Each new symbol makes you run the decoder again from `bos`. Its state remembers what went "
    "in: what is all that a step needs?"
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
    return up_to_end(written[:, 1:].tolist(), eos)


@exercise.mistake(
    "All your sentences are one and the same list: `[[]] * n` makes n names for it. What makes a "
    "new list for each sentence?"
)
def one_list_for_all(model, source, source_mask, bos, eos, max_len):
    sentences = [[]] * len(source)
    rows = up_to_end(decoded(model, source, source_mask, bos, eos, max_len), eos)
    for t in range(max(map(len, rows))):
        for sentence, row in zip(sentences, rows, strict=True):
            sentence += row[t : t + 1]
    return sentences


@exercise.mistake(
    "Your loop asks whether the *first* sentence has ended (`[0]`, or `.item()` of it), and the "
    "others end with it. Each sentence of a batch has its own end."
)
def end_of_the_first_sentence(model, source, source_mask, bos, eos, max_len):
    rows = decoded(
        model,
        source,
        source_mask,
        bos,
        eos,
        max_len,
        go_on=lambda over, symbol: not bool(over[0]),
    )
    return up_to_end(rows, eos)


@exercise.mistake(
    "Your code writes into `source` (or its mask), which the caller still needs. What makes a "
    "tensor of your own?"
)
def source_overwritten(model, source, source_mask, bos, eos, max_len):
    rows = up_to_end(decoded(model, source, source_mask, bos, eos, max_len), eos)
    source[:, 0] = bos
    return rows


@exercise.mistake(
    "You drop `bos` and `eos` wherever they stand. The model may choose any symbol, `bos` "
    "included: which symbols does the task leave out?"
)
def bos_dropped_everywhere(model, source, source_mask, bos, eos, max_len):
    rows = up_to_end(decoded(model, source, source_mask, bos, eos, max_len), eos)
    return [[symbol for symbol in row if symbol != bos] for row in rows]


@exercise.mistake(
    "You start and stop with the numbers that the dates use, 1 and 2. Here the first and the last "
    "symbol come as arguments: are they used?"
)
def ends_of_the_dates(model, source, source_mask, bos, eos, max_len):
    return up_to_end(decoded(model, source, source_mask, 1, 2, max_len), 2)


@exercise.mistake(
    "You return tensors. The task asks for lists of plain numbers; what turns a tensor into them?"
)
def tensors_returned(model, source, source_mask, bos, eos, max_len):
    rows = up_to_end(decoded(model, source, source_mask, bos, eos, max_len), eos)
    return [torch.tensor(row) for row in rows]


@exercise.also_right
def one_after_another(model, source, source_mask, bos, eos, max_len):
    sentences = []
    for row, mask in zip(source.split(1), source_mask.split(1), strict=True):
        sentence = []
        with torch.inference_mode():
            hidden, state = model.encode(row, mask)
            fed = torch.tensor([bos])
            for _ in range(max_len):
                logits, state, _ = model.cell(fed, state, hidden, mask)
                fed = logits.max(dim=-1).indices
                if fed.item() == eos:
                    break
                sentence.append(fed.item())
        sentences.append(sentence)
    return sentences


@exercise.also_right
def filled_table(model, source, source_mask, bos, eos, max_len):
    with torch.no_grad():
        memory, state = model.encode(source, source_mask)
        out = torch.full((source.size(0), max_len + 1), eos)
        out[:, 0] = bos
        unfinished = torch.ones(source.size(0), dtype=torch.long)
        for t in range(max_len):
            logits, state, _ = model.cell(out[:, t], state, memory, source_mask)
            best = torch.softmax(logits, dim=1).topk(1, dim=1)[1].squeeze(1)
            out[:, t + 1] = best * unfinished + eos * (1 - unfinished)
            unfinished = unfinished * (best != eos).long()
            if unfinished.max() == 0:
                break
    sentences = []
    for row in out[:, 1:]:
        sentence = []
        for symbol in row.tolist():
            if symbol == eos:
                break
            sentence.append(symbol)
        sentences.append(sentence)
    return sentences


@exercise.also_right
@torch.no_grad()
def only_those_that_go_on(model, source, source_mask, bos, eos, max_len):
    hidden, state = model.encode(source, source_mask)
    sentences = [[] for _ in range(len(source))]
    alive = torch.arange(len(source))
    fed = torch.full_like(alive, bos)
    for _ in range(max_len):
        logits, state, _ = model.cell(fed, state, hidden[alive], source_mask[alive])
        symbols = torch.argmax(logits, dim=-1)
        going = symbols != eos
        alive, fed, state = alive[going], symbols[going], state[going]
        for row, symbol in zip(alive.tolist(), fed.tolist(), strict=True):
            sentences[row].append(symbol)
        if not len(alive):
            break
    return sentences
