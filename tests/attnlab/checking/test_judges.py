import json
import math

import pytest
import torch

from attnlab.checking.advice import explain
from attnlab.checking.changed_lines import FewChanges
from attnlab.checking.draw import NO_GRADIENT
from attnlab.checking.judge_json import judge_from_json, judge_to_json
from attnlab.checking.judges import AtLeast, Close, Kills, SameShares, Within
from attnlab.checking.observation import Missing, NoAnswer, Opaque, Raised

inf, nan = math.inf, math.nan
T = torch.tensor


def kind(expected, seen, judge=None):
    difference = (judge or Close()).compare(expected, seen)
    return difference and difference.kind


@pytest.mark.parametrize(
    ("expected", "seen"),
    [
        (T([1.0, nan, -inf], dtype=torch.float64), T([1.0, nan, -inf], dtype=torch.float64)),
        (T([1.0]).double(), T([1.0 + 1e-10]).double()),
        (T([1.0]).double(), T([1.0])),
        (T([1.0]).half(), T([1.001]).half()),
        (T(2.0), 2.0),
        (2, 2.0),
        (nan, T(nan)),
        ({"a": [1, "x", None, True]}, {"a": [1, "x", None, True]}),
        (Raised("ValueError", "ours"), Raised("ValueError", "theirs")),
        (T([True, False]), T([True, False])),
    ],
)
def test_as_good_as_expected(expected, seen):
    assert kind(expected, seen) is None
    assert Close().credit(expected, seen) == 1.0


@pytest.mark.parametrize(
    ("expected", "seen", "found"),
    [
        (T([1.0]), NoAnswer("stopped"), "no answer"),
        (T([1.0]), Missing("softmax"), "missing"),
        (T([1.0]), Raised("KeyError"), "raised"),
        (Raised("ValueError"), Raised("KeyError"), "raised"),
        (T([1.0]), Raised("ForbiddenCallError", "torch.softmax"), "forbidden"),
        (Raised("ValueError"), T([1.0]), "did not raise"),
        (T([1.0]), None, "type"),
        (T([1.0]), 1.0, "type"),
        (T([1.0]), Opaque("set"), "type"),
        (True, 1, "type"),
        (1, True, "type"),
        ("a", "b", "values"),
        ([1, 2], [1], "length"),
        ({"a": 1}, {"b": 1}, "keys"),
        (T([1.0, 2.0]), T([[1.0, 2.0]]), "shape"),
        (T([1.0, 2.0]), T([1.0, nan]), "nan"),
        (T([1.0, 2.0]), T([inf, 2.0]), "nan"),
        (T([-inf, 2.0]), T([nan, 2.0]), "nan"),
        (T([nan, 2.0]), T([0.0, 2.0]), "values"),
        (T([1.0, 2.0]), T([1.0, 2.1]), "values"),
        (T([1.0]).double(), T([1.0 + 1e-7]).double(), "values"),
        (T([-inf, 2.0]), T([inf, 2.0]), "values"),
        (1.0, nan, "nan"),
        (1.0, 1.1, "values"),
        (-inf, inf, "values"),
        (-inf, 3.0, "values"),
        (T(-inf), T(3.0), "values"),
        (T([-inf, 2.0]), T([3.0, 2.0]), "values"),
        (nan, 3.0, "values"),
        (T([1.0]), NO_GRADIENT, "gradient"),
        (T([1.0]), T([1.0 + 1j]), "dtype"),
    ],
)
def test_the_kind_of_difference(expected, seen, found):
    assert kind(expected, seen) == found
    assert Close().credit(expected, seen) == 0.0


def test_the_path_leads_to_the_first_difference():
    expected = {"ok": 1, "rows": [T([1.0]), T([1.0, 2.0, 3.0])]}
    seen = {"ok": 1, "rows": [T([1.0]), T([1.0, 9.0, 3.0])]}
    difference = Close().compare(expected, seen)
    assert difference.path == ("rows", 1)
    assert difference.wrong.tolist() == [False, True, False]


def test_float32_answers_to_float64_questions_are_not_close_enough():
    right = torch.linspace(0, 1, 50, dtype=torch.float64)
    assert kind(right, right.float()) == "values"
    assert kind(right, right.float(), Close(atol=1e-6)) is None


def test_bands():
    assert kind(None, 0.5, Within(0, 1)) is None
    assert kind(None, T(1.0), Within(0, 1)) is None
    assert kind(None, 1.1, Within(0, 1)) == "band"
    assert kind(None, nan, Within(0, 1)) == "band"
    assert kind(None, "0.5", Within(0, 1)) == "type"
    assert kind(None, True, Within(0, 1)) == "type"
    assert kind(None, Raised("KeyError"), Within(0, 1)) == "raised"
    assert kind(None, 0.9, AtLeast(0.95)) == "band"
    assert kind(None, 1e9, AtLeast(0.95)) is None


KILLS = Kills((("right", True), ("a", False), ("b", False), ("c", False), ("d", False)))
TWO_RIGHT = Kills((("right", True), ("also right", True), ("a", False), ("b", False)))


@pytest.mark.parametrize(
    ("seen", "found", "credit"),
    [
        ([True, False, False, False, False], None, 1.0),
        ([True, True, False, False, False], "lets through", 0.75),
        ([True] * 5, "lets through", 0.0),
        ([False] * 5, "rejects right", 0.0),
        ([True, False], "type", 0.0),
        ([1, 0, 0, 0, 0], "type", 0.0),
        ("yes", "type", 0.0),
        (Missing("test_softmax"), "missing", 0.0),
    ],
)
def test_a_students_test_earns_the_share_of_the_wrong_versions_it_rejects(seen, found, credit):
    assert kind(None, seen, KILLS) == found
    assert KILLS.credit(None, seen) == credit


@pytest.mark.parametrize(
    ("seen", "found", "credit"),
    [
        ([True, True, False, False], None, 1.0),
        ([True, False, False, False], "rejects right", 0.5),
        ([True, False, True, False], "rejects right", 0.25),
        ([False] * 4, "rejects right", 0.0),
        ([True] * 4, "lets through", 0.0),
    ],
)
def test_a_right_version_that_is_rejected_costs_its_share(seen, found, credit):
    assert kind(None, seen, TWO_RIGHT) == found
    assert TWO_RIGHT.credit(None, seen) == credit


DESCRIBED = Kills((("loop", True), ("wrong", False)), (("loop", "works on one row at a time"),))
FEW = FewChanges(atol=1e-3, words=("a", "b"), before="def f(): pass", name="f", most=2)


def test_a_right_version_that_a_test_rejects_is_known_as_such():
    rejects = Close().compare({"rejects a mean": True}, {"rejects a mean": False})
    assert not rejects.is_rejection
    error = Raised("AssertionError", "", "assert a == b")
    accepts = Close().compare({"accepts your own": True}, {"accepts your own": error})
    assert accepts.is_rejection


@pytest.mark.parametrize(
    "judge",
    [
        Close(),
        SameShares(),
        Close(atol=1e-3),
        AtLeast(2),
        Within(0, 1),
        KILLS,
        DESCRIBED,
        FEW,
    ],
)
def test_judges_are_written_as_json_and_read_again(judge):
    assert judge_from_json(json.loads(json.dumps(judge_to_json(judge)))) == judge


def test_a_right_version_that_is_rejected_may_have_a_description():
    found = DESCRIBED.compare(None, [False, False])
    assert found.detail == "works on one row at a time"
    assert "among them one that works on one row at a time" in explain(found)
    assert "rejects every correct version" in explain(TWO_RIGHT.compare(None, [False] * 4))
    assert "rejects 1 of 2 correct" in explain(TWO_RIGHT.compare(None, [True, False, False, False]))


def test_a_tolerance_of_zero_is_exact():
    zero, tiny = torch.zeros(2, dtype=torch.float64), torch.full((2,), 1e-300, dtype=torch.float64)
    assert Close().compare(zero, tiny) is None
    assert Close(atol=0).compare(zero, tiny).kind == "values"
    large = torch.tensor([1e300, -3.0], dtype=torch.float64)
    assert Close(atol=0).compare(large, large * (1 + 1e-15)) is None
    assert Close(atol=0, rtol=0).compare(large, large * (1 + 1e-15)).kind == "values"


def test_words_travel_with_their_judge():
    judge = Close(words=("padding", "nothing"))
    assert judge_from_json(json.loads(json.dumps(judge_to_json(judge)))) == judge


def counts(p, draws=4000, seed=0):
    """How often each value is drawn, with rows of `p` one above another."""
    drawn = torch.multinomial(T(p), draws, True, generator=torch.Generator().manual_seed(seed))
    return torch.stack([row.bincount(minlength=len(p[0])) for row in drawn])


ROWS = [[0.5, 0.3, 0.15, 0.05], [0.1, 0.0, 0.2, 0.7]]


def test_draws_from_one_distribution_have_the_same_shares():
    judge = SameShares()
    for seed in range(1, 50):
        assert kind(counts(ROWS), counts(ROWS, seed=seed), judge) is None
    # Opposite use of the same random numbers: the two lots are as far apart as can be.
    heads = torch.rand(50, 4000, generator=torch.Generator().manual_seed(0)).lt(0.5).sum(1)
    for n in heads:
        assert kind(torch.stack((n, 4000 - n)), torch.stack((4000 - n, n)), judge) is None


@pytest.mark.parametrize(
    "other",
    [[0.55, 0.25, 0.15, 0.05], [0.53, 0.31, 0.16, 0.0], [0.475, 0.285, 0.1425, 0.0975]],
)
def test_other_shares_are_seen_and_named(other):
    difference = SameShares().compare(
        {"p": counts(ROWS, 20000)}, {"p": counts([other, ROWS[1]], 20000)}
    )
    assert (difference.kind, difference.path) == ("shares", ("p",))
    assert not difference.wrong[1].any()
    assert difference.wrong[0].any()


def test_counts_that_are_none_are_not_compared_as_such():
    judge, right = SameShares(), counts(ROWS)
    assert kind(right, right[:, :3], judge) == "shape"
    assert kind(right, right.double() + 0.5, judge) == "values"
    assert kind(right, right * 2, judge) == "shares"
    assert kind(right, right * 0, judge) == "shares"
    assert kind(right, -right, judge) == "shares"
    assert kind({"n": 3, "x": T([0.5])}, {"n": 4, "x": T([0.5])}, judge) == "values"


def test_rare_values_are_counted_as_one():
    expected = torch.tensor([4000, *[0] * 20])
    seen = torch.tensor([3990, *[0] * 10, *[1] * 10])
    assert kind(expected, seen, SameShares()) is None
    assert kind(expected, seen - torch.tensor([100, 100, *[0] * 19]), SameShares()) == "shares"
    assert kind(expected, torch.tensor([3900, *[5] * 20]), SameShares()) == "shares"
