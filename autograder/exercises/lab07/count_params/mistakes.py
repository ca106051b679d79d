"""Known mistakes in `count_params`, most of them edits of a right version."""

from __future__ import annotations

import torch

from attnlab.encoder_decoder import Transformer

from . import exercise
from .also_right import part_by_part

SOURCE = '    if cfg.tie != "all":\n        total += cfg.source_vocab * d\n'
HEAD = '    if cfg.tie == "none":\n        total += cfg.target_vocab * d\n'
AFTER = '    if cfg.norm == "pre":\n        total += 2 * norm\n'

wrong = exercise.edits(part_by_part)

wrong.several(
    "no_biases",
    {"4 * d * d + 4 * d": "4 * d * d", "d * f + f + f * d + d": "d * f + f * d"},
    "Your layers have no biases. How many numbers does an `nn.Linear(3, 5)` have?",
)
wrong(
    "attention_without_biases",
    "4 * d * d + 4 * d",
    "4 * d * d",
    "You count no biases in the attentions. Which four layers does an attention have, and which "
    "bias has each?",
)
wrong(
    "network_without_biases",
    "d * f + f + f * d + d",
    "d * f + f * d",
    "You count no biases in the feed-forward networks. How many numbers are added after each of "
    "the two products?",
)
wrong(
    "no_bias_after_the_heads",
    "4 * d * d + 4 * d",
    "4 * d * d + 3 * d",
    "You leave out one bias of each attention. Which of its four layers is left without?",
)
wrong(
    "bias_after_the_heads_only",
    "4 * d * d + 4 * d",
    "4 * d * d + d",
    "Queries, keys and values have no biases in your count. What do the three layers add (4.2)?",
)
wrong.several(
    "matrices_only",
    {
        "4 * d * d + 4 * d": "4 * d * d",
        "d * f + f + f * d + d": "d * f + f * d",
        "norm = 2 * d": "norm = 0",
    },
    "You count matrices only: a good estimate, but each layer also has vectors. Which parts have "
    "them?",
)
wrong(
    "two_biases_of_one_size",
    "d * f + f + f * d + d",
    "d * f + d + f * d + d",
    "Both biases of your feed-forward network have d_model numbers. How wide is the output of its "
    "first layer?",
)
wrong(
    "three_projections",
    "4 * d * d + 4 * d",
    "3 * d * d + 3 * d",
    "You count queries, keys and values. What comes after the heads in an attention?",
)
wrong(
    "one_projection",
    "4 * d * d + 4 * d",
    "2 * d * d + 2 * d",
    "You count one matrix for queries, keys and values together. How many does an attention have?",
)
wrong(
    "four_for_each_head",
    "4 * d * d + 4 * d",
    "cfg.num_heads * (4 * d * d + 4 * d)",
    "You count four whole matrices for every head. How wide is a head if there are h of them?",
)
wrong(
    "one_head_only",
    "4 * d * d + 4 * d",
    "4 * d * (d // cfg.num_heads) + 4 * (d // cfg.num_heads)",
    "You count the matrices of a single head. How many heads does each attention have?",
)
wrong(
    "heads_with_narrow_biases",
    "4 * d * d + 4 * d",
    "4 * d * d + 3 * (d // cfg.num_heads) + d",
    "Your biases of queries, keys and values are as wide as one head. How many heads add a bias?",
)
wrong(
    "no_norms",
    "norm = 2 * d",
    "norm = 0",
    "You count no parameters in the normalisations. What did you register in lab 6's `LayerNorm`?",
)
wrong(
    "norm_without_bias",
    "norm = 2 * d",
    "norm = d",
    "You count one vector for each normalisation. Which two does it have?",
)
wrong(
    "norm_of_two_numbers",
    "norm = 2 * d",
    "norm = 2",
    "You count two numbers for each normalisation, not two vectors. What does it scale: the whole "
    "vector, or each feature?",
)
wrong(
    "one_norm_in_each_layer",
    "    encoder_layer = attention + network + 2 * norm\n"
    "    decoder_layer = attention + attention + network + 3 * norm\n",
    "    encoder_layer = attention + network + norm\n"
    "    decoder_layer = attention + attention + network + norm\n",
    "You count one normalisation for each layer. How many residuals does a layer have?",
)
wrong(
    "two_norms_in_a_decoder_layer",
    "3 * norm",
    "2 * norm",
    "Your decoder layers have as many normalisations as the encoder's. How many residuals does a "
    "decoder layer have?",
)
wrong(
    "cross_attention_forgotten",
    "attention + attention + network + 3 * norm",
    "attention + network + 3 * norm",
    "Your decoder layers have one attention. With which one do they look at the source?",
)
wrong(
    "decoder_like_encoder",
    "attention + attention + network + 3 * norm",
    "attention + network + 2 * norm",
    "You count decoder layers like encoder layers. What do they have more (7.2)?",
)
wrong(
    "cross_attention_in_the_encoder",
    "encoder_layer = attention + network + 2 * norm",
    "encoder_layer = attention + attention + network + 3 * norm",
    "You count two attentions in an encoder layer. What could it look at with the second?",
)
wrong(
    "norms_after_the_stacks_forgotten",
    AFTER,
    "",
    'With norm "pre", two normalisations are missing from your sum. Where are they in 7.3?',
)
wrong(
    "norms_after_the_stacks_always",
    AFTER,
    "    total += 2 * norm\n",
    'With norm "post", you count a normalisation after each stack. Which config of 7.3 has them?',
)
wrong(
    "one_norm_after_the_stacks",
    AFTER,
    AFTER.replace("2 * norm", "norm"),
    'With norm "pre", you count one normalisation after the stacks. How many stacks are there?',
)
wrong(
    "norms_the_other_way_round",
    'cfg.norm == "pre"',
    'cfg.norm == "post"',
    'Your normalisations after the stacks belong to "post". Which of the two needs them, and why '
    "(6.7)?",
)
wrong.several(
    "three_tables_always",
    {'    if cfg.tie != "all":\n    ': "", '    if cfg.tie == "none":\n    ': ""},
    "You count three tables, whatever cfg.tie says. How many times does a table count that is used "
    "three times?",
)
wrong(
    "source_table_always",
    '    if cfg.tie != "all":\n    ',
    "",
    'With tie "all", you still count a table for the source. Which tables are one parameter then?',
)
wrong(
    "head_counted_if_tied",
    'if cfg.tie == "none":',
    'if cfg.tie != "all":',
    'With tie "output", you count the head as a table of its own. Which tables are one parameter '
    "then?",
)
wrong(
    "head_always_counted",
    '    if cfg.tie == "none":\n    ',
    "",
    "You count a head in any case. In which of the three ways to tie is its table a parameter of "
    "its own?",
)
wrong(
    "head_never_counted",
    HEAD,
    "",
    'With tie "none", your head has no weights. How many tables are there then?',
)
wrong(
    "no_tables",
    "    total += cfg.target_vocab * d\n" + SOURCE + HEAD,
    "",
    "You count the layers and no table of symbols. Which parts of 7.3 depend on the vocabulary?",
)
wrong(
    "source_of_the_targets_size",
    "total += cfg.source_vocab * d",
    "total += cfg.target_vocab * d",
    "Your source table has as many rows as the target has symbols. Which number of cfg fits?",
)
wrong(
    "head_with_bias",
    "    return total",
    "    return total + cfg.target_vocab",
    "You count a number too many for each target symbol. What does 7.3 say about the head's bias?",
)
wrong(
    "positions_counted",
    "    return total",
    "    return total + cfg.max_len * d",
    "You count the table of positions. Is it learned (6.3)?",
)
wrong(
    "positions_counted_twice",
    "    return total",
    "    return total + 2 * cfg.max_len * d",
    "You count tables of positions for both sides. Are they learned (6.3)?",
)
wrong(
    "four_times_as_wide",
    "d, f = cfg.d_model, cfg.d_ff",
    "d, f = cfg.d_model, 4 * cfg.d_model",
    "Your feed-forward networks are always four times as wide as d_model. Which number of cfg do "
    "you never use?",
)
wrong(
    "network_with_one_layer",
    "d * f + f + f * d + d",
    "d * f + f",
    "You count one layer in a feed-forward network. How does the vector come back to d_model?",
)
wrong(
    "as_many_decoder_layers",
    "total += cfg.num_decoder_layers * decoder_layer",
    "total += cfg.num_encoder_layers * decoder_layer",
    "Your decoder has as many layers as the encoder. Which number does cfg have for it?",
)
wrong(
    "one_layer_each",
    "total = cfg.num_encoder_layers * encoder_layer\n"
    "    total += cfg.num_decoder_layers * decoder_layer",
    "total = encoder_layer\n    total += decoder_layer",
    "You count one layer on each side. How many are there, according to cfg?",
)
wrong(
    "in_millions",
    "    return total",
    "    return total / 1e6",
    "You return millions. In which unit does the task want the number?",
)
wrong(
    "as_a_float",
    "    return total",
    "    return float(total)",
    "Your number is a float. Which type does the task ask for?",
)


@exercise.mistake(
    "Your function builds the model on torch's `meta` device and adds up what it has. That needs "
    "no memory, but what does the task ask for?"
)
def built_on_meta(cfg):
    with torch.device("meta"):
        model = Transformer(cfg)
    return sum(parameter.numel() for parameter in model.parameters())


@exercise.mistake(
    "Your function builds the model on torch's `meta` device and counts its `state_dict`, in which "
    "a tied table appears under each of its names. What does the task ask for?"
)
def state_of_a_built_model(cfg):
    with torch.device("meta"):
        model = Transformer(cfg)
    return sum(tensor.numel() for tensor in model.state_dict().values())
