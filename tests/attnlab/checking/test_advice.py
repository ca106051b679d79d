import math
from dataclasses import replace

import pytest
import torch

from attnlab.checking.advice import explain
from attnlab.checking.draw import NO_GRADIENT, ONLY_PRINTED, RETURNED_FALSE
from attnlab.checking.judges import AtLeast, Close, Difference, Kills, SameShares, Within
from attnlab.checking.observation import Missing, Opaque, Raised, count_of

T = torch.tensor


def D(values):
    return torch.tensor(values, dtype=torch.float64)


SECRET = 0.7310585786


def words(expected, seen, judge=None):
    return explain((judge or Close()).compare(expected, seen))


@pytest.mark.parametrize(
    ("expected", "seen", "sentence"),
    [
        (1, Missing("softmax"), "Your notebook does not define `softmax`. "
            "Has its cell run, and is the name spelled as in the task?"),
        (1, Raised("NotImplementedError"), "Nothing is written here yet, or `raise "
            "NotImplementedError` is still there. Replace that line with your code."),
        (1, Raised("NotImplementedError", "no such kernel", "x @ y"),
            "your code stopped with NotImplementedError in the line `x @ y`: no such kernel."),
        (1, Raised("ForbiddenCallError", "torch.softmax"),
            "Your code calls `torch.softmax`, which you should build in this step. "
            "Please write it from smaller functions."),
        (1, Raised("KeyError", "'a'", "x['a']"),
            "your code stopped with KeyError in the line `x['a']`: 'a'."),
        (Raised("ValueError"), Raised("KeyError"),
            "your code stopped with KeyError (expected ValueError)."),
        (Raised("ValueError"), 2,
            "expected ValueError, but nothing was raised."),
        (T([1.0]), None, "expected a float32 tensor of shape (1,), got None "
            "(is the `return` missing?)."),
        (T([1.0]), Opaque("numpy.ndarray"),
            "expected a float32 tensor of shape (1,), got an object of type numpy.ndarray."),
        ([1, 2], [1], "expected 2 values, got 1."),
        (count_of((T(1), T(2))), count_of(T([1, 2])), "one tensor, expected 2 values. Does the "
            "task ask for one value here or for several?"),
        (count_of([T(1)] * 2), count_of((T(1),) * 3), "3 values, expected 2 values."),
        ([1], [], "expected 1 value, got 0."),
        ({"rejects a sum": True}, {"rejects a sum": False},
            "Your test should reject a sum, and does not."),
        ({"accepts a": True}, {"accepts a": Raised("AssertionError", "", "assert y.sum() == 1")},
            "your test rejects a with AssertionError in the line `assert y.sum() == 1`."
            " Print both sides of what this line compares, for your own version. Is the expected "
            "one right? Is one of them NaN or random, or do only the last digits differ? If "
            "nothing of this: which sentence of the docstring promises it?"),
        ({"accepts your own": True}, {"accepts your own": Raised("AssertionError", "", "assert y")},
            "your test rejects your own version with AssertionError in the line `assert y`. "
            "Print both sides of what this line compares, for your own version. Is the expected "
            "one right? Is one of them NaN or random, or do only the last digits differ? If "
            "nothing of this: which sentence of the docstring promises it? If one does, your own "
            "code breaks this promise."),
        ({"accepts your own": True}, {"accepts your own": Raised("AssertionError",
            "Torch not compiled with CUDA enabled", 'm = impl(3, device="cuda")')},
            "your test rejects your own version with AssertionError in the line "
            '`m = impl(3, device="cuda")`: Torch not compiled with CUDA enabled. Which device does '
            "the code ask for, and which exists on every machine?"),
        (T([1.0]), Raised("ValueError", "10 features and 4 heads", "raise ValueError("),
            "your code stopped with ValueError in the line `raise ValueError( …`: 10 features and "
            "4 heads."),
        (T([1.0]), Raised("AssertionError", "Tensor-likes are not close!"),
            "your code stopped with AssertionError: Tensor-likes are not close!"),
        ({"accepts your own": True}, {"accepts your own": Raised("TypeError", "nothing", "f(3)")},
            "your test rejects your own version with TypeError in the line `f(3)`: nothing. "
            "If this line calls the version that is tested: does the call fit the docstring? If it "
            "does, the error is in your own code. If the line calls nothing of the kind: which "
            "values does it work with?"),
        ("cosine", "sine", "sine, and that is not right."),
        ("once", "f\"`<b>`", "'f\"`<b>`' is not right here."),
        (0.5, math.nan, "the result is NaN. Where does it come from?"),
        (1048576, 786432.0, "your 786432 is not right."),
        (1048576, 3e20, "your 3e+20 is not right."),
        ({"accepts a": True}, {"accepts a": Raised("TypeError", "no such thing", "impl(3)")},
            "your test rejects a with TypeError in the line `impl(3)`: no such thing. "
            "Does your test call it as the docstring says?"),
        ({"accepts a": True}, {"accepts a": Raised("RuntimeError",
            "The size of tensor a (3) must match the size of tensor b (2)", "y = impl(x, m)")},
            "your test rejects a with RuntimeError in the line `y = impl(x, m)`: The "
            "size of tensor a (3) must match the size of tensor b (2). Does your test call it as "
            "the docstring says?"),
        ({"accepts a": True}, {"accepts a": Raised("RuntimeError",
            "The size of tensor a (3) must match the size of tensor b (2)", "w = impl(x) - y")},
            "your test rejects a with RuntimeError in the line `w = impl(x) - y`: The "
            "size of tensor a (3) must match the size of tensor b (2). What are the shapes on the "
            "two sides of the operation?"),
        ({"rejects a": True}, {"rejects a": RETURNED_FALSE}, "rejects a: your test returns False, "
            "but nothing reads that value. A test rejects by raising: which statement turns a "
            "False into an error?"),
        ({"rejects a": True}, {"rejects a": ONLY_PRINTED}, "rejects a: your test prints something "
            "and raises nothing. A test rejects by raising: which statement does that?"),
        ({"kept": True}, {"kept": False}, "kept: expected True, got False."),
        ({"raises": False}, {"raises": True}, "raises: expected False, got True."),
        ({"its shape": [2, 3]}, {"its shape": [3]}, "its shape: expected shape (2, 3), got (3,). "
            "There are too few axes: which call sums one up, picks one entry of it or merges two?"),
        ({"sizes": [2, 3]}, {"sizes": [2, 4]},
            "sizes (value 2): your 4 is not right."),
        ({"a": 1}, {"b": 1}, "there is no entry a; the task does not ask for 'b'."),
        ({"a": 1, "b": 1}, {}, "there is no entry a or b."),
        (T([1.0]), Raised("AttributeError", "'tuple' object has no attribute 'shape'"),
            "your code returned a tuple, which has no `shape`. What kind of value does the task "
            "ask for?"),
        (T([1.0]), Raised("AttributeError", "'NoneType' object has no attribute 'shape'"),
            "your code returned None or passed it on (is a `return` missing?)."),
        (T([1.0]), Raised("TypeError", "cannot unpack non-iterable NoneType object"),
            "your code returned None or passed it on (is a `return` missing?)."),
        (T([1.0]), Raised("TypeError", "'NoneType' object is not iterable", "a, b = f(x)"),
            "your code stopped with TypeError in the line `a, b = f(x)`: 'NoneType' object is not "
            "iterable. Which value is None here: an argument that may be None, or the result of a "
            "function without `return`?"),
        (T([1.0]), Raised("AttributeError", "'Layer' object has no attribute 'norm'"),
            "your `Layer` has no `norm`. Is this the name that the task gives it?"),
        (T([1.0]), Raised("AttributeError", "'int' object has no attribute 'mT'", "d.mT"),
            "your code stopped with AttributeError in the line `d.mT`: 'int' object has no "
            "attribute 'mT'. Which value did you expect there, and which did you get?"),
        (T([1.0]), Raised("TypeError", "expected one of:"),
            "your code stopped with TypeError: expected one of."),
        (T([1.0]), Raised("TypeError", "-: 'Tensor' and 'torch.return_types.max'"),
            "your code stopped with TypeError: -: 'Tensor' and 'torch.return_types.max'. "
            "With an axis, `max` and similar functions return two things, values and indices: "
            "which do you need?"),
        (T(7), T(1246712), "your 1246712 is not right."),
        (0.5, 0.6, "your 0.6 is not right."),
        ("float64", "float32", "float32, expected float64. Which line names a dtype, or makes a "
            "tensor without asking the input for its own?"),
        ({"dtype": "float64"}, {"dtype": "NoneType"}, "dtype: NoneType, expected float64. "
            "Is a `return` missing?"),
        ("cuda", "cpu", "cpu, expected cuda. Which line makes a tensor without asking for its "
            "device?"),
        ({"inputs unchanged": True}, {"inputs unchanged": False}, "inputs unchanged: expected "
            "True, got False. Which line writes into what your code was given?"),
        (T([1.0]), [1.0], "expected a float32 tensor of shape (1,), got a list of 1. Which line "
            "makes a list, and which function makes one tensor of its parts?"),
        (T([1.0]), 1.0, "expected a float32 tensor of shape (1,), got the number 1. Which call "
            "turns a tensor into a number of Python?"),
        (T([1.0]), Raised("MissingWeightError", "there is no weight W of shape (2,); there are V"),
            "there is no weight W of shape (2,); there are V."),
        ({"far": [[1], [2], [3]]}, {"far": [[1], [2], [4]]},
            "far (value 1 of list 3): your 4 is not right."),
        (1.5, 1.500001, "your 1.5 is not right: only the last digits differ."),
        (D([1.0, 2.0]), D([1.0, 2.0 + 1e-6]), "1 of 2 entries differ, the first at index 1. "
            "Only the last digits differ."),
        (D([1.0, math.inf]), D([1.0 + 1e-6, math.inf]), "1 of 2 entries differ, the first at "
            "index 0. Only the last digits differ."),
        (T([5, 6]), T([5, 7]), "1 of 2 entries differ, the first at index 1."),
        (T([1.0]), Raised("IndexError", "index -100 is out of bounds for dimension 1 with size 5"),
            "your code stopped with IndexError: index -100 is out of bounds for dimension 1 with "
            "size 5. Which index is it, where does it come from, and how long is that axis?"),
        (T([1.0]), Raised("RuntimeError", "mat1 and mat2 must have the same dtype, but got Double"),
            "your code stopped with RuntimeError: mat1 and mat2 must have the same dtype, but got "
            "Double. Which of the two did your code make, and with which dtype?"),
        (T([1.0]), Raised("TypeError", "'Tensor' object is not callable"),
            "the check calls your function, and found an object of another kind ('Tensor' object "
            "is not callable). Which line below the definition gives its name another value?"),
        ("nothing of this kind", "an `assert` of a tuple",
            "an `assert` with a tuple, as in `assert (a, b)`, which is true whatever its entries "
            "are. Which of them is your condition?"),
        (T([1.0]), Raised("NameError", "name 'math' is not defined", "x = math.sqrt(d)"),
            "your code stopped with NameError in the line `x = math.sqrt(d)`: name 'math' is not "
            "defined. Where is this name defined or imported, and is it spelt the same there? If "
            "you replaced the whole cell, its import lines may be missing."),
        (T([True]), Raised("RuntimeError", "Tensor.item() cannot be called on meta tensors", "m"),
            "your code stopped with RuntimeError in the line `m`: Tensor.item() cannot be called "
            'on meta tensors. A tensor on "meta" has a shape, a dtype and a device, but no '
            "entries. What can you ask it?"),
        (None, T(True), "expected None, got a bool tensor of shape ()."),
        (T([1.0]), NO_GRADIENT, "no gradient reaches the input. "
            "Some call on the way cuts torch's graph: which one?"),
        (T([1.0, 2.0]), T([1.0, math.nan]), "1 of 2 entries are NaN, the first at index 1. "
            "Follow the first such entry back through your code."),
        (T([1.0, -math.inf]), T([math.inf, -math.inf]), "1 of 2 entries are infinity, the first "
            "at index 0. Follow the first such entry back through your code."),
        (T(1.0), T(math.nan), "the result is NaN. Follow the first such entry back through your "
            "code."),
        (T([1.0, 2.0]), T([1.0, 3.0]), "1 of 2 entries differ, the first at index 1."),
        (T([1.0, 2.0]).double() / 3, T([1.0, 2.0]) / 3, "every entry differs, the first at index "
            "0 (expected float64, yours is float32)."),
        ([1, {"b": 2}], [1, {"b": 3}], "b (value 2): your 3 is not right."),
    ],
)  # fmt: skip
def test_the_advice(expected, seen, sentence):
    assert words(expected, seen) == sentence


def test_advice_names_both_shapes():
    text = words(torch.ones(2, 3), torch.ones(3, 2))
    assert "expected shape (2, 3), got (3, 2)" in text


@pytest.mark.parametrize(
    ("line", "denies"),
    [
        ("assert not torch.allclose(a, b)", True),
        ("assert (a - b).abs().max() > 1e-10", True),
        ("assert error > tolerance_of_mine", False),
        ("assert a.dtype != b.dtype", True),
        ("assert False", True),
        ("raise AssertionError('context')", True),
        ("if ok: raise AssertionError", True),
        ("assert torch.allclose(a, b)", False),
        ("assert (a - b).abs().max() < 1e-10", False),
        ("assert Falsehood(a)", False),
    ],
)
def test_a_line_that_denies_is_asked_about_its_condition(line, denies):
    told = words({"accepts a": True}, {"accepts a": Raised("AssertionError", "", line)})
    assert ("Is the condition of this line, or of the `if` before it, true or false" in told) is (
        denies
    )


def test_the_sign_of_a_number_that_may_be_written_by_hand_is_not_told():
    difference = Close().compare(-3.5, 3.5)
    assert "Only the sign is wrong" in explain(difference)
    assert explain(replace(difference, kind="number")) == "your number is not right."


def test_advice_names_slices_that_are_wrong_throughout():
    seen = torch.ones(2, 3, 4)
    seen[:, 1] = 5
    assert "Along dimension 1, these slices are wrong throughout: [1]." in words(
        torch.ones(2, 3, 4), seen
    )


def test_advice_on_bands_and_on_students_tests():
    assert words(None, 0.5, AtLeast(0.9)) == "expected 0.9 or more, got 0.5."
    assert words(None, 0.5, Within(1, 2)) == "expected between 1 and 2, got 0.5."
    kills = Kills((("right", True), ("wrong", False), ("bad", False)))
    assert "accepts 1 of 2 wrong" in words(None, [True, False, True], kills)
    assert "rejects every correct version" in words(None, [False, False, False], kills)


def test_advice_on_random_draws_names_the_students_count_alone():
    text = words(torch.tensor([731, 269]), torch.tensor([512, 488]), SameShares())
    assert text.startswith("512 of 1000 random draws are number 0,")
    assert "731" not in text


@pytest.mark.parametrize("expected", [SECRET, T(SECRET), T([SECRET, 2.0]), [SECRET], {"p": SECRET}])
@pytest.mark.parametrize("seen", [
    None, 2.5, "text", True, [2.5], [2.5, 1], {"p": 2.5}, {"q": 1}, T([2.5, 2.0]), T([[2.5]]),
    T(math.nan), T([math.nan, 2.0]), NO_GRADIENT, Opaque("set"), Raised("KeyError"), Missing("f"),
])  # fmt: skip
def test_expected_numbers_are_never_revealed(expected, seen):
    difference = Close().compare(expected, seen)
    assert "0.73" not in explain(difference)


@pytest.mark.parametrize(("expected", "sort"), [(True, "True or False"), ("secret", "text")])
def test_other_expected_answers_are_not_revealed_either(expected, sort):
    assert words(expected, 2.5) == f"expected {sort}, got the number 2.5."


def test_a_word_that_is_not_offered_is_named_as_such():
    judge = Close(words=("padding", "nothing"))
    assert words("nothing", "batch norm", judge) == (
        "no such word; choose one of 'padding', 'nothing'."
    )
    assert words("nothing", "padding", judge) == "padding, and that is not right."
    assert judge.compare("nothing", "nothing") is None
    assert judge.compare("a word of the check's own", "a word of the check's own") is None


def test_a_test_that_reports_without_raising_is_named():
    kills = Kills((("right", True), ("wrong", False), ("bad", False)))
    assert "your test returns False" in words(None, [True, RETURNED_FALSE, False], kills)
    assert "your test prints" in words(None, [ONLY_PRINTED] * 3, kills)
    assert "your test prints" in words(None, [True, ONLY_PRINTED, False], kills)
    assert "accepts 1 of 2" in words(None, [ONLY_PRINTED, ONLY_PRINTED, False], kills)
    many = Kills((("right", True), *((f"wrong {i}", False) for i in range(10))))
    assert "your test prints" in words(None, [ONLY_PRINTED] * 10 + [False], many)
    assert "your test prints" in words(None, [ONLY_PRINTED] * 7 + [False] * 4, many)
    assert "accepts 5 of 10" in words(None, [ONLY_PRINTED] * 6 + [False] * 5, many)


def test_a_kind_that_no_judge_makes_is_an_error():
    with pytest.raises(ValueError, match="'sideways'"):
        explain(Difference("sideways"))


def test_a_message_of_torchs_is_followed_by_a_question():
    """The messages come from torch itself, so that another wording of a new version is seen."""
    x = torch.randn(3, 4, requires_grad=True)

    def changed_result():
        top = x.amax(-1, keepdim=True)
        top[top > 0] = 0
        (x - top).exp().sum().backward()

    calls = {
        "that the backward pass still needs": changed_result,
        "and on which device?": lambda: torch.zeros(3) + torch.zeros(3, device="meta"),
        "How many entries does the tensor have": lambda: torch.zeros(3).item(),
        "the mask that chooses its entries": lambda: torch.zeros(2, 3)[torch.ones(2, 1) > 0],
        "Along which axis is there more than one": lambda: torch.zeros(2, 3).expand(4, 3),
        "Which call leaves torch": lambda: torch.zeros(3, device="meta").numpy(),
    }
    for question, call in calls.items():
        try:
            call()
        except Exception as error:
            raised = Raised(type(error).__name__, str(error))
        assert question in explain(Difference("raised", (), T([1.0]), raised)), raised
