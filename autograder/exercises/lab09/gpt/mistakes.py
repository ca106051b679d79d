"""Known mistakes in a `Block`, in the first weights and in the count."""

from __future__ import annotations

from . import exercise, mistakes_in_the_model  # noqa: F401 - registers more
from .also_right import Plain, by_kind, part_by_part

wrong = exercise.edits(Plain, of="Block")

ATTEND = """        read = self.norm1(x)
        x = x + self.dropout1(self.attention(read, read, read, mask))
"""
NETWORK = """        read = self.norm2(x)
        hidden = F.gelu(self.linear1(read), approximate="tanh")
        return x + self.dropout2(self.linear2(hidden))
"""
GELU = 'F.gelu(self.linear1(read), approximate="tanh")'
MASK = "mask = torch.ones(T, T, dtype=torch.bool).tril()"

wrong.several(
    "PostNorm",
    {
        ATTEND: "        x = self.norm1(x + self.dropout1(self.attention(x, x, x, mask)))\n",
        NETWORK: '        hidden = F.gelu(self.linear1(x), approximate="tanh")\n'
        "        return self.norm2(x + self.dropout2(self.linear2(hidden)))\n",
    },
    "Your block is post-norm, as in the Transformer of 2017: it normalises the sums. What does the "
    "task say that each sublayer reads, and what is its output added to?",
)
wrong.several(
    "StreamNormalised",
    {
        ATTEND: ATTEND.replace("read", "x"),
        NETWORK: NETWORK.replace("read", "x"),
    },
    "Your sublayers' outputs are added to the normalised vectors, and the stream itself is lost. "
    "How many names does a vector need before and after a norm?",
)
wrong(
    "AttentionWithoutResidual",
    "x = x + self.dropout1(",
    "x = self.dropout1(",
    "Your attention replaces the stream. What should happen to its output instead?",
)
wrong(
    "NetworkWithoutResidual",
    "return x + self.dropout2(",
    "return self.dropout2(",
    "Your feed-forward network replaces the stream. What should happen to its output instead?",
)
wrong(
    "NoFirstNorm",
    "read = self.norm1(x)",
    "read = x",
    "Your attention reads the stream as it is. Which of your parts is never called?",
)
wrong(
    "NoSecondNorm",
    "read = self.norm2(x)",
    "read = x",
    "Your feed-forward network reads the stream as it is. Which of your parts is never called?",
)
wrong(
    "OneNormForBoth",
    "read = self.norm2(x)",
    "read = self.norm1(x)",
    "Both sublayers read through the same norm, so one pair of parameters serves twice. How many "
    "norms does the task name?",
)
wrong.several(
    "SideBySide",
    {
        ATTEND: "        read = self.norm1(x)\n"
        "        attended = self.dropout1(self.attention(read, read, read, mask))\n",
        "return x + self.dropout2(": "return x + attended + self.dropout2(",
    },
    "Your feed-forward network reads the stream as it was before the attention, as in GPT-J. In "
    "which order do the two work here?",
)
wrong(
    "QueriesOnlyNormalised",
    "self.attention(read, read, read, mask)",
    "self.attention(read, x, x, mask)",
    "Only your queries are normalised; keys and values come from the stream as it is. In "
    "self-attention, what do all three read?",
)
wrong(
    "NoMask",
    "self.attention(read, read, read, mask)",
    "self.attention(read, read, read)",
    "Your positions look ahead: the attention gets no mask. In training, each would read the token "
    "that it should predict.",
)
wrong(
    "MaskInverted",
    MASK,
    "mask = torch.ones(T, T, dtype=torch.bool).triu(1)",
    "Your mask shows the future and hides the past, as if True meant forbidden (as it does in "
    "torch's nn.MultiheadAttention). What does True mean in lab 4's attention?",
)
wrong(
    "MaskTransposed",
    MASK,
    "mask = torch.ones(T, T, dtype=torch.bool).triu()",
    "Your mask is the transpose of the causal one: each position sees itself and what comes after "
    "it. Which axis of it is the query's?",
)
wrong(
    "NotItself",
    MASK,
    "mask = torch.ones(T, T, dtype=torch.bool).tril(-1)",
    "No position sees itself, and the first one sees nothing at all. Is a position its own past?",
)
wrong(
    "OneAhead",
    MASK,
    "mask = torch.ones(T, T, dtype=torch.bool).tril(1)",
    "Each position sees the one after it: exactly the token that it should predict. Where does the "
    "diagonal of your mask run?",
)
wrong(
    "ReLU",
    GELU,
    "F.relu(self.linear1(read))",
    "Your network has ReLU in the middle, as lab 6's has. Which function does the task name?",
)
wrong(
    "ExactGELU",
    GELU,
    "F.gelu(self.linear1(read))",
    "Your outputs are nearly right: GELU has two forms, which differ by up to 0.0005, and you use "
    "the exact one, as BERT does. Which one does the task name?",
)
wrong(
    "SigmoidGELU",
    GELU,
    "self.linear1(read) * torch.sigmoid(1.702 * self.linear1(read))",
    "You approximate GELU by a sigmoid. Which approximation does the task name?",
)
wrong(
    "NothingInTheMiddle",
    GELU,
    "self.linear1(read)",
    "Your two linear layers follow each other with nothing between them, so they are one linear "
    "layer. What is missing?",
)
wrong.several(
    "GELUAtTheEnd",
    {
        GELU: "self.linear1(read)",
        "self.dropout2(self.linear2(hidden))": "self.dropout2(F.gelu(self.linear2(hidden), "
        'approximate="tanh"))',
    },
    "Your GELU comes after the second linear layer, so the network can hardly subtract anything "
    "from the stream. Between which two layers does it belong?",
)
wrong.several(
    "TwiceAsWide",
    {
        "nn.Linear(d, 4 * d)": "nn.Linear(d, 2 * d)",
        "nn.Linear(4 * d, d)": "nn.Linear(2 * d, d)",
    },
    "Inside your network, vectors are twice as wide as outside. How wide does the task make them?",
)
wrong.several(
    "LayersWithoutBias",
    {
        "nn.Linear(d, 4 * d)": "nn.Linear(d, 4 * d, bias=False)",
        "nn.Linear(4 * d, d)": "nn.Linear(4 * d, d, bias=False)",
    },
    "Your linear layers have no bias. What does the task say about them?",
)
wrong(
    "OneHead",
    "MultiHeadAttention(d, cfg.num_heads, dropout=cfg.dropout)",
    "MultiHeadAttention(d, 1, dropout=cfg.dropout)",
    "Your attention has one head, whatever cfg says; the number of parameters does not show it. "
    "Where do you use cfg.num_heads?",
)
wrong(
    "DropoutInThePlaceOfDk",
    "MultiHeadAttention(d, cfg.num_heads, dropout=cfg.dropout)",
    "MultiHeadAttention(d, cfg.num_heads)",
    "Your attention weights are never dropped. Which argument of lab 4's class is it?",
)
wrong.several(
    "NothingDropped",
    {
        "self.dropout1(self.attention(read, read, read, mask))": (
            "self.attention(read, read, read, mask)"
        ),
        "self.dropout2(self.linear2(hidden))": "self.linear2(hidden)",
    },
    "What your sublayers add to the stream is never dropped. Which two places are missing?",
)
wrong(
    "AttentionNotDropped",
    "self.dropout1(self.attention(read, read, read, mask))",
    "self.attention(read, read, read, mask)",
    "What your attention adds to the stream is never dropped; only what the network adds is. What "
    "does the task say about the two sublayers?",
)
wrong(
    "NetworkNotDropped",
    "self.dropout2(self.linear2(hidden))",
    "self.linear2(hidden)",
    "What your network adds to the stream is never dropped; only what the attention adds is. What "
    "does the task say about the two sublayers?",
)
wrong(
    "DroppedInsideToo",
    "self.linear2(hidden)",
    "self.linear2(self.dropout1(hidden))",
    "You drop features inside the feed-forward network, too, as lab 6's does. Which places does "
    "the task name?",
)
wrong(
    "StreamDropped",
    "return x + self.dropout2(self.linear2(hidden))",
    "return self.dropout2(x + self.linear2(hidden))",
    "You drop the stream itself, and no later layer can restore it. What alone is dropped?",
)
wrong(
    "DropsForEver",
    "self.dropout1(self.attention(read, read, read, mask))",
    "F.dropout(self.attention(read, read, read, mask), self.dropout1.p)",
    "Your block drops after `eval()`, too: `F.dropout` does not know the mode by itself. What does "
    "`nn.Dropout` do about it?",
)
wrong(
    "InPlace",
    "x = x + self.dropout1(",
    "x += self.dropout1(",
    "Your block changes its input: `+=` writes into the tensor that it was given. Who else may "
    "still need it?",
)

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
