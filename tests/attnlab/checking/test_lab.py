import linecache
from contextlib import ExitStack

import pytest
import torch
from torch import nn

from attnlab.checking.draw import Draw
from attnlab.checking.lab import Lab, observe
from attnlab.checking.observation import Missing, Raised

FORBIDS = ("torch.softmax", "torch.Tensor.softmax", "torch.nn.functional.softmax")


def see(function, forbids=()):
    return observe(lambda lab, draw: lab.f(torch.ones(2)), Lab({"f": function}), Draw(0), forbids)


def test_the_return_value_is_the_observation():
    assert see(lambda x: 3) == 3


def test_a_probe_runs_without_modes_of_the_notebook():
    def product(x):
        return [(x[None] @ x[:, None]).dtype == torch.float32, torch.is_grad_enabled()]

    with torch.autocast("cpu"), torch.inference_mode():
        assert product(torch.ones(2)) == [False, False]
        assert see(product) == [True, True]


@pytest.mark.parametrize("left_on", ["default", "context"])
def test_a_probe_runs_with_the_usual_dtype_and_device(left_on):
    def made(x):
        return [str(torch.ones(1).dtype), torch.zeros(1).device.type]

    torch.set_default_dtype(torch.float64)
    try:
        with ExitStack() as stack:
            if left_on == "context":
                stack.enter_context(torch.device("meta"))
            else:
                torch.set_default_device("meta")
                stack.callback(torch.set_default_device, None)
            assert made(None) == ["torch.float64", "meta"]
            assert see(made) == ["torch.float32", "cpu"]
            assert made(None) == ["torch.float64", "meta"]
    finally:
        torch.set_default_dtype(torch.float32)


def test_a_missing_name_is_an_observation():
    assert observe(lambda lab, draw: lab.softmax(1), Lab({}), Draw(0)) == Missing("softmax")


def test_an_exception_keeps_its_type_and_first_line():
    def fails(x):
        raise ValueError("one\ntwo")

    assert see(fails) == Raised("ValueError", "one")


@pytest.mark.parametrize("leave", [exit, lambda x: (_ for _ in ()).throw(SystemExit(1))])
def test_leaving_python_is_an_observation(leave):
    assert see(leave).type == "SystemExit"


def test_an_interrupt_passes_through():
    def stopped(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        see(stopped)


def test_infinite_recursion_is_an_observation():
    def endless(x):
        return endless(x)

    assert see(endless).type == "RecursionError"


def test_an_exception_that_cannot_be_printed():
    class Mute(Exception):
        def __str__(self):
            raise RuntimeError

    def fails(x):
        raise Mute

    assert see(fails) == Raised("Mute")


@pytest.mark.parametrize(
    "call",
    [
        lambda x: torch.softmax(x, -1),
        lambda x: x.softmax(-1),
        lambda x: nn.functional.softmax(x, -1),
        lambda x: nn.Softmax(-1)(x),
        lambda x: getattr(torch, "soft" + "max")(x, dim=0),
        lambda x: torch._softmax(x, -1, False),
        lambda x: torch.ops.aten._softmax(x, -1, False),
        lambda x: torch.ops.aten.softmax.int(x, -1),
    ],
)
def test_a_forbidden_call_is_detected_under_any_name(call):
    assert see(call, FORBIDS).type == "ForbiddenCallError"
    assert isinstance(see(call), torch.Tensor), "it is allowed if it is not forbidden"


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("torch.autograd.grad", lambda x: torch.autograd.grad((2 * x).sum(), x)),
        (
            "torch._softmax_backward_data",
            lambda x: torch._softmax_backward_data(x.detach(), x.detach(), -1, x.dtype),
        ),
    ],
)
def test_a_function_whose_name_torch_does_not_know_can_be_forbidden(name, call):
    def of_a_leaf(x):
        return call(x.detach().clone().requires_grad_())

    assert see(of_a_leaf, (name,)) == Raised("ForbiddenCallError", name)
    assert not isinstance(see(of_a_leaf), Raised)


def test_a_student_who_catches_a_forbidden_call_gets_no_result_of_it():
    def catches(x):
        try:
            return torch.softmax(x, -1)
        except Exception:
            return "hidden"

    assert see(catches, FORBIDS) == "hidden", "the student's own value, and not torch's"


@pytest.mark.parametrize(
    "name", ["/tmp/ipykernel_12/345.py", "<ipython-input-3-abc>", "/tmp/ipython-input-9-1.py"]
)
@pytest.mark.parametrize(
    ("inner", "quoted"),
    [
        ("return x @ torch.ones(5)", "return x @ torch.ones(5)"),
        # Who refuses an argument is right, and who passes it is not.
        ("raise ValueError(x.shape)", "return inner(x)"),
    ],
)
def test_the_students_line_is_quoted(name, inner, quoted):
    source = f"def f(x):\n    return inner(x)\ndef inner(x):\n    {inner}\n"
    names = {"torch": torch}
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    try:
        exec(compile(source, name, "exec"), names)
        assert see(names["f"]).source_line == quoted
        if "raise" in inner:
            assert see(names["inner"]).source_line == inner, "no line of the student's calls it"
    finally:
        del linecache.cache[name]


def test_a_line_of_another_step_is_not_quoted_if_one_of_this_step_can_be():
    source = "def merge(x):\n    return x.mT\ndef layer(x):\n    return merge((x, x))\n"
    names, name = {}, "<student 1>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    try:
        exec(compile(source, name, "exec"), names)
        merge = {names["merge"].__code__}

        def quoted(probe, elsewhere):
            return observe(probe, Lab(names), Draw(0), elsewhere=elsewhere).source_line

        assert quoted(lambda lab, draw: lab.layer(1), ()) == "return x.mT"
        assert quoted(lambda lab, draw: lab.layer(1), merge) == "return merge((x, x))"
        assert quoted(lambda lab, draw: lab.merge(1), merge) == "return x.mT"
    finally:
        del linecache.cache[name]


@pytest.mark.parametrize("off", [torch.no_grad, torch.inference_mode])
def test_gradients_are_on_for_a_probe_even_if_the_notebook_switched_them_off(off):
    def probe(lab, draw):
        return draw.gradients(lambda x: 2 * x, draw.normal(3))

    with off():
        assert Draw(3).gradients(lambda x: 2 * x, torch.zeros(3)) == ["no gradient"]
        (gradient,) = observe(probe, Lab({}), Draw(3))
    assert isinstance(gradient, torch.Tensor)
