"""Wrong versions that run the model in another mode than it is in, or need a model with modes."""

from torch import nn

from attnlab.causality import leaks, pad_invariant

from . import exercise

TO_EVAL = (
    "You switch the model to `eval()` first. That turns off dropout, but also the batch statistics "
    "of batch normalisation, which leak in training. In which mode should the model be asked?"
)


@exercise.mistake(TO_EVAL, of="leaks")
def switched_to_eval(fn, T, vocab):
    if isinstance(fn, nn.Module):
        fn.eval()
    return leaks(fn, T, vocab)


@exercise.mistake(TO_EVAL, of="leaks")
def switched_to_eval_and_back(fn, T, vocab):
    if not isinstance(fn, nn.Module):
        return leaks(fn, T, vocab)
    mode = fn.training
    found = leaks(fn.eval(), T, vocab)
    fn.train(mode)
    return found


@exercise.mistake(
    "You switch the model to `train()` first, so it uses the statistics of the batch even if it is "
    "in evaluation mode. In which mode should the model be asked?",
    of="leaks",
)
def switched_to_train(fn, T, vocab):
    if isinstance(fn, nn.Module):
        fn.train()
    return leaks(fn, T, vocab)


@exercise.mistake(
    "You leave the model in evaluation mode, and it was in training mode before. In which mode "
    "should the code after your probe find it?",
    of="leaks",
)
def left_in_eval(fn, T, vocab):
    found = leaks(fn, T, vocab)
    if isinstance(fn, nn.Module):
        fn.eval()
    return found


ANY_CALLABLE = (
    "You call `eval()` or `train()` on `fn`, or read its mode. According to the task, `fn` may be "
    "any callable, and a plain function has no mode. A model should be asked as it is: is that "
    "line needed?"
)


@exercise.mistake(ANY_CALLABLE, of="leaks")
def eval_of_any_callable(fn, T, vocab):
    fn.eval()
    return leaks(fn, T, vocab)


@exercise.mistake(ANY_CALLABLE, of="leaks")
def eval_of_any_callable_and_back(fn, T, vocab):
    fn.eval()
    found = leaks(fn, T, vocab)
    fn.train()
    return found


@exercise.mistake(ANY_CALLABLE, of="leaks")
def train_of_any_callable(fn, T, vocab):
    fn.train()
    return leaks(fn, T, vocab)


@exercise.mistake(ANY_CALLABLE, of="leaks")
def mode_of_any_callable(fn, T, vocab):
    mode = fn.training
    found = leaks(fn.eval(), T, vocab)
    fn.train(mode)
    return found


@exercise.mistake(ANY_CALLABLE, of="leaks")
def mode_of_any_callable_kept(fn, T, vocab):
    mode = fn.training
    found = leaks(fn, T, vocab)
    fn.train(mode)
    return found


@exercise.mistake(ANY_CALLABLE, of="pad_invariant")
def eval_of_any_callable_with_padding(fn, T, vocab, pad):
    return pad_invariant(fn.eval(), T, vocab, pad)


@exercise.mistake(ANY_CALLABLE, of="pad_invariant")
def train_of_any_callable_with_padding(fn, T, vocab, pad):
    fn.train()
    return pad_invariant(fn, T, vocab, pad)


@exercise.mistake(ANY_CALLABLE, of="pad_invariant")
def mode_of_any_callable_with_padding(fn, T, vocab, pad):
    mode = fn.training
    same = pad_invariant(fn, T, vocab, pad)
    fn.train(mode)
    return same
