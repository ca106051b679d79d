"""Which checks hold each sentence of the task."""

from __future__ import annotations

from . import exercise

exercise.promises(
    {
        "Causal self-attention, then a feed-forward network: one layer of a GPT.": "one_block",
        "The parts have these names: `attention`, a `MultiHeadAttention(d_model, num_heads)`; "
        "`linear1` and `linear2`, two `nn.Linear` with bias, from d_model to 4 · d_model and back; "
        "`norm1` and `norm2`, an `nn.LayerNorm` before each of the two.": "one_block other_sizes",
        "Dropout acts in training on attention weights and on what each of the two sublayers adds "
        "to the stream, and nowhere else.": "dropout",
        "Each sublayer reads the normalised stream, and its output is added to the stream "
        "itself.": "one_block",
        "No position attends to a later one.": "one_block_looks_back",
        "Between the linear layers is GELU in its tanh form, as in the published models": (
            "one_block"
        ),
        "x: (B, T, d_model); stays unchanged.": "gradients",
        "(B, T, d_model). Gradients flow back to `x` and to all parameters.": "gradients one_block",
        "A decoder without an encoder: it reads tokens, and scores every token as the next one.": (
            "given_weights"
        ),
        "The parts have these names: `tokens` and `positions`, two `nn.Embedding` with "
        "cfg.vocab_size and cfg.context rows; `blocks`, an `nn.ModuleList` of cfg.num_layers "
        "`Block`s; `norm`, an `nn.LayerNorm` after the last block; and `head`, an `nn.Linear` from "
        "d_model to vocab_size without a bias.": "given_weights blocks_of_their_own tied",
        "`head.weight` and `tokens.weight` are one parameter.": "tied",
        "`cfg` is kept as `self.cfg`.": "shapes",
        "Score every token as the next one, at each position.": "given_weights",
        "The stream starts as the vector of the token plus the vector of its position, counted "
        "from 0; neither is scaled.": "given_weights",
        "(In training, dropout acts on this sum.)": "dropout",
        "No position sees a later token.": "never_looks_ahead",
        "ids: (B, T), int64, tokens; stays unchanged.": "gradients",
        "T is cfg.context at most.": "longest",
        "(B, T, vocab_size), logits: entry [b, t] is about the token after ids[b, t].": (
            "shapes given_weights"
        ),
        "Gradients flow back to all parameters on the way.": "gradients tied",
        "ValueError: T is larger than cfg.context.": "longest",
        "Draw all weights of a GPT anew, in place, as GPT-2 does.": "first_weights",
        "- The weights of all `nn.Linear` and `nn.Embedding` come from a normal distribution with "
        "mean 0 and standard deviation 0.02; biases of `nn.Linear` are 0.": (
            "first_weights first_loss"
        ),
        "- The last layer of each residual branch, `attention.out_proj` and `linear2` of a block, "
        "has the smaller deviation 0.02 / √(2 L), L = model.cfg.num_layers: the stream adds up "
        "2 L branches.": "first_weights",
        "- Weights of `nn.LayerNorm` are 1, and their biases 0.": "first_weights",
        "All parameters stay the same objects, so a tied head stays tied.": (
            "drawn_by_the_generator"
        ),
        "generator: the only source of randomness if it is given; else torch's own generator is.": (
            "drawn_by_the_generator"
        ),
        "The number of parameters of `GPT(cfg)`, by a formula: nothing is built.": (
            "four_sizes any_numbers"
        ),
        "Head and token table are one parameter and count once.": "four_sizes",
        "Positions are learned, so they count.": "four_sizes any_numbers",
        "A Python int.": "any_numbers",
    },
    explained=[
        "cfg: all numbers of the model; `d_model`, `num_heads` and `dropout` are used here.",
        "cfg: all numbers of the model.",
        "cfg: the numbers of the model.",
        "Send vectors through the block.",
        "model: a `GPT`, whose parts have the names of the task, with its numbers in `model.cfg`.",
    ],
)
