import linecache

import numpy as np
import pytest
import torch

from attnlab.checking import raised
from attnlab.checking.draw import NO_GRADIENT, ONLY_PRINTED, RETURNED_FALSE, Draw
from attnlab.checking.errors import ForbiddenCallError, MissingNameError
from attnlab.checking.lab import Lab
from attnlab.checking.observation import FAILURE_CAUGHT, NO_REASON, NOTHING_STOPS_IT, Raised


def written_as(text):
    """A test of this text, which Python knows as it knows a cell's."""
    names, cell = {}, f"<cell of {text}>"
    linecache.cache[cell] = len(text), None, text.splitlines(keepends=True), cell
    exec(compile(text, cell, "exec"), names)
    return names["test"]


def everything(draw):
    return [
        draw.normal(2, 3),
        draw.uniform(4, low=-1, high=1),
        draw.integers(0, 9, 5),
        draw.choice([1.0, 2.0], 6),
        draw.permutation(5),
        draw.strided(draw.normal(2, 2)),
        torch.rand(2, generator=draw.generator()),
    ]


def test_equal_seeds_give_equal_inputs_and_others_do_not():
    first, second, other = everything(Draw(3)), everything(Draw(3)), everything(Draw(4))
    assert all(map(torch.equal, first, second))
    assert not any(torch.equal(a, b) for a, b in zip(first[:2], other[:2], strict=True))


def test_the_global_random_state_does_not_change():
    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    everything(Draw(3))
    assert torch.equal(torch.rand(3), expected)


def test_dtypes_and_ranges():
    draw = Draw(0)
    assert draw.normal(2).dtype == torch.float64
    assert draw.normal(2, dtype=torch.float16).dtype == torch.float16
    uniform = draw.uniform(200, low=2, high=3)
    assert uniform.min() >= 2
    assert uniform.max() < 3
    assert set(draw.integers(0, 2, 100).tolist()) == {0, 1}
    assert set(draw.choice([-1.0, 4.0], 100).tolist()) == {-1.0, 4.0}


def test_a_permutation_differs_from_its_inverse():
    for seed in range(30):
        order = Draw(seed).permutation(3)
        assert sorted(order.tolist()) == [0, 1, 2]
        assert not torch.equal(order[order], torch.arange(3))


def test_strided_memory_is_not_contiguous():
    draw = Draw(0)
    x = draw.normal(2, 3)
    spread = draw.strided(x)
    assert torch.equal(spread, x)
    assert not spread.is_contiguous()


@pytest.mark.parametrize("shape", [(), (5,), (2, 3), (2, 3, 5), (3, 3, 3)])
def test_no_axes_of_strided_memory_can_be_joined_by_view(shape):
    draw = Draw(0)
    spread = draw.strided(draw.normal(*shape))
    assert spread.shape == shape
    assert torch.equal(spread.reshape(-1), spread.contiguous().view(-1))
    for first in range(len(shape) - 1):
        joined = (*shape[:first], -1, *shape[first + 2 :])
        with pytest.raises(RuntimeError, match="view size is not compatible"):
            spread.view(joined)


def squeezed(x):
    return (x - x.mean(-1, keepdim=True)).squeeze()


def kept(x):
    return x - x.mean(-1, keepdim=True)


def test_each_size_asks_at_the_sizes_where_code_fails():
    def ask(function):
        return Draw(0).each_size(
            lambda batch, T, d: list(function(torch.zeros(*batch, T, d)).shape),
            may_be_empty=["batch"],
            batch=(2,),
            T=5,
            d=7,
        )

    right, wrong = ask(kept), ask(squeezed)
    assert right == {
        "usual sizes": [2, 5, 7],
        "batch = (1,)": [1, 5, 7],
        "T = 1": [2, 1, 7],
        "d = 1": [2, 5, 1],
        "every axis of length 1": [1, 1, 1],
        "all axes equally long": [3, 3, 3],
        "batch = (3, 2)": [3, 2, 5, 7],
        "batch = ()": [5, 7],
        "batch = (0,)": [0, 5, 7],
    }
    differing = [name for name, shape in right.items() if wrong[name] != shape]
    assert differing == ["batch = (1,)", "T = 1", "d = 1", "every axis of length 1"]


def test_an_exception_at_one_size_does_not_end_the_others():
    def ask(T):
        if T == 1:
            raise ValueError("one word")
        return T

    seen = Draw(0).each_size(ask, T=5)
    assert seen["T = 1"] == Raised("ValueError", "one word")
    assert seen["all axes equally long"] == 3


def test_a_missing_name_ends_each_size():
    lab = Lab({})
    with pytest.raises(MissingNameError):
        Draw(0).each_size(lambda T: lab.softmax(T), T=5)


@pytest.mark.parametrize(
    ("axes", "empty", "words"),
    [({"T": 1}, (), "2 or more"), ({"batch": (2, 0)}, (), "2 or more"), ({"T": 5}, ["B"], "'B'")],
)
def test_sizes_that_make_no_sense_are_refused(axes, empty, words):
    with pytest.raises(ValueError, match=words):
        Draw(0).each_size(lambda **sizes: sizes, may_be_empty=empty, **axes)


def test_raises_returns_only_the_type():
    def fails():
        raise KeyError("a secret")

    assert Draw(0).raises(fails) == Raised("KeyError")
    assert Draw(0).raises(lambda: 1) is None


@pytest.mark.parametrize(
    "stop", [ForbiddenCallError("torch.softmax"), MissingNameError("softmax"), NameError("x")]
)
def test_errors_that_end_a_probe_pass_through_raises(stop):
    def fails():
        raise stop

    with pytest.raises(type(stop)):
        Draw(0).raises(fails)


def test_gradients_are_of_one_weighted_sum_and_may_be_missing():
    x = Draw(0).normal(3)
    ours = Draw(1).gradients(lambda x, n: x * x, x, torch.arange(3))
    theirs = Draw(1).gradients(lambda x, n: x.square(), x, torch.arange(3))
    assert torch.equal(ours[0], theirs[0])
    assert len(ours) == 1, "whole numbers have no gradient"
    assert Draw(1).gradients(lambda x: x.detach() * 2, x) == [NO_GRADIENT]
    both = Draw(1).gradients(lambda x, y: 2 * x, x, x)
    assert both[1] == NO_GRADIENT
    assert not x.requires_grad


@pytest.mark.parametrize("out", [None, 3.0, (1, 2)])
def test_an_output_that_is_not_a_tensor_is_returned(out):
    assert Draw(1).gradients(lambda x: out, torch.ones(2)) == out


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.add_(1),
        lambda x: x.clamp_(min=-1e300),  # -inf becomes a number
        lambda x: x.nan_to_num_(0.0, 1e5, -1e5),
        lambda x: x.unsqueeze_(0),
    ],
)
def test_an_input_changed_in_place_is_detected(change):
    draw = Draw(0)
    x = draw.choice([float("-inf"), float("nan"), 1.0], 20)
    assert draw.untouched()
    change(x)
    assert not draw.untouched()


def test_a_test_is_tried_on_each_version_in_order():
    def test(f):
        assert f(2) == 4

    draw = Draw(0, [lambda x: x * 2, lambda x: x + 1, lambda x: 1 / 0, lambda x: x**2])
    assert draw.accepts(test) == [True, False, False, True]


def test_what_a_test_says_of_one_version_is_kept():
    def test(f):
        assert f(2) == 4, "twice two"

    draw = Draw(0)
    assert draw.accepted(test, lambda x: x * 2) is True
    assert draw.accepted(test, lambda x: x + 1) == Raised("AssertionError", "twice two")
    assert draw.accepted(lambda f: pytest.fail("no"), abs) == Raised("Failed", "no")
    with pytest.raises(NameError):
        draw.accepted(lambda f: not_defined, abs)  # noqa: F821 - the point


def test_the_line_of_the_test_is_quoted_and_not_one_of_the_step_that_it_calls():
    cells = {
        "<student step>": "def step(x):\n    return x + (1, 2)\n",
        "<student test>": "def test(impl):\n    check(impl)\ndef check(impl):\n    y = impl(3)\n",
    }
    names = {}
    try:
        for cell, source in cells.items():
            linecache.cache[cell] = (len(source), None, source.splitlines(keepends=True), cell)
            exec(compile(source, cell, "exec"), names)
        assert Draw(0).accepted(names["test"], names["step"]).source_line == "y = impl(3)"
        # Only the step's cell is on the way to this error.
        assert Draw(0).accepted(len, names["step"]).source_line == ""
        assert Draw(0).accepted(lambda f: f(3), names["step"]).source_line == "return x + (1, 2)"
    finally:
        for cell in cells:
            del linecache.cache[cell]


@pytest.mark.parametrize("no", [False, torch.tensor(False), np.bool_(0)])
def test_a_test_that_returns_false_or_only_prints_is_known(no):
    def returns(f):
        return no

    def prints(f):
        print("wrong:", f(2))

    def asserts(f):
        print("trying")
        assert f(2) == 4
        return True

    draw = Draw(0, [lambda x: x + 1])
    assert draw.accepts(returns) == [RETURNED_FALSE]
    assert draw.accepts(prints) == [ONLY_PRINTED]
    for text, seen in (
        ("    for _ in range(2):\n        f(2)\n        print('one more', 'is done')", True),
        ("    print('ok' if f(2) == 4 else 'wrong')", ONLY_PRINTED),
        ("    if f(2) != 4:\n        print('wrong')", ONLY_PRINTED),
        (
            "    try:\n        assert f(2) == 4\n    except AssertionError:\n        print('no')",
            ONLY_PRINTED,
        ),
        ("    print('equal:', f(2) == 4)", ONLY_PRINTED),
    ):
        assert draw.accepts(written_as(f"def test(f):\n{text}\n")) == [seen], text
    assert draw.accepts(asserts) == [False]
    assert draw.rejects(asserts, lambda x: x + 1) is True
    assert draw.rejects(lambda f: True, lambda x: x + 1) is False


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("def test(f):\n    pass", NOTHING_STOPS_IT),
        ("def test(f):\n    assert f is not None", NOTHING_STOPS_IT),
        ("async def test(f):\n    assert f(2) == 4", NOTHING_STOPS_IT),
        ("def test(f):\n    assert f(2) == 4\n    yield", NOTHING_STOPS_IT),
        (
            "def test(f):\n    for _ in 'a':\n        try:\n            assert f(2) == 4\n"
            "        finally:\n            break",
            NOTHING_STOPS_IT,
        ),
        ("def test(f):\n    try:\n        f(2)\n    except:\n        pass", FAILURE_CAUGHT),
        ("def test(f):\n    assert f(2) == 4", NO_REASON),
        ("def test(f):\n    assert f(2) is not None", NO_REASON),
        ("def test(f):\n    assert g(2) == 4", NO_REASON),
    ],
)
@pytest.mark.filterwarnings("ignore:coroutine")
def test_a_test_that_nothing_stops_loses_its_failures(text, found):
    assert Draw(0).lost_failure(written_as(text), lambda x: 0) == found


HIDDEN_BY_AN_EXCEPT = """\
def test(f):
    try:
        out = f(2, twice=True)
    except Exception:
        raise AssertionError("f stops"){}
    assert out == 4
"""


@pytest.mark.parametrize("cause", ["", " from None"])
def test_an_error_that_an_except_turns_into_another_is_told_as_it_was(cause, monkeypatch):
    test = written_as(HIDDEN_BY_AN_EXCEPT.format(cause))
    monkeypatch.setattr(raised, "_NOTEBOOK_MARKS", ("<cell",))
    seen = Draw(0).accepted(test, lambda x: 2 * x)
    assert (seen.type, seen.source_line) == ("TypeError", "out = f(2, twice=True)")


def test_an_assert_about_an_error_that_was_expected_is_told_itself(monkeypatch):
    body = "    try:\n        f(2, 3)\n    except TypeError:\n        assert f(2) == 5\n"
    monkeypatch.setattr(raised, "_NOTEBOOK_MARKS", ("<cell",))
    seen = Draw(0).accepted(written_as(f"def test(f):\n{body}"), lambda x: 2 * x)
    assert (seen.type, seen.source_line) == ("AssertionError", "assert f(2) == 5")


def test_a_test_that_goes_on_without_a_result_rejects():
    """A name that is assigned nowhere is another matter: then nothing is known of the test."""
    body = "    try:\n        a = f(2)\n    except Exception:\n        pass\n    a + 1"

    def stops(x):
        raise ValueError

    assert Draw(0).rejects(written_as(f"def test(f):\n{body}"), stops) is True
    with pytest.raises(NameError):
        Draw(0).rejects(written_as("def test(f):\n    b + 1"), stops)


def test_what_a_test_prints_is_not_shown(capsys):
    Draw(0).rejects(lambda f: print("noise"), len)
    assert capsys.readouterr().out == ""


def test_lab_has_the_notebooks_names_and_no_others():
    lab = Lab({"a": 1})
    assert lab.a == 1
    with pytest.raises(MissingNameError, match="b"):
        _ = lab.b


def test_a_failure_of_pytest_is_an_observation_and_an_interrupt_is_not():
    def interrupted():
        raise KeyboardInterrupt

    assert Draw(1).raises(pytest.fail, "no") == Raised("Failed")
    with pytest.raises(KeyboardInterrupt):
        Draw(1).raises(interrupted)
