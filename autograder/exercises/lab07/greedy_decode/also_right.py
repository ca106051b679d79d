"""Other right versions of `greedy_decode`; the mistakes edit the first."""

from __future__ import annotations

import torch

from . import exercise


@exercise.also_right
def step_by_step(model, source, source_valid, bos, eos, pad=0, max_extra=50):
    before = model.training
    model.eval()
    with torch.no_grad():
        memory = model.encode(source, source_valid)
        limits = source_valid.sum(1) + max_extra
        read = torch.full((len(source), 1), bos)
        over = torch.zeros(len(source), dtype=torch.bool)
        step = 0
        while not over.all():
            step = step + 1
            logits = model.decode(read, memory, source_valid)
            symbol = logits[:, -1].argmax(-1)
            symbol[over] = pad
            read = torch.cat([read, symbol[:, None]], 1)
            over = over | (symbol == eos) | (step >= limits)
    model.train(before)
    return read[:, 1:]


@exercise.also_right
def filled_table(model, source, source_valid, bos, eos, pad=0, max_extra=50):
    mode = model.training
    model.train(False)
    lengths = [int(n) + max_extra for n in source_valid.sum(-1)]
    table = torch.full((source.size(0), 1 + max(lengths)), pad, dtype=torch.long)
    table[:, 0] = bos
    going, last = [True] * len(lengths), 0
    with torch.inference_mode():
        memory = model.encode(source, source_valid)
        for t in range(max(lengths)):
            scores = model.decode(table[:, : t + 1], memory, source_valid)[:, t]
            for row, best in enumerate(scores.max(-1).indices.tolist()):
                if going[row]:
                    table[row, t + 1], last = best, t + 1
                    going[row] = best != eos and t + 1 < lengths[row]
            if not any(going):
                break
    model.train(mode)
    return table[:, 1 : last + 1].clone()


@exercise.also_right
def only_those_that_go_on(model, source, source_valid, bos, eos, pad=0, max_extra=50):
    was = model.training
    model.eval()
    sentences = [[] for _ in source]
    with torch.no_grad():
        memory = model.encode(source, source_valid)
        alive = torch.arange(source.shape[0])
        ids = torch.full((source.shape[0], 1), bos, dtype=torch.int64)
        while len(alive):
            logits = model.decode(ids, memory[alive], source_valid[alive])
            symbols = torch.argmax(logits[:, -1, :], dim=-1)
            for row, symbol in zip(alive.tolist(), symbols.tolist(), strict=True):
                sentences[row].append(symbol)
            short = ids.shape[1] < source_valid[alive].sum(1) + max_extra
            stay = (symbols != eos) & short
            ids, alive = torch.cat((ids, symbols[:, None]), 1)[stay], alive[stay]
    model.train(was)
    rows = [torch.tensor(sentence) for sentence in sentences]
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=pad)


@exercise.also_right
@torch.no_grad()
def one_sentence_after_another(model, source, source_valid, bos, eos, pad=0, max_extra=50):
    mode = model.training
    model.eval()
    rows = []
    for row, valid in zip(source.split(1), source_valid.split(1), strict=True):
        memory, ids = model.encode(row, valid), [bos]
        while len(ids) - 1 < int(valid.sum()) + max_extra and (len(ids) == 1 or ids[-1] != eos):
            logits = model.decode(torch.tensor([ids]), memory, valid)
            ids.append(int(logits[0, -1].log_softmax(-1).argmax()))
        rows.append(ids[1:])
    if mode:
        model.train()
    longest = max(len(ids) for ids in rows)
    return torch.tensor([ids + [pad] * (longest - len(ids)) for ids in rows])
