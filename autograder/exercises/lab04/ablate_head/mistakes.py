"""Known mistakes: the wrong part is zero, the model is changed, or the copy is not complete."""

from __future__ import annotations

import copy

from torch import nn

from attnlab.multihead import MultiHeadAttention, merge_heads, split_heads

from . import exercise, mistakes_in_columns, mistakes_in_the_copy  # noqa: F401 - to register them
from .also_right import by_leaving_it_out, columns_zeroed

wrong = exercise.edits(columns_zeroed)

wrong(
    "queries_zeroed",
    "changed.out_proj.weight[:, start:stop] = 0",
    "for parameter in changed.q_proj.parameters():\n"
    "            parameter[head * model.d_k : (head + 1) * model.d_k] = 0",
    "You set the head's queries or its keys to zero. Then its attention is spread evenly, and it "
    "still adds something: the mean of its values. Where does a head enter the output?",
)
wrong(
    "always_in_evaluation_mode",
    "copy.deepcopy(model)",
    "copy.deepcopy(model).eval()",
    "Your copy is always in evaluation mode. In which mode should it be, according to the task?",
)
wrong(
    "values_zeroed_but_not_their_bias",
    "out_proj.weight[:, start:stop]",
    "v_proj.weight[start:stop]",
    "The head's weight for making values is zero, but not its bias, so the head still adds that "
    "bias. What must be zero for it to add nothing?",
)
wrong(
    "query_weights_zeroed",
    "out_proj.weight[:, start:stop]",
    "q_proj.weight[head * model.d_k : (head + 1) * model.d_k]",
    "You set the weights of the head's queries to zero. Its attention then no longer depends on "
    "the query, but it still adds something: a mean of its values. Where does a head enter the "
    "output?",
)
wrong(
    "rows_of_the_last_layer",
    "weight[:, start:stop]",
    "weight[start:stop]",
    "You set rows of the last layer to zero: these are features of the output, for all heads. A "
    "weight of `nn.Linear` is (out, in). On which side do the heads come in?",
)
wrong(
    "slice_as_wide_as_keys",
    "head * model.d_v, (head + 1) * model.d_v",
    "head * model.d_k, (head + 1) * model.d_k",
    "Your slice has the width of the keys, d_k. Whose features go into the last layer?",
)
NOT_THE_VALUES_WIDTH = (
    "Your slice begins at the wrong column, or has the wrong width: it counts with d_k, num_heads "
    "or d_model // num_heads. How many features does one head hand to the last layer?"
)
wrong(
    "slice_as_wide_as_a_part_of_d_model",
    "head * model.d_v, (head + 1) * model.d_v",
    "(w := model.out_proj.out_features // model.num_heads) * head, w * (head + 1)",
    NOT_THE_VALUES_WIDTH,
)
wrong(
    "begins_where_the_keys_would",
    "head * model.d_v, (head + 1) * model.d_v",
    "head * model.d_k, head * model.d_k + model.d_v",
    NOT_THE_VALUES_WIDTH,
)
wrong(
    "slice_as_wide_as_there_are_heads",
    "head * model.d_v, (head + 1) * model.d_v",
    "head * model.num_heads, (head + 1) * model.num_heads",
    NOT_THE_VALUES_WIDTH,
)
wrong(
    "begins_at_the_heads_number",
    "head * model.d_v, (head + 1) * model.d_v",
    "head, head + model.d_v",
    "Your slice begins at column `head`. Where do the columns of head 1 begin?",
)
wrong(
    "one_column_short",
    "(head + 1) * model.d_v",
    "(head + 1) * model.d_v - 1",
    "Your slice is one column short. Does Python's slice include its end?",
)
wrong(
    "one_column_more",
    "(head + 1) * model.d_v",
    "(head + 1) * model.d_v + 1",
    "Your slice is one column too long. Does Python's slice include its end?",
)
HEADS_BEFORE = (
    "Your slice begins too early: it also covers columns of heads before this one. At which "
    "column does this head begin?"
)
HEADS_AFTER = (
    "Your slice ends too late: it also covers columns of heads after this one. At which column "
    "does this head end?"
)
NEIGHBOURS_ALONE = (
    "Your slice leaves out this head: it covers the heads before it, or those after it. At which "
    "columns does this head begin and end?"
)
for name, columns, advice in (
    ("from_column_0", ":stop", HEADS_BEFORE),
    ("with_the_head_before", "max(0, start - model.d_v) : stop", HEADS_BEFORE),
    ("to_the_last_column", "start:", HEADS_AFTER),
    ("with_the_head_after", "start : stop + model.d_v", HEADS_AFTER),
    ("all_before", ":start", NEIGHBOURS_ALONE),
    ("all_after", "stop:", NEIGHBOURS_ALONE),
):
    wrong(name, "start:stop", columns, advice)
wrong(
    "ends_at_the_width",
    "start:stop",
    "start : model.d_v",
    "Your slice ends at column d_v, whatever `head` is. Where do the columns of head 1 end?",
)
for name, first in (
    ("heads_counted_from_one", "head - 1"),
    ("head_before", "(head - 1) % model.num_heads"),
):
    wrong(
        name,
        "head * model.d_v, (head + 1) * model.d_v",
        f"(i := {first}) * model.d_v, (i + 1) * model.d_v",
        NEIGHBOURS_ALONE,
    )
wrong(
    "written_while_recording",
    "    with torch.no_grad():\n        changed",
    "    changed",
    "torch records all operations on parameters, for their gradients, and does not let you write "
    "into one meanwhile. Which `with` block stops the recording for a moment?",
)
wrong(
    "one_column",
    "start:stop",
    "head",
    "Only column `head` is zero. How many columns of the last layer belong to one head?",
)
ZEROED = "changed.out_proj.weight[:, start:stop]"
wrong(
    "rows_by_a_view",
    ZEROED,
    "changed.out_proj.weight.view(model.num_heads, model.d_v, -1)[head]",
    "Your `view` cuts the last layer's weight across its rows. This weight is (out, in): which of "
    "its two axes holds the heads, one after the other?",
)
wrong(
    "one_head_less_counted",
    f"{ZEROED} = 0",
    "changed.num_heads -= 1",
    "Your copy only counts one head less: no weight changes, and its layers still make the "
    "features of all heads. Through which part of the output projection does a head contribute?",
)
wrong(
    "every_hth_column",
    "start:stop",
    "head :: model.num_heads",
    "You set every h-th column to zero, as if the heads took features in turn, like cards. Which "
    "columns does `merge_heads` give to a head?",
)
for name, after in (("next_head", "(head + 1) % model.num_heads"), ("head_after", "head + 1")):
    wrong(
        name,
        "    start, stop",
        f"    head = {after}\n    start, stop",
        "Your slice begins one head too late. Which columns belong to head 0?",
    )
wrong(
    "all_the_others",
    "changed.out_proj.weight[:, start:stop] = 0",
    "changed.out_proj.weight[:, :start] = 0\n        changed.out_proj.weight[:, stop:] = 0",
    "You ablate all heads except this one. Which part should be removed, and which should stay?",
)
wrong(
    "last_bias_zeroed",
    "start:stop] = 0",
    "start:stop] = 0\n"
    "        if changed.out_proj.bias is not None:\n"
    "            changed.out_proj.bias[:] = 0",
    "The bias of the last layer is zero as well. Which head does it belong to?",
)
BIAS = "changed.out_proj.bias"
SHARE_OF_THE_BIAS = (
    "You also take a part of the last layer's bias away, as if each head had a share of it. Where "
    "in the formula is that bias added, before or after the heads are joined?"
)
for name, change in (
    ("share_of_the_bias_removed", f"{BIAS} *= 1 - 1 / model.num_heads"),
    ("share_of_the_bias_kept", f"{BIAS} /= model.num_heads"),
    ("slice_of_the_bias_zeroed", f"{BIAS}[start:stop] = 0"),
):
    wrong(
        name,
        "start:stop] = 0",
        f"start:stop] = 0\n        if {BIAS} is not None:\n            {change}",
        SHARE_OF_THE_BIAS,
    )
wrong(
    "nothing_ablated",
    "    with torch.no_grad():\n        changed.out_proj.weight[:, start:stop] = 0\n",
    "",
    "Nothing was removed: the copy's output equals the model's. What should your function change?",
)
NO_SUCH_HEAD = (
    "Your function accepts a number that no head has, for example 3 if there are three heads. "
    "Which number has the last of three heads, and which error does the task ask for after it?"
)
wrong(
    "any_number_taken",
    '    if not 0 <= head < model.num_heads:\n        raise IndexError("no such head")\n',
    "",
    NO_SUCH_HEAD,
)
NEGATIVE_HEADS = (
    "You refuse numbers that are too large, but not -1. According to the task, which numbers are "
    "heads?"
)
wrong(
    "negative_heads_taken",
    "not 0 <= head < model.num_heads",
    "head >= model.num_heads",
    NEGATIVE_HEADS,
)
wrong(
    "one_head_too_many",
    "head < model.num_heads",
    "head <= model.num_heads",
    NO_SUCH_HEAD,
)
wrong(
    "another_error",
    "raise IndexError",
    "raise ValueError",
    "You refuse a head that does not exist, but with another error than the task names. Which one "
    "is it there?",
)
wrong(
    "head_asserted",
    'if not 0 <= head < model.num_heads:\n        raise IndexError("no such head")',
    "assert 0 <= head < model.num_heads",
    "An `assert` raises AssertionError, and vanishes when Python runs with -O. Wrong arguments are "
    "reported with another error: which one does the task name?",
)
wrong.several(
    "counted_from_the_end",
    {
        "not 0 <= head": "not -model.num_heads <= head",
        "    start, stop": "    head %= model.num_heads\n    start, stop",
    },
    NEGATIVE_HEADS,
)
wrong(
    "copy_frozen",
    "return changed",
    "return changed.requires_grad_(False)",
    "The copy has no gradients any more: its parameters were frozen, or it runs under `no_grad`. "
    "Which part of your code needs that, and which does not?",
)
wrong(
    "last_layer_frozen",
    "return changed",
    "changed.out_proj.weight.requires_grad_(False)\n    return changed",
    "The last layer of the copy is frozen: its weight can no longer be trained. Which part of your "
    "code needs no gradients, and which does?",
)
wrong(
    "columns_taken_out",
    "    with torch.no_grad():\n        changed.out_proj.weight[:, start:stop] = 0",
    "    weight = changed.out_proj.weight.data\n"
    "    kept = torch.cat([weight[:, :start], weight[:, stop:]], 1)\n"
    "    changed.out_proj.weight = nn.Parameter(kept)",
    "You remove the head's columns, so the last layer is narrower than its input. What can you "
    "put in their place, so that all shapes stay?",
)
wrong(
    "built_anew",
    "return changed",
    "return changed.train()",
    "The copy is always in training mode, even if the model is not. A new module starts in "
    "training mode: which other state must you copy?",
)
SIZES = "model.out_proj.out_features, model.num_heads, model.d_k, model.d_v"
for name, options in (
    ("dropout_lost", "bias=model.out_proj.bias is not None"),
    ("bias_and_dropout_lost", "bias=True"),
):
    wrong(
        name,
        "copy.deepcopy(model)",
        f"type(model)({SIZES}, {options})\n"
        "    changed.to(model.out_proj.weight.dtype).load_state_dict(model.state_dict())\n"
        "    changed.train(model.training)",
        "You build a new layer and load the model's weights into it, so whatever is not a weight "
        "has its default again. Which other arguments does the model's class take?",
    )
for name, sizes, options in (
    ("dtype_lost", SIZES, ", bias=model.out_proj.bias is not None"),
    ("arguments_lost", "model.out_proj.out_features, model.num_heads", ""),
):
    wrong(
        name,
        "copy.deepcopy(model)",
        f"type(model)({sizes}{options})\n"
        "    changed.load_state_dict(model.state_dict())\n"
        "    changed.train(model.training)",
        "Your copy is a new layer, and it does not keep the model's dtype, or not all arguments "
        "that the model was made with. What copies a module with everything in it?",
    )

wrong = exercise.edits(by_leaving_it_out)

wrong(
    "batch_of_one_dropped",
    "return heads.flatten(-2)",
    "return heads.flatten(-2).squeeze(0)",
    "A batch of a single text loses its axis in your copy. The copy is called in the same way as "
    "the model: which call drops an axis of length 1?",
)
wrong(
    "others_scaled_up",
    "return heads.flatten(-2)",
    "return heads.flatten(-2) * model.num_heads / max(1, model.num_heads - len(changed.ablated))",
    "The other heads grow to make up for the missing one. Ablation removes something and leaves "
    "the rest unchanged. Where does your factor come from?",
)
wrong(
    "replaced_by_the_mean",
    "= 0",
    "= 0\n"
    "        mean = heads.sum(-2, keepdim=True) / max(1, model.num_heads - len(changed.ablated))\n"
    "        heads[..., list(changed.ablated), :] = mean",
    "You replace the head by the mean of the others. That is an experiment, too, but what should "
    "an ablated head contribute?",
)


class Around(nn.Module):
    """A module around a model, without the model's attributes."""

    def __init__(self, model):
        super().__init__()
        self.model = model
        self.train(model.training)

    def forward(self, *given, **options):
        return self.model(*given, **options)


@exercise.mistake(
    "You return a new module around the copy, and it lacks what your function reads from a model. "
    "What happens when a second head of it is ablated?"
)
def not_ablated_again(model, head):
    return Around(columns_zeroed(model, head))


class ScoresZeroed(MultiHeadAttention):
    """A model in which some heads' scores are 0, even at masked keys."""

    zeroed = ()

    def forward(self, q, k, v, mask=None, need_weights=False):
        q = split_heads(self.q_proj(q), self.num_heads)  # (B, h, Lq, d_k)
        k = split_heads(self.k_proj(k), self.num_heads)  # (B, h, Lk, d_k)
        v = split_heads(self.v_proj(v), self.num_heads)  # (B, h, Lk, d_v)
        scores = q @ k.mT / self.d_k**0.5  # (B, h, Lq, Lk)
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e300)
        scores[:, list(self.zeroed)] = 0
        weights = scores.softmax(-1)
        if mask is not None:
            weights = weights * mask.any(-1, keepdim=True)
        out = self.out_proj(merge_heads(self.dropout(weights) @ v))
        return (out, weights) if need_weights else out


@exercise.mistake(
    "The head's scores are set to 0 before the softmax: e⁰ is 1, so the head looks everywhere "
    "equally, even at masked keys, and still contributes. What should be zero: scores, or the "
    "head's part of the output?"
)
def scores_zeroed(model, head):
    if not 0 <= head < model.num_heads:
        raise IndexError("no such head")
    changed = copy.deepcopy(model)
    changed.__class__ = ScoresZeroed
    changed.zeroed = (*getattr(model, "zeroed", ()), head)
    return changed
