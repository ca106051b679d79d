"""Known mistakes in a whole `Transformer`: its tables, layers and sizes, as edits of `Plain`."""

from __future__ import annotations

from .mistakes_in_forward import wrong  # that module has the other known mistakes

ENCODER_LOOP = """        for _ in range(cfg.num_encoder_layers):
            layer = EncoderLayer(d, cfg.num_heads, cfg.d_ff, cfg.dropout, cfg.norm)
            self.encoder.append(layer)
"""
DECODER_LOOP = """        for _ in range(cfg.num_decoder_layers):
            layer = DecoderLayer(d, cfg.num_heads, cfg.d_ff, cfg.dropout, cfg.norm)
            self.decoder.append(layer)
"""
ENCODER = "EncoderLayer(d, cfg.num_heads, cfg.d_ff, cfg.dropout, cfg.norm)"
DECODER = "DecoderLayer(d, cfg.num_heads, cfg.d_ff, cfg.dropout, cfg.norm)"
NORMS = """        self.encoder_norm, self.decoder_norm = nn.Identity(), nn.Identity()
        if cfg.norm == "pre":
            self.encoder_norm, self.decoder_norm = LayerNorm(d), LayerNorm(d)
"""
OUTPUT = "self.head.weight = self.target_embedding.weight"
INPUT = "self.source_embedding.weight = self.target_embedding.weight"

wrong.several(
    "OneLayerManyTimes",
    {
        ENCODER_LOOP: f"        self.encoder.extend([{ENCODER}] * cfg.num_encoder_layers)\n",
        DECODER_LOOP: f"        self.decoder.extend([{DECODER}] * cfg.num_decoder_layers)\n",
    },
    "Your stacks hold one layer several times: `[layer] * n` repeats the name, not the object. How "
    "many layers with parameters of their own does the config ask for?",
)
wrong(
    "OneEncoderLayerManyTimes",
    ENCODER_LOOP,
    f"        layer = {ENCODER}\n"
    "        for _ in range(cfg.num_encoder_layers):\n"
    "            self.encoder.append(layer)\n",
    "All places of your encoder hold the same layer. On which line is a layer made, and how many "
    "times does that line run?",
)
wrong(
    "OneDecoderLayerManyTimes",
    DECODER_LOOP,
    f"        layer = {DECODER}\n"
    "        for _ in range(cfg.num_decoder_layers):\n"
    "            self.decoder.append(layer)\n",
    "All places of your decoder hold the same layer. On which line is a layer made, and how many "
    "times does that line run?",
)
wrong.several(
    "LayersCopied",
    {
        ENCODER_LOOP: f"        layer = {ENCODER}\n"
        "        for _ in range(cfg.num_encoder_layers):\n"
        "            self.encoder.append(copy.deepcopy(layer))\n",
        DECODER_LOOP: f"        layer = {DECODER}\n"
        "        for _ in range(cfg.num_decoder_layers):\n"
        "            self.decoder.append(copy.deepcopy(layer))\n",
    },
    "Your layers are copies, so at the start all of them compute the same. What would have to "
    "happen to the copies?",
)
wrong(
    "LayersInAList",
    "self.encoder, self.decoder = nn.ModuleList(), nn.ModuleList()",
    "self.encoder, self.decoder = [], []",
    "A module does not find the layers in a Python list: no optimiser trains them, and `.double()` "
    "leaves them alone. Which container does the task name?",
)
wrong(
    "OneStackInAList",
    "self.encoder, self.decoder = nn.ModuleList(), nn.ModuleList()",
    "self.encoder, self.decoder = nn.ModuleList(), []",
    "The encoder's layers are registered and the decoder's are not. What is the difference between "
    "your two containers?",
)
wrong.several(
    "NumbersOfLayersSwapped",
    {
        "range(cfg.num_encoder_layers)": "range(cfg.num_decoder_layers )",
        "range(cfg.num_decoder_layers):": "range(cfg.num_encoder_layers):",
    },
    "The encoder has as many layers as the decoder should have, and the other way round. Which "
    "number of cfg belongs to which stack?",
)
wrong(
    "AsManyDecoderLayersAsEncoderLayers",
    "range(cfg.num_decoder_layers)",
    "range(cfg.num_encoder_layers)",
    "Your decoder has as many layers as the encoder. Which number does cfg have for it?",
)
wrong.several(
    "HeadsNotGiven",
    {
        ENCODER: "EncoderLayer(d, 1, cfg.d_ff, cfg.dropout, cfg.norm)",
        DECODER: "DecoderLayer(d, 1, cfg.d_ff, cfg.dropout, cfg.norm)",
    },
    "Your layers have one head each, whatever cfg says. The number of parameters does not show it. "
    "Where do you use cfg.num_heads?",
)
wrong.several(
    "WidthNotGiven",
    {
        ENCODER: "EncoderLayer(d, cfg.num_heads, 4 * d, cfg.dropout, cfg.norm)",
        DECODER: "DecoderLayer(d, cfg.num_heads, 4 * d, cfg.dropout, cfg.norm)",
    },
    "Inside your feed-forward networks, vectors are always four times as wide. Which number of cfg "
    "is for this?",
)
wrong.several(
    "NormNotGiven",
    {
        ENCODER: "EncoderLayer(d, cfg.num_heads, cfg.d_ff, cfg.dropout)",
        DECODER: "DecoderLayer(d, cfg.num_heads, cfg.d_ff, cfg.dropout)",
    },
    "Your layers are pre-norm even if cfg.norm is something else. What do the layers know of cfg?",
)
wrong(
    "NormNotGivenToTheDecoder",
    DECODER,
    "DecoderLayer(d, cfg.num_heads, cfg.d_ff, cfg.dropout)",
    "Your decoder's layers are pre-norm even if cfg.norm is something else; the encoder's are "
    "right. How do your two lines differ?",
)
wrong.several(
    "DropoutNotGiven",
    {
        ENCODER: "EncoderLayer(d, cfg.num_heads, cfg.d_ff, norm=cfg.norm)",
        DECODER: "DecoderLayer(d, cfg.num_heads, cfg.d_ff, norm=cfg.norm)",
    },
    "While training, your layers drop nothing. Which of a layer's arguments do you leave out?",
)
wrong(
    "DropoutNotGivenToTheEncoder",
    ENCODER,
    "EncoderLayer(d, cfg.num_heads, cfg.d_ff, norm=cfg.norm)",
    "While training, your encoder's layers drop nothing; the decoder's do. How do your two lines "
    "differ?",
)
wrong(
    "DropoutNotGivenToTheDecoder",
    DECODER,
    "DecoderLayer(d, cfg.num_heads, cfg.d_ff, norm=cfg.norm)",
    "While training, your decoder's layers drop nothing; the encoder's do. How do your two lines "
    "differ?",
)
wrong(
    "DropoutNotGivenToPositions",
    "PositionalEncoding(d, cfg.max_len, cfg.dropout)",
    "PositionalEncoding(d, cfg.max_len)",
    "While training, nothing is dropped after the positions are added. What does "
    "`PositionalEncoding` need to know for that?",
)
wrong(
    "LongestNotGiven",
    "PositionalEncoding(d, cfg.max_len, cfg.dropout)",
    "PositionalEncoding(d, dropout=cfg.dropout)",
    "Your model takes sentences of any length up to 5000. Which number of cfg should limit them?",
)
wrong(
    "NormsInPostToo",
    NORMS,
    "        self.encoder_norm, self.decoder_norm = LayerNorm(d), LayerNorm(d)\n",
    'With norm "post", you normalise once more after each stack, as torch\'s `nn.Transformer` '
    "does. What has the last layer done just before?",
)
wrong(
    "NoNormsAfterTheStacks",
    NORMS,
    "        self.encoder_norm, self.decoder_norm = nn.Identity(), nn.Identity()\n",
    'With norm "pre", nothing normalises the stream after the last layer, and it has grown from '
    "layer to layer. Which two parts of the task are missing?",
)
wrong(
    "OneNormForBothStacks",
    "self.encoder_norm, self.decoder_norm = LayerNorm(d), LayerNorm(d)",
    "self.encoder_norm = self.decoder_norm = LayerNorm(d)",
    "Both stacks end in the same normalisation, so its two parameters serve the memory and the "
    "logits. How many does the task name?",
)
wrong(
    "HeadWithBias",
    "nn.Linear(d, cfg.target_vocab, bias=False)",
    "nn.Linear(d, cfg.target_vocab)",
    "Your head has a bias: one parameter more for each symbol. What does the task say about it?",
)
wrong(
    "PadRowFixedAtZero",
    "nn.Embedding(cfg.target_vocab, d)",
    "nn.Embedding(cfg.target_vocab, d, padding_idx=cfg.pad)",
    "With `padding_idx`, one row of your table is 0 and never learns; in a tied model it is also "
    "the row that computes this symbol's logit. What does the task say about rows?",
)
wrong(
    "PadRowFixedAtZeroInSource",
    "nn.Embedding(cfg.source_vocab, d)",
    "nn.Embedding(cfg.source_vocab, d, padding_idx=cfg.pad)",
    "With `padding_idx`, one row of the source's table is 0 and never learns. The mask already "
    "hides those positions. What does the task say about rows?",
)
for side, loop, layer in (("encoder", ENCODER_LOOP, ENCODER), ("decoder", DECODER_LOOP, DECODER)):
    wrong(
        f"{side.title()}LayersCopied",
        loop,
        f"        layer = {layer}\n"
        f"        for _ in range(cfg.num_{side}_layers):\n"
        f"            self.{side}.append(copy.deepcopy(layer))\n",
        f"The layers of your {side} are copies of one, so they start with the same numbers. Where "
        "is a layer made, and how often?",
    )
wrong(
    "NothingTied",
    f"""        if cfg.tie in ("output", "all"):
            {OUTPUT}
        if cfg.tie == "all":
            {INPUT}
""",
    "",
    "Your model has three tables, whatever cfg.tie says. Where do you use it?",
)
wrong(
    "AlwaysTied",
    'if cfg.tie in ("output", "all"):',
    "if cfg.tie:",
    'Your head and the target\'s embedding are one parameter even if cfg.tie is "none". What is '
    'the truth value of the word "none"?',
)
wrong(
    "HeadTiedInAllOnly",
    'if cfg.tie in ("output", "all"):',
    'if cfg.tie == "all":',
    'With cfg.tie "output", your head has a table of its own. Which two are one parameter then?',
)
wrong(
    "HeadNeverTied",
    f'        if cfg.tie in ("output", "all"):\n            {OUTPUT}\n',
    "",
    "Your head has a table of its own, whatever cfg.tie says. In which two cases is it the table "
    "of the target?",
)
wrong(
    "HeadTiedByACopy",
    OUTPUT,
    "self.head.weight.data = self.target_embedding.weight.data.clone()",
    "Your head starts with the numbers of the target's table, but it is a copy, so training moves "
    "the two apart. What does `is` say about the two weights?",
)
wrong(
    "SourceNotTied",
    f"""        if cfg.tie == "all":
            {INPUT}
""",
    "",
    'With cfg.tie "all", the source\'s embedding is still a parameter of its own. How many tables '
    "are left then, according to the task?",
)
wrong(
    "SourceTiedInstead",
    f'if cfg.tie in ("output", "all"):\n            {OUTPUT}\n        if cfg.tie == "all":',
    f'if cfg.tie == "all":\n            {OUTPUT}\n        if cfg.tie != "none" and '
    "cfg.source_vocab == cfg.target_vocab:",
    'With cfg.tie "output", you tie the two embeddings. Which table belongs to the output?',
)

wrong.several(
    "TiedByData",
    {
        OUTPUT: "self.head.weight.data = self.target_embedding.weight.data",
        INPUT: "self.source_embedding.weight.data = self.target_embedding.weight.data",
    },
    "Your tables share their memory, but they are several parameters: each has a gradient of its "
    "own, and after `.to(…)` they part. What does `is` say about the two weights?",
)
wrong.several(
    "TiedByACopy",
    {
        OUTPUT: "self.head.weight = nn.Parameter(self.target_embedding.weight.clone())",
        INPUT: "self.source_embedding.weight = nn.Parameter(self.target_embedding.weight.clone())",
    },
    "Your tables hold the same numbers at first, but one is a copy: the first step of an optimiser "
    "moves them apart. What does `is` say about the two weights?",
)
