"""init_weights: the numbers with which training starts, and what the model does with them."""

from __future__ import annotations

import math

import torch
from torch import nn

from attnlab.checking.judges import Close
from attnlab.encoder_decoder import Transformer, init_weights
from attnlab.transformer_config import TransformerConfig
from gradekit.exercise import Exercise

exercise = Exercise(init_weights, uses=[Transformer])


def small(**others):
    """A small model's numbers, with 37 target symbols."""
    usual = {
        "d_model": 64, "num_heads": 4, "d_ff": 96, "num_encoder_layers": 1, "num_decoder_layers": 1,
        "dropout": 0.0, "max_len": 40, "tie": "none",
    }  # fmt: skip
    return TransformerConfig(**{"source_vocab": 37, "target_vocab": 37, **usual, **others})


def fresh(lab, **others):
    """A student's model after `init_weights`, not in training."""
    model = lab.Transformer(small(**others)).eval()
    lab.init_weights(model)
    return model


def batch(draw):
    """Random sources without padding, and random targets."""
    source, target = draw.integers(0, 37, 20, 9), draw.integers(0, 37, 20, 30)
    return source, torch.ones_like(source, dtype=torch.bool), target


def of_kind(model, kind):
    return [module for module in model.modules() if isinstance(module, kind)]


def largest(tensors):
    return max((float(tensor.detach().abs().max()) for tensor in tensors), default=0.0)


def deviation(tensors):
    """The standard deviation of all numbers together."""
    return float(torch.cat([tensor.detach().flatten() for tensor in tensors]).std())


@exercise.check(points=0.75, judge=Close(atol=0.1))
def sizes_of_weights(lab, draw):
    """Linear layers, their biases, tables and the head have the size that the task names."""
    model = fresh(lab, target_vocab=41)
    head = [m.weight for m in of_kind(model, nn.Linear) if m.out_features == 41]
    layers = [m for m in of_kind(model, nn.Linear) if m.out_features != 41]
    bounds = [math.sqrt(6 / sum(m.weight.shape)) for m in layers]
    scaled = [m.weight / bound for m, bound in zip(layers, bounds, strict=True)]
    return {
        "linear layers: largest weight, by Xavier's bound": largest(scaled),
        "linear layers: deviation, by Xavier's bound": deviation(scaled),
        "linear layers: largest bias": largest(m.bias for m in layers if m.bias is not None),
        "tables: deviation times the root of d_model": (
            deviation([m.weight for m in of_kind(model, nn.Embedding)]) * 8
        ),
        "head: deviation, by 0.02": deviation(head) / 0.02,
    }


@exercise.check(points=0.5, judge=Close(atol=0.1))
def first_loss(lab, draw):
    """With a head of its own, a fresh model's loss is ln V, except for 0.1."""
    seen = {}
    for norm in ("pre", "post"):
        source, valid, target = batch(draw)
        logits = fresh(lab, norm=norm)(source, valid, target).flatten(0, 1)
        labels = draw.integers(0, 37, logits.shape[0])
        loss = nn.functional.cross_entropy(logits, labels)
        seen[f"{norm}: loss minus ln V"] = float(loss.detach()) - math.log(37)
    return seen


@exercise.check(points=0.5, judge=Close(atol=0.15))
def own_input(lab, draw):
    """A fresh pre-norm model writes what it has just read if it is tied, and only then."""
    seen = {}
    for tie in ("all", "output", "none"):
        source, valid, target = batch(draw)
        written = fresh(lab, tie=tie)(source, valid, target).argmax(-1)
        seen[f'tie="{tie}": share of positions'] = float((written == target).double().mean())
    return seen


@exercise.check(points=0.5, hidden=True, judge=Close(atol=0.1))
def tied_tables(lab, draw):
    """Tied tables stay tied, and are drawn like tables."""
    seen = {}
    for tie in ("output", "all"):
        model = fresh(lab, tie=tie)
        tables = [p for p in model.parameters() if tuple(p.shape) == (37, 64)]
        seen[f'tie="{tie}"'] = {
            "tables": len(tables),
            "deviation times the root of d_model": 8 * deviation(tables),
        }
    return seen


@exercise.check(points=0.5, hidden=True)
def nothing_else(lab, draw):
    """All parameters stay the same objects and can be trained; normalisations stay unchanged."""
    model = lab.Transformer(small()).double()
    parts = (*of_kind(model, nn.Linear), *of_kind(model, nn.Embedding))
    drawn = {id(parameter) for part in parts for parameter in part.parameters()}
    before = list(model.parameters())
    others = [parameter for parameter in before if id(parameter) not in drawn]
    with torch.no_grad():
        for parameter in others:
            parameter.copy_(draw.normal(*parameter.shape))
    kept = [parameter.detach().clone() for parameter in others]
    returned = lab.init_weights(model)
    after = list(model.parameters())
    return {
        "the same objects": len(before) == len(after)
        and all(one is other for one, other in zip(before, after, strict=True)),
        "all can be trained": all(parameter.requires_grad for parameter in after),
        "normalisations as they were": all(map(torch.equal, others, kept)),
        "returns": type(returned).__name__,
    }


@exercise.check(points=0.25, hidden=True)
def drawn_anew(lab, draw):
    """Each call draws other numbers for everything, also if all was 0 before."""
    model = lab.Transformer(small())
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
    lab.init_weights(model)
    first = [p.detach().clone() for p in model.parameters() if p.ndim > 1]
    lab.init_weights(model)
    second = [p.detach() for p in model.parameters() if p.ndim > 1]
    return {
        "equal after a second call": sum(map(torch.equal, first, second)),
        "matrices with a 0": sum(bool((matrix == 0).any()) for matrix in second),
    }


exercise.promises(
    {
        "Draw the weights of a Transformer anew, in place, for the start of its training.": (
            "drawn_anew nothing_else"
        ),
        "- The weight of each `nn.Linear`: Xavier, uniform. Its bias, if it has one: 0.": (
            "sizes_of_weights"
        ),
        "- The table of each `nn.Embedding`: normal with mean 0 and standard deviation 1/√d_model, "
        "so a row has a length of about 1.": "sizes_of_weights tied_tables",
        "- The weight of `model.head`, if it is not one of these tables: normal with mean 0 and "
        "standard deviation 0.02, so all symbols begin about equally likely.": (
            "sizes_of_weights first_loss tied_tables"
        ),
        "Nothing else changes. All parameters stay the same objects, so tied tables stay tied.": (
            "nothing_else tied_tables own_input"
        ),
        "The random numbers come from torch's own generator.": "drawn_anew",
        "model: a `Transformer`, or another module with a `head`.": "sizes_of_weights",
    },
)


@exercise.also_right
def by_kind(model):
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
    tables = [module.weight for module in model.modules() if isinstance(module, nn.Embedding)]
    for table in tables:
        nn.init.normal_(table, std=table.shape[1] ** -0.5)
    if not any(model.head.weight is table for table in tables):
        nn.init.normal_(model.head.weight, std=0.02)


@exercise.also_right
def with_apply(model):
    tables = {id(m.weight) for m in model.modules() if isinstance(m, nn.Embedding)}

    def draw(module):
        if isinstance(module, nn.Embedding):
            module.weight.data.normal_(0.0, 1 / math.sqrt(module.embedding_dim))
        elif isinstance(module, nn.Linear) and id(module.weight) not in tables:
            if module is model.head:
                module.weight.data.normal_(std=0.02)
            else:
                nn.init.xavier_uniform_(module.weight.data)
            if module.bias is not None:
                module.bias.data.zero_()

    model.apply(draw)


@exercise.also_right
@torch.no_grad()
def by_name(model):
    for name, parameter in model.named_parameters():
        if "embedding" in name:
            parameter.copy_(torch.randn_like(parameter) / parameter.shape[1] ** 0.5)
        elif name == "head.weight":
            parameter.copy_(0.02 * torch.randn_like(parameter))
        elif parameter.ndim == 2:
            rows, columns = parameter.shape
            bound = math.sqrt(6 / (rows + columns))
            parameter.uniform_(-bound, bound)
        elif name.endswith("bias") and "norm" not in name:
            parameter.zero_()


wrong = exercise.edits(by_kind)

LAYERS_DRAWN = """    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
"""
TABLES_DRAWN = """    for table in tables:
        nn.init.normal_(table, std=table.shape[1] ** -0.5)
"""
TABLES = "        nn.init.normal_(table, std=table.shape[1] ** -0.5)"
HEAD = "    if not any(model.head.weight is table for table in tables):\n        nn.init"

wrong(
    "head_in_any_case",
    HEAD,
    "    nn.init",
    "You draw the head with 0.02 in a tied model, too, and so the table of symbols. How long are "
    "its rows then?",
)
wrong(
    "head_like_a_layer",
    f"{HEAD}.normal_(model.head.weight, std=0.02)\n",
    "",
    "Your head is drawn like every other linear layer, so the first logits are too large. What "
    "does the task say about the head?",
)
wrong.several(
    "layers_after_tables",
    {LAYERS_DRAWN: "", TABLES_DRAWN: TABLES_DRAWN + LAYERS_DRAWN},
    "In a tied model, the table of symbols is drawn twice, and the second time as a linear layer. "
    "Which module does it belong to that you reach last?",
)
wrong(
    "tables_left",
    TABLES,
    "        pass",
    "You leave the tables as torch draws them. What is the standard deviation of a new "
    "`nn.Embedding`?",
)
wrong(
    "tables_like_layers",
    TABLES,
    "        nn.init.xavier_uniform_(table)",
    "Your tables are drawn like linear layers, so their numbers depend on the number of symbols. "
    "Which deviation does the task name?",
)
wrong(
    "tables_like_the_head",
    "std=table.shape[1] ** -0.5",
    "std=0.02",
    "Your tables are drawn with 0.02. How long is a row of d_model such numbers?",
)
wrong(
    "by_the_number_of_symbols",
    "table.shape[1] ** -0.5",
    "table.shape[0] ** -0.5",
    "The deviation of your tables depends on the number of symbols. Which axis of a table is "
    "d_model?",
)
wrong(
    "variance_for_deviation",
    "table.shape[1] ** -0.5",
    "table.shape[1] ** -1.0",
    "Your tables have the deviation 1/d_model. What is between a variance and a deviation?",
)
wrong(
    "scaled_already",
    TABLES,
    "        nn.init.normal_(table, std=1.0)",
    "Your tables have deviation 1. What does the model multiply their rows by (7.3)?",
)
wrong(
    "normal_layers",
    "nn.init.xavier_uniform_",
    "nn.init.xavier_normal_",
    "The weights of your linear layers are normal. Which distribution does the task name?",
)
wrong(
    "kaiming_layers",
    "nn.init.xavier_uniform_(module.weight)",
    "nn.init.kaiming_uniform_(module.weight)",
    "Your linear layers are drawn by another rule than Xavier's: only the number of inputs counts. "
    "Which function of `nn.init` is Xavier's?",
)
wrong(
    "layers_left",
    "            nn.init.xavier_uniform_(module.weight)\n",
    "",
    "The weights of your linear layers are still those that torch drew. Which rule does the task "
    "name?",
)
wrong(
    "larger_layers",
    "nn.init.xavier_uniform_(module.weight)",
    'nn.init.xavier_uniform_(module.weight, gain=nn.init.calculate_gain("relu"))',
    "Your linear layers are larger by a factor, a gain. Does the task name one?",
)
wrong(
    "all_small",
    "nn.init.xavier_uniform_(module.weight)",
    "nn.init.normal_(module.weight, std=0.02)",
    "All your linear layers are drawn with 0.02, as in GPT-2. For which one does the task name "
    "this number?",
)
wrong(
    "biases_left",
    "            if module.bias is not None:\n                nn.init.zeros_(module.bias)\n",
    "",
    "Your biases are still those that torch drew. What does the task say about them?",
)
wrong(
    "head_of_zeros",
    "nn.init.normal_(model.head.weight, std=0.02)",
    "nn.init.zeros_(model.head.weight)",
    "Your head is 0: the first loss is right, but no gradient passes it to the layers below. Which "
    "deviation does the task name?",
)
wrong(
    "larger_head",
    "std=0.02",
    "std=0.2",
    "Your head is ten times too large, and so are the first logits. Which deviation does the task "
    "name?",
)
wrong(
    "vectors_of_zeros",
    "    tables = [",
    "    for parameter in model.parameters():\n"
    "        if parameter.ndim == 1:\n"
    "            nn.init.zeros_(parameter)\n"
    "    tables = [",
    "You set all vectors to 0, those of the normalisations as well: everything after one of them "
    "is 0. Which modules' biases are meant?",
)
wrong(
    "norms_reset",
    "    tables = [",
    "    for parameter in model.parameters():\n"
    "        if parameter.ndim == 1 and bool((parameter != 0).any()):\n"
    "            nn.init.ones_(parameter)\n"
    "    tables = [",
    "You change the normalisations, too. What does the task say about everything else?",
)
wrong(
    "first_level_only",
    "    for module in model.modules():",
    "    for module in model.children():",
    "You reach only the parts that the model holds itself, so the layers inside the stacks keep "
    "torch's numbers. Which method goes through all levels?",
)
wrong(
    "new_parameters",
    TABLES,
    f"{TABLES}\n"
    "    for module in model.modules():\n"
    "        if isinstance(module, nn.Embedding):\n"
    "            module.weight = nn.Parameter(module.weight.detach().clone())",
    "Your tables are new parameters, so a tied head still has the old one. What does `nn.init` do "
    "to the tensor that it gets?",
)
wrong(
    "own_seed",
    "    tables = [",
    "    torch.manual_seed(0)\n    tables = [",
    "Part of your numbers are the same in each call, because you set a seed. Who should choose the "
    "seed?",
)
wrong(
    "frozen",
    TABLES,
    f"{TABLES}\n        table.requires_grad_(False)",
    "Your tables cannot be trained any more. What did you switch off?",
)
