"""Other right versions; mistakes edit the first one of each function."""

import functools
import math

import torch
from torch import nn

from attnlab.data.markov import course_source
from attnlab.evaluation import next_token_loss
from attnlab.masks import causal_mask
from attnlab.models.markov_gpt import LENGTH, MarkovGPT, train_gpt
from attnlab.softmax import cross_entropy, log_softmax

from . import exercise


@exercise.also_right(of="next_token_loss")
def shifted_and_flattened(logits, ids):
    return cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())


@exercise.also_right(of="evaluate")
def mode_restored(model, ids, mask, loss=next_token_loss):
    before = model.training
    model.eval()
    with torch.no_grad():
        result = float(loss(model(ids, mask), ids))
    model.train(before)
    return result


@exercise.also_right(of="is_possible")
def in_one_comparison(loss, floor, tolerance):
    return loss >= floor - tolerance


@exercise.also_right(of="next_token_loss")
def by_torch(logits, ids):
    return nn.functional.cross_entropy(logits[:, :-1].mT, ids[:, 1:])


@exercise.also_right(of="next_token_loss")
def by_gather(logits, ids):
    log_p = log_softmax(logits)[:, : ids.shape[1] - 1]
    return -log_p.gather(-1, ids[:, 1:, None]).mean()


@exercise.also_right(of="next_token_loss")
def by_a_target_to_ignore(logits, ids):
    target = torch.full_like(ids, -100)
    target[:, :-1] = ids[:, 1:]
    vocabulary = logits.shape[-1]
    return nn.functional.cross_entropy(
        logits.reshape(-1, vocabulary), target.reshape(-1), ignore_index=-100
    )


@exercise.also_right(of="evaluate")
def with_a_decorator(model, ids, mask, loss=next_token_loss):
    was_training = model.training
    model.eval()
    try:
        with torch.inference_mode():
            return loss(model(ids, mask), ids).item()
    finally:
        model.train(was_training)


@exercise.also_right(of="evaluate")
def in_small_steps(model, ids, mask, loss=next_token_loss):
    modes = [(module, module.training) for module in model.modules()]
    with torch.no_grad():
        model.train(False)
        logits = model(ids, mask)
        value = loss(logits, ids).cpu().tolist()
    for module, mode in modes:
        module.training = mode
    return value


@exercise.also_right(of="is_possible")
def by_the_difference(loss, floor, tolerance):
    return bool(floor - loss <= tolerance)


@exercise.also_right(of="is_possible")
def with_nan_asked_for(loss, floor, tolerance):
    if math.isnan(loss):
        return False
    return not (loss + tolerance < floor)


@exercise.also_right(of="markov_past.safetensors")
def another_seed():
    return seed_two()


@functools.cache
def seed_two():
    model, ids = MarkovGPT(seed=2), course_source().sequences("train", 4096, LENGTH)
    train_gpt(model, ids, causal_mask(LENGTH), next_token_loss, seed=2)
    return dict(model.state_dict())
