"""Other right versions: embeddings and stacks of their own, other ways to tie and to mask."""

from __future__ import annotations

import copy
import math

import torch
import torch.nn.functional as F
from torch import nn

from attnlab.encoder_decoder import DecoderLayer, EncoderLayer
from attnlab.layers import LayerNorm
from attnlab.positions import PositionalEncoding

from . import exercise


@exercise.also_right
class Plain(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        d = cfg.d_model
        self.scale = math.sqrt(d)
        self.source_embedding = nn.Embedding(cfg.source_vocab, d)
        self.target_embedding = nn.Embedding(cfg.target_vocab, d)
        self.position = PositionalEncoding(d, cfg.max_len, cfg.dropout)
        self.encoder, self.decoder = nn.ModuleList(), nn.ModuleList()
        for _ in range(cfg.num_encoder_layers):
            layer = EncoderLayer(d, cfg.num_heads, cfg.d_ff, cfg.dropout, cfg.norm)
            self.encoder.append(layer)
        for _ in range(cfg.num_decoder_layers):
            layer = DecoderLayer(d, cfg.num_heads, cfg.d_ff, cfg.dropout, cfg.norm)
            self.decoder.append(layer)
        self.encoder_norm, self.decoder_norm = nn.Identity(), nn.Identity()
        if cfg.norm == "pre":
            self.encoder_norm, self.decoder_norm = LayerNorm(d), LayerNorm(d)
        self.head = nn.Linear(d, cfg.target_vocab, bias=False)
        if cfg.tie in ("output", "all"):
            self.head.weight = self.target_embedding.weight
        if cfg.tie == "all":
            self.source_embedding.weight = self.target_embedding.weight

    def encode(self, source, source_valid):
        x = self.position(self.source_embedding(source) * self.scale)  # (B, S, d_model)
        seen = source_valid[:, None, None, :]  # (B, 1, 1, S)
        for layer in self.encoder:
            x = layer(x, seen)
        return self.encoder_norm(x)

    def decode(self, target, memory, source_valid):
        y = self.position(self.target_embedding(target) * self.scale)  # (B, T, d_model)
        causal = torch.ones(target.shape[1], target.shape[1]).tril().bool()  # (T, T)
        seen = source_valid[:, None, None, :]  # (B, 1, 1, S)
        for layer in self.decoder:
            y = layer(y, memory, target_mask=causal, memory_mask=seen)
        return self.head(self.decoder_norm(y))

    def forward(self, source, source_valid, target):
        memory = self.encode(source, source_valid)
        return self.decode(target, memory, source_valid)


class Stack(nn.Module):
    """Layers made one from another and then drawn again, with the normalisation after them."""

    def __init__(self, layer, number, norm):
        super().__init__()
        self.layers = nn.ModuleList(copy.deepcopy(layer) for _ in range(number))
        for parameter in self.layers.parameters():
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)
        self.norm = norm

    def forward(self, x, *given, **masks):
        for layer in self.layers:
            x = layer(x, *given, **masks)
        return self.norm(x)


class Embeddings(nn.Module):
    """A table whose vectors are scaled."""

    def __init__(self, d_model, vocab):
        super().__init__()
        self.lut = nn.Embedding(vocab, d_model)
        self.d_model = d_model

    def forward(self, x):
        return self.lut(x) * math.sqrt(self.d_model)


@exercise.also_right
class StacksOfClones(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        sizes = cfg.d_model, cfg.num_heads, cfg.d_ff, cfg.dropout, cfg.norm

        def norm():
            return nn.LayerNorm(cfg.d_model) if cfg.norm == "pre" else nn.Identity()

        self.encoder = Stack(EncoderLayer(*sizes), cfg.num_encoder_layers, norm())
        self.decoder = Stack(DecoderLayer(*sizes), cfg.num_decoder_layers, norm())
        self.src_embed = Embeddings(cfg.d_model, cfg.source_vocab)
        self.tgt_embed = Embeddings(cfg.d_model, cfg.target_vocab)
        self.pos = PositionalEncoding(cfg.d_model, cfg.max_len, cfg.dropout)
        self.generator = nn.Linear(cfg.d_model, cfg.target_vocab, bias=False)
        if cfg.tie == "all":
            self.src_embed.lut.weight = self.tgt_embed.lut.weight
        if cfg.tie != "none":
            self.generator.weight = self.tgt_embed.lut.weight

    def forward(self, src, src_valid, tgt):
        return self.decode(tgt, self.encode(src, src_valid), src_valid)

    def encode(self, src, src_valid):
        return self.encoder(self.pos(self.src_embed(src)), src_valid.unsqueeze(1).unsqueeze(2))

    def decode(self, tgt, memory, src_valid):
        size = tgt.size(-1)
        subsequent = torch.triu(torch.ones(1, 1, size, size), diagonal=1) == 0
        masks = {"target_mask": subsequent, "memory_mask": src_valid[:, None, None]}
        return self.generator(self.decoder(self.pos(self.tgt_embed(tgt)), memory, **masks))


@exercise.also_right
class HeadFirst(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.head = nn.Linear(cfg.d_model, cfg.target_vocab, bias=False)
        self.target_embedding = nn.Embedding(cfg.target_vocab, cfg.d_model)
        self.source_embedding = nn.Embedding(cfg.source_vocab, cfg.d_model)
        match cfg.tie:
            case "output":
                self.target_embedding.weight = self.head.weight
            case "all":
                self.source_embedding = self.target_embedding
                self.target_embedding.weight = self.head.weight
        self.source_position = PositionalEncoding(cfg.d_model, cfg.max_len, cfg.dropout)
        self.target_position = PositionalEncoding(cfg.d_model, cfg.max_len, cfg.dropout)
        sizes = {
            "d_model": cfg.d_model, "num_heads": cfg.num_heads, "d_ff": cfg.d_ff,
            "dropout": cfg.dropout, "norm": cfg.norm,
        }  # fmt: skip
        encoder = [EncoderLayer(**sizes) for _ in range(cfg.num_encoder_layers)]
        decoder = [DecoderLayer(**sizes) for _ in range(cfg.num_decoder_layers)]
        self.encoder, self.decoder = nn.ModuleList(encoder), nn.ModuleList(decoder)
        if cfg.norm == "pre":
            self.encoder_norm = LayerNorm(cfg.d_model)
            self.decoder_norm = LayerNorm(cfg.d_model)

    def encode(self, source, source_valid):
        x = self.source_position(self.source_embedding(source) * self.cfg.d_model**0.5)
        S = source.shape[1]
        mask = source_valid[:, None, None, :].expand(-1, 1, S, -1)
        for layer in self.encoder:
            x = layer.forward(x, mask=mask)
        if self.cfg.norm == "pre":
            x = self.encoder_norm(x)
        return x

    def decode(self, target, memory, source_valid):
        pads = (target != self.cfg.pad)[:, None, None]
        T = target.shape[1]
        later = torch.arange(T)[None, :] > torch.arange(T)[:, None]
        y = self.target_position(self.target_embedding(target) * self.cfg.d_model**0.5)
        for layer in self.decoder:
            y = layer(
                y,
                memory,
                target_mask=~later & (pads | torch.eye(T, dtype=torch.bool)),
                memory_mask=source_valid[:, None, None, :].expand(-1, 1, T, -1),
            )
        if self.cfg.norm == "pre":
            y = self.decoder_norm(y)
        return self.head(y)

    def forward(self, source, source_valid, target):
        return self.decode(target, self.encode(source, source_valid), source_valid)


@exercise.also_right
class TableAsAFunction(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg, d = cfg, cfg.d_model
        self.target_embedding = nn.Embedding(cfg.target_vocab, d)
        if cfg.tie != "all":
            self.source_embedding = nn.Embedding(cfg.source_vocab, d)
        if cfg.tie == "none":
            self.head = nn.Linear(d, cfg.target_vocab, False)
        self.position = PositionalEncoding(d, max_len=cfg.max_len, dropout=cfg.dropout)
        self.blocks = nn.ModuleDict()
        self.blocks["encoder"] = self.stack(EncoderLayer, cfg.num_encoder_layers)
        self.blocks["decoder"] = self.stack(DecoderLayer, cfg.num_decoder_layers)
        norms = [LayerNorm(d), LayerNorm(d)] if cfg.norm == "pre" else [nn.Identity()] * 2
        self.encoder_norm, self.decoder_norm = norms

    def stack(self, kind, number):
        cfg = self.cfg
        sizes = cfg.d_model, cfg.num_heads, cfg.d_ff
        made = (kind(*sizes, dropout=cfg.dropout, norm=cfg.norm) for _ in range(number))
        return nn.ModuleList(made)

    def embed(self, table, symbols):
        return self.position(F.embedding(symbols, table) * math.sqrt(table.shape[1]))

    def encode(self, source, source_valid):
        tied = self.cfg.tie == "all"
        table = self.target_embedding if tied else self.source_embedding
        x = self.embed(table.weight, source)
        for block in self.blocks["encoder"]:
            x = block(x, source_valid[:, None, None])
        return self.encoder_norm(x)

    def decode(self, target, memory, source_valid):
        mask = torch.full((target.shape[1],) * 2, -torch.inf).triu(1) == 0
        x = self.embed(self.target_embedding.weight, target)
        for block in self.blocks["decoder"]:
            x = block(x, memory, target_mask=mask, memory_mask=source_valid[:, None, None])
        head = self.head if self.cfg.tie == "none" else self.target_embedding
        return F.linear(self.decoder_norm(x), head.weight)

    def forward(self, source, source_valid, target):
        memory = self.encode(source, source_valid)
        return self.decode(target, memory, source_valid)
