"""Known mistakes in the first weights, and in their number."""

from __future__ import annotations

from . import exercise
from .also_right import by_kind, part_by_part

wrong = exercise.edits(by_kind, of="init_gpt")

LAST = """    for block in model.blocks:
        nn.init.normal_(block.attention.out_proj.weight, std=std, generator=generator)
        nn.init.normal_(block.linear2.weight, std=std, generator=generator)
"""
LINEAR = "            nn.init.normal_(module.weight, mean=0.0, std=0.02, generator=generator)\n"
STD = "0.02 / math.sqrt(2 * model.cfg.num_layers)"

wrong(
    "residuals_not_scaled",
    LAST,
    "",
    "The last layers of your residual branches are drawn like all others, so the stream grows with "
    "every block. Which two layers of a block does the task name?",
)
wrong(
    "scaled_by_layers",
    STD,
    "0.02 / math.sqrt(model.cfg.num_layers)",
    "You divide by √L. How many branches does a model of L blocks add to its stream?",
)
wrong(
    "without_the_root",
    STD,
    "0.02 / (2 * model.cfg.num_layers)",
    "You divide the deviation by 2L. Variances add up in the stream: what does that say about "
    "deviations?",
)
wrong(
    "scaled_up",
    STD,
    "0.02 * math.sqrt(2 * model.cfg.num_layers)",
    "The last layers of your branches are larger than all others. Should the stream grow or not?",
)
wrong(
    "attention_only",
    "        nn.init.normal_(block.linear2.weight, std=std, generator=generator)\n",
    "",
    "Only the attention's last layer is scaled. Which other branch adds to the stream?",
)
wrong(
    "network_only",
    "        nn.init.normal_(block.attention.out_proj.weight, std=std, generator=generator)\n",
    "",
    "Only the network's last layer is scaled. Which other branch adds to the stream?",
)
wrong(
    "first_layer_scaled",
    "nn.init.normal_(block.linear2.weight",
    "nn.init.normal_(block.linear1.weight",
    "You scale the first layer of the network. Which one writes into the stream?",
)
wrong(
    "not_the_number_of_layers",
    STD,
    "0.02 / math.sqrt(2)",
    "Your scale does not depend on the number of blocks. What grows with it?",
)
wrong(
    "tables_as_torch_draws_them",
    "        elif isinstance(module, nn.Embedding):\n" + LINEAR,
    "        elif isinstance(module, nn.Embedding):\n"
    "            nn.init.normal_(module.weight, generator=generator)\n",
    "Your tables have deviation 1. The head is one of them: how large are the first logits then, "
    "and how far is the first loss from ln V?",
)
wrong(
    "xavier",
    "        if isinstance(module, nn.Linear):\n" + LINEAR,
    "        if isinstance(module, nn.Linear):\n"
    "            nn.init.xavier_uniform_(module.weight, generator=generator)\n",
    "Your linear layers are drawn by Xavier's rule, as in lab 7. Which distribution does the task "
    "name?",
)
wrong(
    "uniform",
    "        if isinstance(module, nn.Linear):\n" + LINEAR,
    "        if isinstance(module, nn.Linear):\n"
    "            a = 0.02 * math.sqrt(3)\n"
    "            nn.init.uniform_(module.weight, -a, a, generator=generator)\n",
    "Your linear layers have the right deviation, but no number is far from 0. Which distribution "
    "does the task name?",
)
wrong(
    "mean_for_deviation",
    "        if isinstance(module, nn.Linear):\n" + LINEAR,
    "        if isinstance(module, nn.Linear):\n" + LINEAR.replace("mean=0.0, std=0.02", "0.02"),
    "Your linear layers have a *mean* of 0.02. Which argument of `nn.init.normal_` comes first?",
)
wrong(
    "variance_for_deviation",
    "        if isinstance(module, nn.Linear):\n" + LINEAR,
    "        if isinstance(module, nn.Linear):\n" + LINEAR.replace("0.02", "0.02**0.5"),
    "Your linear layers have a *variance* of 0.02. Which of the two does `nn.init.normal_` take?",
)
wrong(
    "positions_left",
    "        elif isinstance(module, nn.Embedding):\n",
    "        elif isinstance(module, nn.Embedding) and module is not model.positions:\n",
    "Your table of positions keeps its old numbers. Which modules does the task name?",
)
wrong(
    "biases_left",
    "            if module.bias is not None:\n                nn.init.zeros_(module.bias)\n",
    "",
    "The biases of your linear layers keep their old numbers. What does the task say about them?",
)
wrong(
    "norms_of_zeros",
    "            nn.init.ones_(module.weight)\n",
    "            nn.init.zeros_(module.weight)\n",
    "The weights of your norms are 0, so every sublayer reads zeros. What does a norm multiply by "
    "at the start?",
)
wrong(
    "norms_left",
    "            nn.init.ones_(module.weight)\n            nn.init.zeros_(module.bias)\n",
    "            pass\n",
    "Your norms keep their old numbers. What does the task say about them?",
)
wrong(
    "generator_ignored",
    LAST,
    LAST.replace(", generator=generator", ""),
    "Part of your numbers come from torch's own random state although a generator is given. Which "
    "calls leave it out?",
)
wrong(
    "own_seed",
    f"    std = {STD}\n",
    f"    torch.manual_seed(0)\n    std = {STD}\n",
    "You set the seed of torch's own random state, which all other code shares. Who should choose "
    "the seed?",
)
wrong(
    "tie_broken",
    LAST,
    f"{LAST}    model.head.weight = nn.Parameter(model.head.weight.detach().clone())\n",
    "After your function, the head has a table of its own. What do the functions of `nn.init` do "
    "to the tensor that they get?",
)

wrong = exercise.edits(part_by_part, of="count_gpt_params")

wrong(
    "head_counted_again",
    "return V * d + T * d",
    "return 2 * V * d + T * d",
    "You count the head and the table of tokens. How many parameters are they?",
)
wrong(
    "no_positions",
    "V * d + T * d + L",
    "V * d + L",
    "You count no positions. Are they computed here, as in lab 6, or learned?",
)
wrong(
    "biases_forgotten",
    "    attention = 4 * (d * d + d)\n    mlp = d * 4 * d + 4 * d + 4 * d * d + d\n",
    "    attention = 4 * d * d\n    mlp = d * 4 * d + 4 * d * d\n",
    "You leave out the biases. Which layer alone has none?",
)
wrong(
    "norms_forgotten",
    "norms = 2 * 2 * d",
    "norms = 0",
    "You leave out the norms inside the blocks. Which parameters does an `nn.LayerNorm` have?",
)
wrong(
    "norms_with_one_vector",
    "norms = 2 * 2 * d",
    "norms = 2 * d",
    "You count one vector for each norm. Which parameters does an `nn.LayerNorm` have?",
)
wrong(
    "last_norm_forgotten",
    ") + 2 * d",
    ")",
    "You leave out one norm. Where in the model is there one outside of the blocks?",
)
wrong(
    "heads_times_as_many",
    "attention = 4 * (d * d + d)",
    "attention = 4 * (d * d * cfg.num_heads + d)",
    "Your count depends on the number of heads. What do heads do to the matrices of lab 4?",
)
wrong(
    "three_matrices",
    "attention = 4 * (d * d + d)",
    "attention = 3 * (d * d + d)",
    "You count three matrices in the attention. Which one comes after the heads?",
)
wrong(
    "head_with_bias",
    ") + 2 * d",
    ") + 2 * d + V",
    "You count a bias of the head. What does the task say about it?",
)
wrong(
    "a_float",
    "    return V * d",
    "    return 1.0 * V * d",
    "You return a float, which rounds from 2⁵³ on. Which type counts things?",
)
