"""How a test takes right results of softmax for wrong ones, and what it makes of errors."""

from __future__ import annotations

import contextlib
import io

import torch

from attnlab.checking.draw import seed_everything


def right_version(x, dim=-1):
    return torch.softmax(x if x.is_floating_point() else x.double(), dim)


def scaled(factor):
    return lambda x, shares: factor * shares


def moved(distance):
    return lambda x, shares: shares + distance


def cast(index):
    """Other numbers in another dtype; whole numbers for whole numbers."""

    def wrong(x, shares):
        floats = [kind for kind in (torch.float32, torch.float16, torch.float64) if kind != x.dtype]
        kinds = floats if x.is_floating_point() else [torch.int64, torch.int32]
        return (1.37 * shares).to(kinds[index])

    return wrong


def with_one_axis_more(axis):
    return lambda x, shares: shares.unsqueeze(axis)


def changing_its_input(factor):
    def wrong(x, shares):
        x.detach().mul_(factor).add_(1)
        return shares

    return wrong


# Of each kind of wrong result two, so that no other condition than a turned one is met by both.
PAIRS = (
    (scaled(1.37), scaled(0.61)),
    (moved(0.01), moved(-0.01)),
    (cast(0), cast(1)),
    (with_one_axis_more(0), with_one_axis_more(-1)),
    (changing_its_input(2), changing_its_input(0)),
)


class Tried:
    """How far a test gets with a version that is right up to one call, and wrong from there on.

    Attributes:
        error: what the test raises, or None.
        calls: how often it calls the version.
        lines: the numbers of the test's lines that lead to the error.
    """

    def __init__(self, draw, test, wrong=None, since=0):
        self.calls, self.lines = 0, []

        def version(x, dim=-1):
            self.calls += 1
            shares = right_version(x, dim)
            return shares if wrong is None or self.calls < since else wrong(x, shares)

        def watched():
            try:
                test(version)
            except BaseException as error:
                trace = error.__traceback__.tb_next
                cell = trace and trace.tb_frame.f_code.co_filename
                while trace is not None:
                    if trace.tb_frame.f_code.co_filename == cell:
                        self.lines.append(trace.tb_lineno)
                    trace = trace.tb_next
                raise

        seed_everything(0)
        with contextlib.redirect_stdout(io.StringIO()):
            self.error = draw.raises(watched)

    def is_further_than(self, other):
        """Whether it gets past the line that stops the other one."""
        if self.error is None or self.calls > other.calls:
            return True
        failed = self.error.type == "AssertionError"
        return failed and self.calls == other.calls and self.lines > other.lines


def condition_turned_round(draw, test):
    """Whether `test` rejects a right version in a line that wrong results pass there."""
    right = Tried(draw, test)
    if right.error is None or right.error.type != "AssertionError" or not right.calls:
        return False
    return any(
        all(Tried(draw, test, wrong, right.calls).is_further_than(right) for wrong in pair)
        for pair in PAIRS
    )


def dtypes_for_whole_numbers(draw, test):
    """The dtypes in which `test` accepts a right result for whole numbers; both if it stops."""

    def single(x, shares):
        return shares if x.is_floating_point() else shares.float()

    with_float64, with_float32 = Tried(draw, test), Tried(draw, test, single)
    if with_float64.error is not None and with_float32.is_further_than(with_float64):
        return "float32 only"
    if with_float32.error is not None and with_float64.is_further_than(with_float32):
        return "float64 only"
    return "float32 and float64"


class StopsHereError(AssertionError, RuntimeError, TypeError, ValueError):
    """An error that every usual `except` catches."""


def has_allowed_infinity(x, dim):
    found = x == -torch.inf
    return bool(found.any() and not found.all(dim).any())


SCORES = {
    "whole numbers": lambda x, dim: not x.is_floating_point(),
    "scores of 16 bits": lambda x, dim: x.dtype in (torch.float16, torch.bfloat16),
    "scores with -inf": has_allowed_infinity,
    "scores in the thousands": lambda x, dim: bool(1000 <= x.abs().max() < 1e5),
    "scores that require gradients": lambda x, dim: x.requires_grad,
}


def accepted_although_it_stops(draw, test):
    """The first kind of scores for which a version stops with an error, and `test` accepts it."""

    def error_lost(kind):
        stopped = []

        def version(x, dim=-1):
            if kind(x, dim):
                stopped.append(True)
                raise StopsHereError("this version stops here")
            return right_version(x, dim)

        return draw.rejects(test, version) is not True and bool(stopped)

    return next((name for name, kind in SCORES.items() if error_lost(kind)), "none")
