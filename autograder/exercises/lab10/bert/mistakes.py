"""Known mistakes in `Bert`; those in its layer and in its head are in two other files."""

from __future__ import annotations

from . import (
    exercise,
    mistakes_in_the_head,  # noqa: F401 - to register them
    mistakes_in_the_layer,  # noqa: F401
)
from .also_right import Plain

wrong = exercise.edits(Plain, of="Bert")

LENGTH = (
    "        length = ids.shape[1]\n"
    "        if length > self.cfg.max_len:\n"
    '            raise ValueError(f"{length} tokens are too many")\n'
)
POSITIONS = "        x = x + self.positions(torch.arange(length))\n"
SEGMENTS = "        x = x + self.segments(segments)\n"
LAYERS = "self.layers = nn.ModuleList([BertLayer(cfg) for _ in range(cfg.num_layers)])"

wrong(
    "NoPositions",
    POSITIONS,
    "",
    "Your model does not know the order of its tokens. Which of the three tables is missing in the "
    "sum?",
)
wrong(
    "NoSegments",
    SEGMENTS,
    "",
    "Your model does not know to which sentence a token belongs. Which of the three tables is "
    "missing in the sum?",
)
wrong(
    "PositionsFromOne",
    "self.positions(torch.arange(length))",
    "self.positions(torch.arange(1, length + 1) % self.cfg.max_len)",
    "The first token gets the position 1. At which number do positions begin?",
)
wrong(
    "PositionsOfTheBatch",
    POSITIONS,
    "        rows = torch.arange(len(ids)).clamp(max=self.cfg.max_len - 1)\n"
    "        x = x + self.positions(rows)[:, None]\n",
    "All tokens of a row have the same position, the number of the row. Along which axis do "
    "positions count?",
)
wrong(
    "SegmentsAsPositions",
    SEGMENTS,
    "        x = x + self.positions(segments)\n",
    "Segments are looked up in the table of positions. Which table is theirs?",
)
wrong(
    "OnesIfNotGiven",
    "segments = torch.zeros_like(ids)",
    "segments = torch.ones_like(ids)",
    "Without segments, all tokens belong to segment 1. Which one does the task name?",
)
wrong.several(
    "SegmentsOnlyIfGiven",
    {
        "        if segments is None:\n            segments = torch.zeros_like(ids)\n": "",
        SEGMENTS: "        if segments is not None:\n            x = x + self.segments(segments)\n",
    },
    "Without segments, you add no vector of a segment. What does the task say about None?",
)
wrong(
    "ScaledByTheRoot",
    "x = self.tokens(ids)\n",
    "x = self.tokens(ids) * self.cfg.d_model**0.5\n",
    "You multiply the tokens' vectors by √d_model, as in lab 7. Does the task of this step do so?",
)
wrong.several(
    "NoNormOfTheSum",
    {
        "        self.norm = nn.LayerNorm(d, eps=cfg.norm_eps)\n": "",
        "self.drop(self.norm(x))": "self.drop(x)",
    },
    "The sum of the three vectors is not normalised. What happens before the first layer?",
)
wrong.several(
    "NormAtTheEnd",
    {
        "self.drop(self.norm(x))": "self.drop(x)",
        "            x = layer(x, mask)\n        return x": (
            "            x = layer(x, mask)\n        return self.norm(x)"
        ),
    },
    "The normalisation of the embeddings comes after the last layer, as in GPT. Where does the "
    "task put it?",
)
wrong(
    "NormOfTokensOnly",
    "        x = self.tokens(ids)\n",
    "        x = self.norm(self.tokens(ids))\n",
    "You normalise the tokens' vectors, and then the sum once more. What should be normalised?",
)
wrong(
    "UsualEpsInTheEmbedding",
    "self.norm = nn.LayerNorm(d, eps=cfg.norm_eps)",
    "self.norm = nn.LayerNorm(d)",
    "The normalisation of your embeddings has torch's usual `eps`. Which one does cfg ask for?",
)
wrong(
    "EmbeddingsNotDropped",
    "self.drop(self.norm(x))",
    "self.norm(x)",
    "The embeddings are never dropped. What happens after they are normalised?",
)
wrong(
    "DroppedBeforeTheNorm",
    "self.drop(self.norm(x))",
    "self.norm(self.drop(x))",
    "You drop features before you normalise. In which order does the task name the two?",
)
wrong(
    "PaddingSeen",
    "            mask = valid[:, None, None, :]\n",
    "            mask = None\n",
    "Tokens attend to the padding. Where does `valid` enter your layers?",
)
wrong(
    "PaddingOnlySeen",
    "mask = valid[:, None, None, :]",
    "mask = ~valid[:, None, None, :]",
    "Tokens attend to the padding and to nothing else. Does True allow or forbid?",
)
wrong(
    "PaddingAsQuery",
    "mask = valid[:, None, None, :]",
    "mask = valid[:, None, :, None].expand(-1, -1, -1, length)",
    "Your mask forbids padded tokens to look, and allows all to look at them. Which axis of "
    "(B, h, T, T) are the keys?",
)
wrong(
    "MaskInTheFirstLayerOnly",
    "            x = layer(x, mask)\n",
    "            x = layer(x, mask)\n            mask = None\n",
    "Only your first layer gets the mask. Which layers read the padding?",
)
wrong(
    "ZeroIsPadding",
    "        mask = None\n"
    "        if valid is not None:\n"
    "            mask = valid[:, None, None, :]\n",
    "        mask = (ids != 0)[:, None, None, :]\n",
    "You take every token 0 for padding and do not read `valid`. Who decides what padding is?",
)
wrong(
    "CausalMask",
    "        for layer in self.layers:\n",
    "        past = torch.ones(length, length).tril().bool()\n"
    "        mask = past if mask is None else mask & past\n"
    "        for layer in self.layers:\n",
    "A token does not see those after it. BERT hides words so that it can look in both directions: "
    "does it need a causal mask?",
)
wrong(
    "OneLayerOften",
    LAYERS,
    "self.layers = nn.ModuleList([BertLayer(cfg)] * cfg.num_layers)",
    "All your layers are the same layer. How often does your code call `BertLayer(cfg)`?",
)
wrong(
    "LayersInAList",
    LAYERS,
    "self.layers = [BertLayer(cfg) for _ in range(cfg.num_layers)]",
    "Your layers are in a Python list, so torch does not know their parameters. In what are they "
    "registered?",
)
wrong(
    "LastLayerLeftOut",
    "for layer in self.layers:",
    "for layer in self.layers[: max(1, len(self.layers) - 1)]:",
    "Your last layer is not used. Over which layers does your loop go?",
)
wrong(
    "PoolerTakesTheMean",
    "first = hidden[:, 0]",
    "first = hidden.mean(1)",
    "Your pooler reads the mean of all tokens, padding included. Which token's vector should it "
    "read?",
)
wrong(
    "PoolerTakesTheLast",
    "first = hidden[:, 0]",
    "first = hidden[:, -1]",
    "Your pooler reads the last token. Where is [CLS]?",
)
wrong(
    "PoolerTakesTheFirstRow",
    "first = hidden[:, 0]",
    "first = hidden[0]",
    "Your pooler reads all tokens of the first row. Which axis is the batch?",
)
wrong(
    "PoolerWithoutTanh",
    "torch.tanh(self.pooler(first))",
    "self.pooler(first)",
    "There is no tanh after your pooler. What does the task name?",
)
wrong(
    "PoolerWithGelu",
    "torch.tanh(self.pooler(first))",
    "F.gelu(self.pooler(first))",
    "You have a GELU after your pooler. Which function does the task name?",
)
wrong(
    "TanhBeforeThePooler",
    "torch.tanh(self.pooler(first))",
    "self.pooler(torch.tanh(first))",
    "Your tanh comes before the pooler's linear layer. In which order does the task name the two?",
)
wrong(
    "HeadReadsTheFirstToken",
    "self.nsp_head(self.pooled(hidden))",
    "self.nsp_head(hidden[:, 0])",
    "The second head reads the first token's vector itself. What does the task put between them?",
)
wrong(
    "HiddenFromTheHead",
    "mlm = self.mlm_head(hidden)",
    "mlm = self.mlm_head(self.pooled(hidden))[:, None].expand(-1, ids.shape[1], -1)",
    "All tokens of a row have the same logits: your first head reads what `pooled` returns. Which "
    "vectors should it read?",
)
wrong(
    "SegmentsNotPassedOn",
    "hidden = self.encode(ids, segments, valid)",
    "hidden = self.encode(ids, valid=valid)",
    "Your `forward` does not pass `segments` on. What does `encode` take for None?",
)
wrong(
    "ValidNotPassedOn",
    "hidden = self.encode(ids, segments, valid)",
    "hidden = self.encode(ids, segments)",
    "Your `forward` does not pass `valid` on. Which tokens does `encode` read then?",
)
wrong(
    "HeadsExchanged",
    "BertOutput(hidden, mlm, nsp)",
    "BertOutput(hidden, nsp, mlm)",
    "The logits of the two heads are exchanged in your result. In which order does `BertOutput` "
    "have them?",
)
wrong(
    "CopyOfTheTable",
    "MLMHead(cfg, self.tokens.weight)",
    "MLMHead(cfg, nn.Parameter(self.tokens.weight.detach().clone()))",
    "The head gets a copy of the table. After the first update they differ. Which tensor should it "
    "get?",
)
wrong(
    "WrapsAround",
    LENGTH + "        if segments is None:\n            segments = torch.zeros_like(ids)\n",
    "        length = ids.shape[1]\n"
    "        if segments is None:\n            segments = torch.zeros_like(ids)\n",
    "Your model takes more tokens than it has positions, or stops with another error. Which one "
    "does the task name?",
)
wrong(
    "CutOff",
    LENGTH,
    "        ids = ids[:, : self.cfg.max_len]\n"
    "        segments = None if segments is None else segments[:, : self.cfg.max_len]\n"
    "        valid = None if valid is None else valid[:, : self.cfg.max_len]\n"
    "        length = ids.shape[1]\n",
    "Tokens beyond max_len are cut off without a word. What does the task ask for?",
)
wrong(
    "FullLengthRefused",
    "if length > self.cfg.max_len:",
    "if length >= self.cfg.max_len:",
    "max_len tokens are refused. Is that one too many?",
)
wrong(
    "AssertsTheLength",
    LENGTH,
    "        length = ids.shape[1]\n        assert length <= self.cfg.max_len\n",
    "Your model takes more tokens than it has positions, or stops with another error. Which one "
    "does the task name?",
)
wrong.several(
    "SinesAsPositions",
    {
        "        self.positions = nn.Embedding(cfg.max_len, d)\n": (
            "        angle = torch.arange(cfg.max_len)[:, None] / 10000 ** (torch.arange(d) / d)\n"
            '        self.register_buffer("positions", angle.sin())\n'
        ),
        POSITIONS: "        x = x + self.positions[:length]\n",
    },
    "Your positions are a formula and have no parameters. What is `positions` in the task?",
)
wrong.several(
    "NormBeforeTheSum",
    {
        "        x = self.tokens(ids)\n": "        x = self.norm(self.tokens(ids))\n",
        "self.drop(self.norm(x))": "self.drop(x)",
    },
    "You normalise the tokens' vectors before the other two are added. What should be normalised?",
)
wrong(
    "NormOnceMoreAtTheEnd",
    "            x = layer(x, mask)\n        return x",
    "            x = layer(x, mask)\n        return self.norm(x)",
    "You normalise once more after the last layer. How does each of your layers end?",
)
wrong(
    "PooledDropped",
    "return torch.tanh(self.pooler(first))",
    "return self.drop(torch.tanh(self.pooler(first)))",
    "What `pooled` returns is dropped in training. At which places does the task drop?",
)
wrong(
    "OneLogitForPairs",
    "self.nsp_head = nn.Linear(d, 2)",
    "self.nsp_head = nn.Linear(d, 1)",
    "Your second head has a single logit. Which shape does the task give?",
)
