"""Other right formulas for `count_params`; the mistakes edit the first."""

from __future__ import annotations

from math import prod

from . import exercise


@exercise.also_right
def part_by_part(cfg):
    d, f = cfg.d_model, cfg.d_ff
    attention = 4 * d * d + 4 * d
    network = d * f + f + f * d + d
    norm = 2 * d
    encoder_layer = attention + network + 2 * norm
    decoder_layer = attention + attention + network + 3 * norm
    total = cfg.num_encoder_layers * encoder_layer
    total += cfg.num_decoder_layers * decoder_layer
    if cfg.norm == "pre":
        total += 2 * norm
    total += cfg.target_vocab * d
    if cfg.tie != "all":
        total += cfg.source_vocab * d
    if cfg.tie == "none":
        total += cfg.target_vocab * d
    return total


@exercise.also_right
def multiplied_out(cfg):
    d, f, n, m = cfg.d_model, cfg.d_ff, cfg.num_encoder_layers, cfg.num_decoder_layers
    total = n * (4 * d**2 + 2 * d * f + 9 * d + f) + m * (8 * d**2 + 2 * d * f + 15 * d + f)
    total += 4 * d * (cfg.norm == "pre")
    match cfg.tie:
        case "none":
            return total + d * (cfg.source_vocab + 2 * cfg.target_vocab)
        case "output":
            return total + d * (cfg.source_vocab + cfg.target_vocab)
        case "all":
            return total + d * cfg.source_vocab
    raise ValueError(cfg.tie)


@exercise.also_right
def by_shapes(cfg):
    d, f = cfg.d_model, cfg.d_ff
    attention = [(d, d), (d,)] * 4
    network = [(f, d), (f,), (d, f), (d,)]
    norm = [(d,), (d,)]
    shapes = (attention + network + norm * 2) * cfg.num_encoder_layers
    shapes += (attention * 2 + network + norm * 3) * cfg.num_decoder_layers
    shapes += norm * 2 if cfg.norm == "pre" else []
    source, target = (cfg.source_vocab, d), (cfg.target_vocab, d)
    shapes += {"all": [target], "output": [source, target], "none": [source, target, target]}[
        cfg.tie
    ]
    return sum(prod(shape) for shape in shapes)


class Counter:
    """Counts the parts as they would be made."""

    def __init__(self, d):
        self.d, self.total = d, 0

    def linear(self, rows, columns, bias=True):
        self.total += rows * columns + rows * bias

    def norm(self):
        self.total += 2 * self.d

    def attention(self, num_heads):
        d_k = self.d // num_heads
        for _ in range(num_heads):
            for _ in "qkv":
                self.linear(d_k, self.d)
        self.linear(self.d, num_heads * d_k)
        self.norm()

    def network(self, d_ff):
        self.linear(d_ff, self.d)
        self.linear(self.d, d_ff)
        self.norm()


@exercise.also_right
def as_it_would_be_made(cfg):
    counter = Counter(cfg.d_model)
    for _ in range(cfg.num_encoder_layers):
        counter.attention(cfg.num_heads)
        counter.network(cfg.d_ff)
    for _ in range(cfg.num_decoder_layers):
        counter.attention(cfg.num_heads)
        counter.attention(cfg.num_heads)
        counter.network(cfg.d_ff)
    if cfg.norm == "pre":
        counter.norm()
        counter.norm()
    counter.linear(cfg.target_vocab, cfg.d_model, bias=False)
    for table in (cfg.source_vocab,) if cfg.tie != "all" else ():
        counter.linear(table, cfg.d_model, bias=False)
    if cfg.tie == "none":
        counter.linear(cfg.target_vocab, cfg.d_model, bias=False)
    return counter.total
