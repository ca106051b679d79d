"""ablate_head: what a model says when one of its heads keeps silent."""

from __future__ import annotations

import copy

import torch
from torch import nn

from attnlab.checking.torch_attention import spellings
from attnlab.checking.weights import give_weights
from attnlab.multihead import MultiHeadAttention, ablate_head, merge_heads, split_heads
from gradekit.exercise import Exercise

exercise = Exercise(ablate_head, uses=[split_heads, merge_heads, MultiHeadAttention])


# While a notebook is worked on, the model is the student's own, in a layout of their own.
SPELLINGS = spellings()


def model_of(lab, draw, dropout=0.0):
    """A model with three heads, weights of its own and d_k, d_v, d_model all different."""
    model = lab.MultiHeadAttention(10, 3, d_k=4, d_v=5, dropout=dropout).double()
    sizes = {"q_proj": (12, 10), "k_proj": (12, 10), "v_proj": (15, 10), "out_proj": (10, 15)}
    weights = {f"{name}.weight": 0.5 * draw.normal(*size) for name, size in sizes.items()}
    weights |= {f"{name}.bias": draw.normal(size[0]) for name, size in sizes.items()}
    give_weights(model, weights, SPELLINGS)
    return model


def texts(draw):
    return draw.normal(2, 4, 10), draw.normal(2, 7, 10), draw.normal(2, 7, 10)


@exercise.check(points=3)
def the_first_head(lab, draw):
    """Without head 0: the output loses what that head added to it, and nothing else."""
    ablated = lab.ablate_head(model_of(lab, draw), 0)
    out, weights = ablated(*texts(draw), need_weights=True)
    return {"output": out, "the weights stay": weights}


@exercise.check(points=1.5)
def the_model_stays(lab, draw):
    """The model itself is left as it is, also when the copy is changed afterwards."""
    model, given = model_of(lab, draw), texts(draw)
    before = model(*given)
    ablated = lab.ablate_head(model, 1)
    after = model(*given)
    with torch.no_grad():
        for parameter in ablated.parameters():
            parameter.zero_()
    return {
        "changed by ablating": not torch.equal(after, before),
        "changed through the copy": not torch.equal(model(*given), before),
        "the output": model(*given),
        "the model is what comes back": ablated is model,
    }


@exercise.check(points=0.5)
def called_as_the_model_is(lab, draw):
    """What comes back is a module, called as the model is, without and with weights."""
    ablated = lab.ablate_head(model_of(lab, draw), 2)
    q, k, v = texts(draw)
    mask = torch.arange(7) < 5
    return {
        "module": isinstance(ablated, nn.Module),
        "shape": list(ablated(q, k, v, mask=mask).shape),
        "shapes with weights": [list(x.shape) for x in ablated(q, k, v, mask, need_weights=True)],
    }


@exercise.check(points=2, hidden=True)
def any_head(lab, draw):
    """Works for every head, with and without a mask, one after the other."""
    model, (q, k, v) = model_of(lab, draw), texts(draw)
    mask = draw.uniform(2, 1, 4, 7) < 0.6
    seen = {}
    for head in (2, 1, 0):
        ablated = lab.ablate_head(model, head)
        seen[f"head {head}"] = ablated(q, k, v)
        seen[f"head {head}, masked"] = ablated(q, k, v, mask)
    twice = lab.ablate_head(lab.ablate_head(model, 2), 0)
    return {**seen, "heads 2 and 0": twice(q, k, v)}


@exercise.check(points=1, hidden=True)
def silence_of_all(lab, draw):
    """With every head silent the bias of the last layer is left, and nothing else."""
    model = model_of(lab, draw)
    silent = model
    for head in range(3):
        silent = lab.ablate_head(silent, head)
    one = lab.MultiHeadAttention(6, 1, bias=False).double()
    x = draw.normal(2, 3, 6)
    return {
        "three of three": silent(*texts(draw)),
        "one of one, no bias": lab.ablate_head(one, 0)(x, x, x),
    }


@exercise.check(points=1, hidden=True)
def still_a_model(lab, draw):
    """The copy keeps its training mode, and gradients reach its inputs and its parameters."""
    model = model_of(lab, draw, dropout=0.5)
    ablated = lab.ablate_head(model.eval(), 1)
    leaf = draw.normal(2, 4, 10).requires_grad_()
    (ablated(leaf, leaf, leaf) * draw.normal(2, 4, 10)).sum().backward()
    return {
        "training": ablated.training,
        "training after train()": lab.ablate_head(model.train(), 1).training,
        "gradient of the input": leaf.grad,
        "gradient of the last bias": [
            "no gradient" if p.grad is None else p.grad
            for name, p in ablated.named_parameters()
            if name.endswith("out_proj.bias")
        ],
        "parameters that can be trained": sum(p.requires_grad for p in ablated.parameters()),
        "the model's own gradients": sum(p.grad is not None for p in model.parameters()),
    }


@exercise.check(points=1, hidden=True)
def heads_that_are_not_there(lab, draw):
    """Raises IndexError for a head that the model does not have."""
    model = model_of(lab, draw)
    return {f"head {head}": draw.raises(lab.ablate_head, model, head) for head in (3, 7, -1, -4)}


def copied(model, head):
    """A copy of a model, once the head's number is known to be right."""
    if not 0 <= head < model.num_heads:
        raise IndexError("no such head")
    return copy.deepcopy(model)


def silence(model, start, stop):
    """Columns of the last layer made zero, in place; a part that wrong versions share."""
    with torch.no_grad():
        model.out_proj.weight[:, start:stop] = 0
    return model


class InPieces(MultiHeadAttention):
    """A model that forwards with its heads open to change."""

    silent = ()

    def scores_of(self, q, k, mask):
        scores = q @ k.mT / self.d_k**0.5
        return scores if mask is None else scores.masked_fill(~mask, -1e300)

    def found(self, weights, v):
        return self.dropout(weights) @ v

    def forward(self, q, k, v, mask=None, need_weights=False):
        q = split_heads(self.q_proj(q), self.num_heads)
        k = split_heads(self.k_proj(k), self.num_heads)
        v = split_heads(self.v_proj(v), self.num_heads)
        weights = self.scores_of(q, k, mask).softmax(-1)
        if mask is not None:
            weights = weights * mask.any(-1, keepdim=True)
        out = self.out_proj(merge_heads(self.found(weights, v)))
        return (out, weights) if need_weights else out


class ScoresZeroed(InPieces):
    def scores_of(self, q, k, mask):
        scores = super().scores_of(q, k, mask).clone()
        scores[:, list(self.silent)] = 0
        return scores


class HeadLeftOut(InPieces):
    def kept(self):
        kept = [head not in self.silent for head in range(self.num_heads)]
        return torch.tensor(kept)[:, None, None]

    def found(self, weights, v):
        return super().found(weights, v) * self.kept()


class ReplacedByTheMean(HeadLeftOut):
    def found(self, weights, v):
        found = self.dropout(weights) @ v
        rest = max(1, self.num_heads - len(self.silent))
        mean = (found * self.kept()).sum(1, keepdim=True) / rest
        return found.where(self.kept(), mean)


class OthersScaledUp(HeadLeftOut):
    def found(self, weights, v):
        rest = max(1, self.num_heads - len(self.silent))
        return super().found(weights, v) * self.num_heads / rest


def as_another(kind, model, head):
    """A copy of `model` that forwards in another way."""
    twin = copied(model, head)
    twin.__class__ = kind
    twin.silent = (*getattr(model, "silent", ()), head)
    return twin


@exercise.mistake(
    "The queries of the head are zero. Then all its scores are 0, its attention is spread evenly, "
    "and it still says something: the mean of its values. Where does a head's word enter the "
    "output?"
)
def queries_zeroed(model, head):
    twin = copied(model, head)
    with torch.no_grad():
        for parameter in twin.q_proj.parameters():
            parameter[head * model.d_k : (head + 1) * model.d_k] = 0
    return twin


@exercise.mistake(
    "The head's scores are set to 0 before the softmax: e⁰ is 1, so the head looks at everything "
    "alike, even at what a mask forbids, and still speaks. What should be zero, scores or what the "
    "head adds?"
)
def scores_zeroed(model, head):
    return as_another(ScoresZeroed, model, head)


@exercise.mistake(
    "The head's weight for making values is zero, but not its bias: it still says that bias. What "
    "must be zero for it to say nothing?"
)
def values_zeroed_but_not_their_bias(model, head):
    twin = copied(model, head)
    with torch.no_grad():
        twin.v_proj.weight[head * model.d_v : (head + 1) * model.d_v] = 0
    return twin


@exercise.mistake(
    "Rows of the last layer are zero: features of the output, whoever they come from. A weight of "
    "`nn.Linear` is (out, in). On which side do the heads come in?"
)
def rows_of_the_last_layer(model, head):
    twin = copied(model, head)
    with torch.no_grad():
        twin.out_proj.weight[head * model.d_v : (head + 1) * model.d_v] = 0
    return twin


@exercise.mistake(
    "The slice has the width of the keys, d_k. Whose features go into the last layer?"
)
def slice_as_wide_as_keys(model, head):
    return silence(copied(model, head), head * model.d_k, (head + 1) * model.d_k)


@exercise.mistake(
    "torch keeps a record of what happens to parameters, for their gradients, and does not let you "
    "write into one while it does. Which `with` block stops the record for a moment?"
)
def written_while_recording(model, head):
    twin = copied(model, head)
    twin.out_proj.weight[:, head * model.d_v : (head + 1) * model.d_v] = 0
    return twin


@exercise.mistake(
    "Only one column is zero, number `head`. How many columns of the last layer belong to one head?"
)
def one_column(model, head):
    return silence(copied(model, head), head, head + 1)


@exercise.mistake(
    "Every h-th column is zero, as if the heads had been dealt out like cards. Which columns does "
    "`merge_heads` give to a head?"
)
def every_hth_column(model, head):
    twin = copied(model, head)
    with torch.no_grad():
        twin.out_proj.weight[:, head :: model.num_heads] = 0
    return twin


@exercise.mistake("The slice begins one head too late. Which columns belong to head 0?")
def next_head(model, head):
    start = (head + 1) % model.num_heads * model.d_v
    return silence(copied(model, head), start, start + model.d_v)


@exercise.mistake(
    "All heads but this one are silent. Which part is to be taken away, and which is to stay?"
)
def all_the_others(model, head):
    twin = silence(copied(model, head), 0, head * model.d_v)
    return silence(twin, (head + 1) * model.d_v, model.num_heads * model.d_v)


@exercise.mistake(
    "The head is silent for good: the model that you were given is changed, and the next head is "
    "measured on a crippled one. What do you work on instead?"
)
def model_changed(model, head):
    copied(model, head)
    return silence(model, head * model.d_v, (head + 1) * model.d_v)


@exercise.mistake(
    "Your copy is a shallow one: `copy.copy` makes a new module that holds the same tensors, so "
    "the model changes with it. Which copy goes all the way down?"
)
def shallow_copy(model, head):
    copied(model, head)
    return silence(copy.copy(model), head * model.d_v, (head + 1) * model.d_v)


@exercise.mistake(
    "The copy has a last layer of its own, but shares the other layers with the model. What "
    "happens to the model when somebody trains the copy?"
)
def layers_shared(model, head):
    copied(model, head)
    twin = copy.copy(model)
    twin._modules = dict(model._modules)
    twin.out_proj = copy.deepcopy(model.out_proj)
    return silence(twin, head * model.d_v, (head + 1) * model.d_v)


@exercise.mistake("The bias of the last layer is gone as well. Which head does it belong to?")
def last_bias_zeroed(model, head):
    twin = silence(copied(model, head), head * model.d_v, (head + 1) * model.d_v)
    if twin.out_proj.bias is not None:
        nn.init.zeros_(twin.out_proj.bias)
    return twin


@exercise.mistake(
    "The other heads grow to make up for the missing one. Ablation takes something away and leaves "
    "the rest as it is."
)
def others_scaled_up(model, head):
    return as_another(OthersScaledUp, model, head)


@exercise.mistake(
    "The head is replaced by the mean of the others. That is an experiment, too, but the task asks "
    "for silence."
)
def replaced_by_the_mean(model, head):
    return as_another(ReplacedByTheMean, model, head)


@exercise.mistake("Nothing was taken away: the copy says what the model says.")
def nothing_ablated(model, head):
    return copied(model, head)


@exercise.mistake(
    "For a head that is not there you return the model as it was, or silence another one: a slice "
    "past the end is empty, and a negative one counts from the end. Which error does the task ask "
    "for?"
)
def any_number_taken(model, head):
    return silence(copy.deepcopy(model), head * model.d_v, (head + 1) * model.d_v)


@exercise.mistake(
    "You always count -1 as the last head, as lists do. The task says which numbers are heads."
)
def counted_from_the_end(model, head):
    range(model.num_heads)[head]
    return silence(copied(model, head % model.num_heads), *slice_of(model, head))


def slice_of(model, head):
    start = head % model.num_heads * model.d_v
    return start, start + model.d_v


@exercise.mistake(
    "The copy has no gradients any more: its parameters were frozen, or it runs under `no_grad`. "
    "Which part of your code needs that, and which does not?"
)
def copy_frozen(model, head):
    return silence(copied(model, head), *slice_of(model, head)).requires_grad_(False)


@exercise.mistake(
    "The last layer of the copy is frozen: its weight can no longer be trained. Which part of your "
    "code needs no gradients, and which does?"
)
def last_layer_frozen(model, head):
    twin = silence(copied(model, head), *slice_of(model, head))
    twin.out_proj.weight.requires_grad_(False)
    return twin


@exercise.mistake(
    "You take the head's columns out, so that the last layer is narrower than what comes in. What "
    "can stand in their place, so that all shapes stay?"
)
def columns_taken_out(model, head):
    twin, (start, stop) = copied(model, head), slice_of(model, head)
    weight = twin.out_proj.weight.data
    kept = torch.cat([weight[:, :start], weight[:, stop:]], 1)
    twin.out_proj.weight = nn.Parameter(kept)
    return twin


@exercise.mistake(
    "The copy is always in training mode, also where the model was not. A new module starts in "
    "training; what else do you have to take over?"
)
def built_anew(model, head):
    twin = copied(model, head)
    p = model.dropout.p
    new = MultiHeadAttention(
        twin.out_proj.out_features, model.num_heads, model.d_k, model.d_v,
        twin.out_proj.bias is not None, p,
    ).double()  # fmt: skip
    new.load_state_dict(twin.state_dict())
    return silence(new, *slice_of(model, head))


@exercise.also_right
def by_subtracting(model, head):
    if head not in range(model.num_heads):
        raise IndexError(head)
    twin = copy.deepcopy(model)
    W = twin.out_proj.weight
    part = torch.zeros_like(W)
    part[:, head * model.d_v : (head + 1) * model.d_v] = 1
    W.data = W.data - W.data * part
    return twin


@exercise.also_right
def by_leaving_it_out(model, head):
    return as_another(HeadLeftOut, model, head)


@exercise.also_right
def values_and_their_bias_zeroed(model, head):
    if head < 0 or head >= model.num_heads:
        raise IndexError(f"no head {head}")
    twin = copy.deepcopy(model)
    rows = slice(head * model.d_v, (head + 1) * model.d_v)
    twin.v_proj.weight.data[rows] = 0.0
    if twin.v_proj.bias is not None:
        twin.v_proj.bias.data[rows] = 0.0
    return twin


@exercise.also_right
def by_views_of_the_weight(model, head):
    if head not in range(model.num_heads):
        raise IndexError("no such head")
    twin = copy.deepcopy(model)
    with torch.no_grad():
        twin.out_proj.weight.view(-1, model.num_heads, model.d_v)[:, head].zero_()
    return twin


class Ablated(nn.Module):
    """A model whose last layer hears nothing of one head."""

    def __init__(self, model, head):
        super().__init__()
        self.model = model
        width = model.d_v
        self.model.out_proj.register_forward_pre_hook(
            lambda layer, given: (
                torch.cat(
                    [
                        given[0][..., : head * width],
                        torch.zeros_like(given[0][..., :width]),
                        given[0][..., (head + 1) * width :],
                    ],
                    -1,
                ),
            )
        )
        self.train(model.training)
        self.num_heads, self.d_v, self.out_proj = model.num_heads, width, model.out_proj

    def forward(self, *given, **options):
        return self.model(*given, **options)


@exercise.also_right
def by_a_hook(model, head):
    if not 0 <= head <= model.num_heads - 1:
        raise IndexError("no such head")
    return Ablated(copy.deepcopy(model), head)
