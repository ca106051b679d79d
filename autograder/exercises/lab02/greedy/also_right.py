"""Other right versions of greedy decoding."""

from __future__ import annotations

import torch

from . import exercise


@exercise.also_right
def column_by_column(model, source, source_mask, bos, eos, max_len):
    with torch.no_grad():
        hidden, state = model.encode(source, source_mask)
        fed = torch.full((len(source),), bos)
        over = torch.zeros(len(source)).bool()
        chosen = []
        while len(chosen) < max_len and not over.all():
            logits, state, _ = model.cell(fed, state, hidden, source_mask)
            fed = logits.argmax(-1)
            over = over | (fed == eos)
            chosen.append(fed)
    rows = torch.stack(chosen, 1).tolist()  # one list per sentence, one symbol per step
    return [row[: row.index(eos)] if eos in row else row for row in rows]


@exercise.also_right
def one_after_another(model, source, source_mask, bos, eos, max_len):
    sentences = []
    for row, mask in zip(source.split(1), source_mask.split(1), strict=True):
        sentence = []
        with torch.inference_mode():
            hidden, state = model.encode(row, mask)
            fed = torch.tensor([bos])
            for _ in range(max_len):
                logits, state, _ = model.cell(fed, state, hidden, mask)
                fed = logits.max(dim=-1).indices
                if fed.item() == eos:
                    break
                sentence.append(fed.item())
        sentences.append(sentence)
    return sentences


@exercise.also_right
def filled_table(model, source, source_mask, bos, eos, max_len):
    with torch.no_grad():
        memory, state = model.encode(source, source_mask)
        out = torch.full((source.size(0), max_len + 1), eos)
        out[:, 0] = bos
        unfinished = torch.ones(source.size(0), dtype=torch.long)
        for t in range(max_len):
            logits, state, _ = model.cell(out[:, t], state, memory, source_mask)
            best = torch.softmax(logits, dim=1).topk(1, dim=1)[1].squeeze(1)
            out[:, t + 1] = best * unfinished + eos * (1 - unfinished)
            unfinished = unfinished * (best != eos).long()
            if unfinished.max() == 0:
                break
    sentences = []
    for row in out[:, 1:]:
        sentence = []
        for symbol in row.tolist():
            if symbol == eos:
                break
            sentence.append(symbol)
        sentences.append(sentence)
    return sentences


@exercise.also_right
@torch.no_grad()
def only_those_that_go_on(model, source, source_mask, bos, eos, max_len):
    hidden, state = model.encode(source, source_mask)
    sentences = [[] for _ in range(len(source))]
    alive = torch.arange(len(source))
    fed = torch.full_like(alive, bos)
    for _ in range(max_len):
        logits, state, _ = model.cell(fed, state, hidden[alive], source_mask[alive])
        symbols = torch.argmax(logits, dim=-1)
        going = symbols != eos
        alive, fed, state = alive[going], symbols[going], state[going]
        for row, symbol in zip(alive.tolist(), fed.tolist(), strict=True):
            sentences[row].append(symbol)
        if not len(alive):
            break
    return sentences
