"""What a probe asks, recorded: functions, methods, cases, and nothing of the reference's own."""

import torch
from torch import nn

from attnlab.checking.lab import Lab, observe
from gradekit.grading.recorded_calls import MOST_CALLS, Recorder


class Attention(nn.Module):
    """A module as students write one."""

    __module__ = "attnlab.attention"

    def __init__(self, width):
        super().__init__()
        self.project = nn.Linear(width, width)

    def forward(self, x, mask=None):
        return self.scores(x)

    def scores(self, x):
        return self.project(x)

    forward.__module__ = scores.__module__ = __module__


def halved(x, times=1):
    x /= 2
    return x if times == 1 else halved(x, times - 1)


def recorded(probe, **names):
    recorder = Recorder()
    seen = observe(probe, Lab(recorder.watched(names)), recorder.draw(0))
    return recorder, seen


def test_arguments_are_kept_as_they_were_before_the_call():
    recorder, seen = recorded(
        lambda lab, draw: lab.halved(torch.tensor(4.0), times=2), halved=halved
    )
    (call,) = recorder.calls  # not the one that the function makes of itself
    assert (call.function, call.arguments) == ("halved", (("x", "4. (float32)"), ("times", "2")))
    assert call.result is seen


def test_an_object_is_recorded_when_it_is_made_and_when_it_is_called():
    def probe(lab, draw):
        module = lab.Attention(3)
        assert isinstance(module, Attention)
        return module(draw.normal(2, 3, dtype=torch.float32)).shape

    recorder, _ = recorded(probe, Attention=Attention)
    assert [call.function for call in recorder.calls] == ["Attention", "Attention.forward"]
    assert recorder.calls[0].arguments == (("width", "3"),)
    assert recorder.calls[1].arguments[0][1].startswith("float32 of shape (2, 3)\n")


def test_the_sizes_of_a_check_are_told_apart_and_drawn_as_usual():
    def probe(lab, draw):
        return draw.each_size(lambda T: lab.halved(draw.normal(T)), T=2)

    recorder, seen = recorded(probe, halved=halved)
    assert [call.case for call in recorder.calls] == list(seen)
    assert seen.keys() == observe(probe, Lab({"halved": halved}), recorder.draw(0)).keys()
    assert "T = 1" in seen


def test_a_call_that_raises_is_recorded():
    def strict(x):
        raise ValueError("no")

    recorder, _ = recorded(lambda lab, draw: lab.strict(1), strict=strict)
    assert recorder.calls[0].result is None


def test_of_many_calls_the_first_are_kept():
    recorder, _ = recorded(
        lambda lab, draw: [lab.halved(torch.ones(1)) for _ in range(MOST_CALLS + 7)], halved=halved
    )
    assert (len(recorder.calls), recorder.left_out) == (MOST_CALLS, 7)


def test_values_that_are_not_called_stay():
    assert Recorder().watched({"guess": 4}) == {"guess": 4}
