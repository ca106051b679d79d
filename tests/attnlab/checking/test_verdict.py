from collections import UserDict
from dataclasses import replace

import pytest
import torch

from attnlab.checking.draw import ONLY_PRINTED, RETURNED_FALSE
from attnlab.checking.judges import Close, Kills
from attnlab.checking.observation import NO_REASON, RESULT_UNREAD, Missing, Raised
from attnlab.checking.verdict import KnownMistake, PreparedCheck, judge_exercise
from tests.helpers.small_lab import CHECKS, MISTAKES, no_max, prepared, right, run, wrong_axis


def verdict(function):
    return judge_exercise(
        [prepared(name) for name in CHECKS],
        {name: run(name, function) for name in CHECKS},
        MISTAKES,
    )


def test_a_right_answer_earns_all_points_and_gets_no_advice():
    found = verdict(right)
    assert found.passed
    assert found.earned == found.points == 6.5
    assert found.advice == ()
    assert found.mistakes == ()


@pytest.mark.parametrize(
    ("function", "name", "earned"), [(no_max, "no_max", 4.0), (wrong_axis, "wrong_axis", 1.0)]
)
def test_a_known_mistake_is_recognised_and_its_advice_comes_first(function, name, earned):
    found = verdict(function)
    assert found.mistakes == (name,)
    assert found.earned == earned
    assert found.advice[0] == next(m.advice for m in MISTAKES if m.name == name)
    assert len(found.advice) == 2


def test_an_unknown_mistake_gets_general_advice():
    found = verdict(lambda x, dim=-1: right(x, dim) + 0.5)
    assert found.mistakes == ()
    (sentence,) = found.advice
    assert sentence.startswith("“Sums to one along the last axis”: every entry differs")


@pytest.mark.parametrize("named", [True, False])
def test_a_guess_is_made_only_where_no_known_mistake_explains_what_was_seen(named):
    wrong = torch.tensor([2.0, 4.0, 6.0])
    mistaken = {"m": wrong} if named else {}
    asked = [
        PreparedCheck("q", "Q.", 1, False, Close(), wrong / 2, mistaken, question="Which one?")
    ]
    found = judge_exercise(asked, {"q": wrong}, [KnownMistake("m", "Advice.")])
    assert found.advice[:-1] == (("Advice.",) if named else ())
    assert ("times" in found.advice[-1]) is not named
    assert ("Which one?" in found.advice[-1]) is False
    asked = [replace(asked[0], expected=torch.tensor([1.0, 7.0, 3.0]))]
    found = judge_exercise(asked, {"q": wrong}, [KnownMistake("m", "Advice.")])
    assert ("Which one?" in found.advice[-1]) is not named


@pytest.mark.parametrize("event", [Missing("softmax"), Raised("NotImplementedError")])
def test_a_missing_answer_is_not_a_known_mistake(event):
    checks = [
        PreparedCheck("a", "A.", 1, False, Close(), 1.0, {"m": event}),
        PreparedCheck("b", "B.", 1, False, Close(), 1.0, {"m": 1.0}),
    ]
    found = judge_exercise(checks, {"a": event, "b": event}, [KnownMistake("m", "Advice.")])
    assert found.mistakes == ()
    assert len(found.advice) == 1


def test_a_not_implemented_error_with_a_message_is_not_a_placeholder():
    asked = [PreparedCheck("q", "Q.", 1, False, Close(), 1.0, {})]
    seen = {"q": Raised("NotImplementedError", "only matrices", "raise NotImplementedError(text)")}

    def without_message(difference):
        return replace(difference, seen=replace(difference.seen, message=""))

    assert "only matrices" in judge_exercise(asked, seen, []).advice[0]
    (sentence,) = judge_exercise(asked, seen, [], without_message).advice
    assert sentence == (
        "“Q”: your code stopped with a NotImplementedError of its own in the line "
        "`raise NotImplementedError(text)`."
    )


def test_two_exceptions_need_equal_messages_to_be_the_same_mistake():
    mistaken = Raised("TypeError", "can only concatenate str")
    asked = [PreparedCheck("q", "Q.", 1, False, Close(), 1.0, {"m": mistaken})]
    known = [KnownMistake("m", "Advice.")]
    same = Raised("TypeError", "can only concatenate str", "y = x + 'a'")
    assert judge_exercise(asked, {"q": same}, known).mistakes == ("m",)
    other = Raised("TypeError", "test() takes 0 positional arguments but 1 was given")
    assert judge_exercise(asked, {"q": other}, known).mistakes == ()


def test_only_the_answers_of_the_mistakes_asked_about_are_computed():
    class Computed(UserDict):
        def __getitem__(self, name):
            assert name != "slow", "nobody asked about it"
            return super().__getitem__(name)

    answers = Computed(m={"a": 2.0}, other={"a": 3.0}, slow={"a": 4.0})
    asked = [PreparedCheck("q", "Q.", 1, False, Close(), {"a": 1.0}, answers)]
    known = [KnownMistake("m", "Advice.", "f"), KnownMistake("other", "More advice.", "g")]
    assert judge_exercise(asked, {"q": {"a": 2.0}}, known).mistakes == ("m",)


@pytest.mark.parametrize(("agreeing", "named"), [(1, ()), (2, ("m",)), (5, ("m",))])
def test_a_mistake_must_agree_in_a_quarter_of_the_failed_checks(agreeing, named):
    checks = [
        PreparedCheck(f"q{i}", "Q.", 1, False, Close(), 1.0, {"m": 2.0 if i < agreeing else 3.0})
        for i in range(5)
    ]
    found = judge_exercise(checks, {f"q{i}": 2.0 for i in range(5)}, [KnownMistake("m", "Advice.")])
    assert found.mistakes == named


@pytest.mark.parametrize(("error", "named"), [("AssertionError", ()), ("TypeError", ("m",))])
def test_that_a_test_rejects_a_right_version_by_an_assert_is_no_sign_of_a_mistake(error, named):
    seen = {"rejects a": True, "accepts b": Raised(error, "", "assert y == 1")}
    right_one = {"rejects a": True, "accepts b": True}
    asked = [PreparedCheck("q", "Q.", 1, False, Close(), right_one, {"m": seen})]
    found = judge_exercise(asked, {"q": seen}, [KnownMistake("m", "Advice.")])
    assert found.mistakes == named


def asked_in_two_modes(right, mistakes):
    """Five checks that ask for both modes at once, with what known mistakes answer."""

    def both(value):
        return {"pre": value, "post": [value, value]}

    return [
        PreparedCheck(
            name, "Q.", 1, False, Close(), both(right), {m: both(v) for m, v in mistakes.items()}
        )
        for name in "abcde"
    ]


def in_one_mode(right, wrong):
    return {name: {"pre": right, "post": [right, wrong]} for name in "abcde"}


def test_a_slip_in_one_mode_is_named_and_the_advice_says_that_it_is_a_part():
    known = [KnownMistake("m", "Advice."), KnownMistake("n", "Another.")]
    asked = asked_in_two_modes(1.0, {"m": 2.0, "n": 3.0})
    found = judge_exercise(asked, in_one_mode(1.0, 2.0), known)
    assert found.mistakes == ("m",)
    assert found.advice[0].startswith("Advice. (This explains a part")
    assert judge_exercise(asked, in_one_mode(1.0, 2.5), known).mistakes == ()


def test_a_slip_that_two_mistakes_explain_or_that_is_only_false_is_not_named():
    known = [KnownMistake("m", "Advice."), KnownMistake("n", "Another.")]
    asked = asked_in_two_modes(1.0, {"m": 2.0, "n": 2.0})
    assert judge_exercise(asked, in_one_mode(1.0, 2.0), known).mistakes == ()
    passed = PreparedCheck("f", "F.", 1, False, Close(), 1.0, {"m": 2.0, "n": 1.0})
    seen = {**in_one_mode(1.0, 2.0), "f": 1.0}
    assert judge_exercise([*asked, passed], seen, known).mistakes == ("n",)
    asked = asked_in_two_modes(True, {"m": False, "n": True})
    assert judge_exercise(asked, in_one_mode(True, False), known).mistakes == ()


def test_where_both_stop_with_another_error_the_other_numbers_decide():
    def cases(number, error):
        return {"S = T": number, "S = 7": Raised("RuntimeError", error) if error else 1.0}

    asked = [PreparedCheck("a", "A.", 1, False, Close(), cases(1.0, ""), {"m": cases(2.0, "here")})]
    known = [KnownMistake("m", "Advice.")]
    assert judge_exercise(asked, {"a": cases(2.0, "there")}, known).mistakes == ("m",)
    assert judge_exercise(asked, {"a": cases(2.5, "there")}, known).mistakes == ()


def test_if_mistakes_tie_the_advice_says_one_of_these_and_too_many_are_not_named():
    def tie(names, advice):
        asked = PreparedCheck("q", "Q.", 1, False, Close(), 1.0, dict.fromkeys(names, 2.0))
        mistakes = [KnownMistake(name, advice(name)) for name in names]
        return judge_exercise([asked], {"q": 2.0}, mistakes)

    def own(name):
        return f"Advice {name}."

    assert tie("abcd", own).mistakes == ()
    assert tie("ab", own).mistakes == ("a", "b")
    assert tie("ab", own).advice[0] == "At least one of these: (1) Advice a. (2) Advice b."
    assert tie("abcd", lambda name: "The same advice.").mistakes == ("a",)
    assert tie("abcd", lambda name: "The same advice.").advice[0] == "The same advice."


def test_the_mistake_that_agrees_in_more_checks_wins():
    checks = [
        PreparedCheck("one", "One.", 1, False, Close(), 1.0, {"a": 2.0, "b": 2.0}),
        PreparedCheck("two", "Two.", 1, False, Close(), 1.0, {"a": 1.0, "b": 3.0}),
    ]
    mistakes = [KnownMistake("a", "A."), KnownMistake("b", "B.")]
    assert judge_exercise(checks, {"one": 2.0, "two": 3.0}, mistakes).mistakes == ("b",)
    assert judge_exercise(checks, {"one": 2.0, "two": 1.0}, mistakes).mistakes == ("a",)


@pytest.mark.parametrize(("contradictions", "named"), [(0, ("m",)), (1, ("m",)), (2, ())])
def test_a_mistake_must_not_fail_more_passed_checks_than_it_explains(contradictions, named):
    mistaken = [2.0] + [2.0 if i < contradictions else 1.0 for i in range(3)]
    checks = [
        PreparedCheck(f"q{i}", "Q.", 1, False, Close(), 1.0, {"m": value})
        for i, value in enumerate(mistaken)
    ]
    seen = {"q0": 2.0, "q1": 1.0, "q2": 1.0, "q3": 1.0}
    assert judge_exercise(checks, seen, [KnownMistake("m", "Advice.")]).mistakes == named


@pytest.mark.parametrize(("mistaken_number", "named"), [(1.0, ("m",)), (3.0, ()), (2.0, ("m",))])
def test_agreement_in_true_or_false_alone_names_no_mistake_that_fails_otherwise(
    mistaken_number, named
):
    """1.0 is right, so that the mistake says nothing of this number; 2.0 is the student's own."""
    asked = [
        PreparedCheck("a", "A.", 1, False, Close(), {"steady": True}, {"m": {"steady": False}}),
        PreparedCheck("b", "B.", 1, False, Close(), {"x": 1.0}, {"m": {"x": mistaken_number}}),
    ]
    found = judge_exercise(
        asked, {"a": {"steady": False}, "b": {"x": 2.0}}, [KnownMistake("m", "Advice.")]
    )
    assert found.mistakes == named


@pytest.mark.parametrize(("of", "named"), [("f", ()), ("g", ("m",))])
def test_agreement_in_true_or_false_alone_is_not_enough_if_the_function_fails_elsewhere(of, named):
    """Another mistake in the same function shows that the second check asks for that function."""
    asked = [
        PreparedCheck("a", "A.", 1, False, Close(), {"steady": True}, {"m": {"steady": False}}),
        PreparedCheck("b", "B.", 1, False, Close(), {"x": 1.0}, {"n": {"x": 5.0}}),
    ]
    known = [KnownMistake("m", "Advice.", of="f"), KnownMistake("n", "Advice n.", of=of)]
    found = judge_exercise(asked, {"a": {"steady": False}, "b": {"x": 2.0}}, known)
    assert found.mistakes == named


def test_a_random_test_that_accepts_one_version_more_is_still_named():
    judge = Kills((("right", True), ("a", False), ("b", False)))
    known_answer = {"m": [True, True, True]}
    asked = [
        PreparedCheck("v", "V.", 4, True, judge, None, known_answer),
        PreparedCheck("a", "A.", 1, False, Close(), {"steady": True}, {"m": {"steady": False}}),
    ]
    seen = {"v": [True, True, False], "a": {"steady": False}}
    found = judge_exercise(asked, seen, [KnownMistake("m", "Advice.")])
    assert found.mistakes == ("m",)


@pytest.mark.parametrize(("number", "named"), [(0.0, ()), (0.25, ("m",))])
def test_that_a_number_is_0_is_no_sign_of_a_mistake_in_part(number, named):
    right = {"x": 1.0, "y": 2.0}
    asked = [PreparedCheck("a", "A.", 1, False, Close(), right, {"m": {"x": number, "y": 3.0}})]
    found = judge_exercise(asked, {"a": {"x": number, "y": 4.0}}, [KnownMistake("m", "Advice.")])
    assert found.mistakes == named


@pytest.mark.parametrize("shown", [RETURNED_FALSE, ONLY_PRINTED])
def test_that_a_test_returns_or_prints_is_said_before_a_guess_between_mistakes(shown):
    seen = {"rejects a": shown, "rejects b": True}
    right_one = {"rejects a": True, "rejects b": True}
    for mistakes, said in ((("m", "n"), "your test"), (("m",), "Advice m.")):
        answers = dict.fromkeys(mistakes, seen)
        asked = [PreparedCheck("q", "Q.", 1, False, Close(), right_one, answers)]
        known = [KnownMistake(name, f"Advice {name}.") for name in mistakes]
        assert said in judge_exercise(asked, {"q": seen}, known).advice[0]


def test_how_a_test_loses_a_failure_is_said_before_what_it_accepts():
    judge = Kills((("right", True), ("a", False)))
    asked = [
        PreparedCheck("versions", "Rejects.", 4, True, judge, None, {}),
        PreparedCheck("lost", "Leaves it.", 1, False, Close(), {"loses": NO_REASON}, {}),
    ]
    seen = {"versions": [True, True], "lost": {"loses": RESULT_UNREAD}}
    found = judge_exercise(asked, seen, [])
    assert "Which statement turns a False into an error?" in found.advice[0]


def test_a_check_may_give_part_of_its_points():
    judge = Kills((("right", True), ("a", False), ("b", False), ("c", False)))
    asked = PreparedCheck("q", "Q.", 4, False, judge, None, {})
    found = judge_exercise([asked], {"q": [True, True, False, False]}, [])
    assert found.earned == pytest.approx(2.67)
    assert not found.passed


def test_a_test_that_accepts_a_wrong_version_is_told_a_promise_that_the_version_breaks():
    judge = Kills((("right", True), ("a", False), ("b", False)))
    broken_promises = {"a": "Is right.", "b": "Leaves its input unchanged."}
    asked = PreparedCheck("q", "Q.", 4, True, judge, None, {}, broken_promises=broken_promises)
    found = judge_exercise([asked], {"q": [True, False, True]}, [])
    assert found.advice[0].endswith("breaks this promise: “Leaves its input unchanged”.")
    assert "promise: " not in judge_exercise([asked], {"q": [False, False, False]}, []).advice[0]


def test_equal_numbers_in_other_dtypes_are_the_same_mistake():
    asked = PreparedCheck(
        "q", "Q.", 1, False, Close(), torch.ones(2), {"m": torch.zeros(2).double()}
    )
    found = judge_exercise([asked], {"q": torch.zeros(2)}, [KnownMistake("m", "Advice.")])
    assert found.mistakes == ("m",)


def test_a_step_that_fails_only_on_own_earlier_steps_is_not_blamed():
    mistakes = {"m": 2.0}
    alone = PreparedCheck("a", "Alone.", 1, False, Close(), 1.0, mistakes)
    chained = PreparedCheck("b", "Together.", 1, True, Close(), 1.0, mistakes, own_steps=("qkv",))
    known = [KnownMistake("m", "Advice about this step.")]
    found = judge_exercise([alone, chained], {"a": 1.0, "b": 2.0}, known)
    assert found.advice == (
        "“Together”: this check alone runs on your own `qkv`; with correct versions of these, your "
        "step passes. So look for the cause there.",
    )
    assert found.mistakes == ()
    found = judge_exercise([alone, chained], {"a": 2.0, "b": 2.0}, known)
    assert found.advice[0] == "Advice about this step."


def test_the_one_own_step_that_an_entry_names_is_blamed():
    right = {"your `qkv` (3.1)": 1.0, "your `cost` (3.6)": 1.0, "together": 1.0}
    asked = PreparedCheck("b", "All.", 1, True, Close(), right, {}, own_steps=("qkv", "cost"))

    def steps(**seen):
        return judge_exercise([asked], {"b": {**right, **seen}}, []).advice[0]

    assert "your own `cost`;" in steps(**{"your `cost` (3.6)": 2.0, "together": 3.0})
    assert "your own `qkv`, `cost`;" in steps(together=3.0)


def pair_of_checks():
    """Checks of an exercise with two functions, f and g; the last one asks both."""
    both = {"f": 1.0, "g": 2.0}
    f_wrong, g_wrong = {"f": 5.0, "g": 2.0}, {"f": 1.0, "g": 6.0}
    return [
        PreparedCheck("f", "F.", 1, False, Close(), 1.0, {"m": 5.0, "n": 1.0}, about="f"),
        PreparedCheck("g", "G.", 1, False, Close(), 2.0, {"m": 2.0, "n": 6.0}, about="g"),
        PreparedCheck("both", "Both.", 1, False, Close(), both, {"m": f_wrong, "n": g_wrong}),
    ]


OF_TWO = [KnownMistake("m", "About f.", "f"), KnownMistake("n", "About g.", "g")]


@pytest.mark.parametrize(
    ("f", "g", "names"),
    [(5.0, 2.0, ("m",)), (1.0, 6.0, ("n",)), (5.0, 6.0, ("m", "n")), (7.0, 8.0, ())],
)
def test_mistakes_in_two_functions_are_both_named(f, g, names):
    found = judge_exercise(pair_of_checks(), {"f": f, "g": g, "both": {"f": f, "g": g}}, OF_TWO)
    assert found.mistakes == names
    advice = {"m": "About f.", "n": "About g."}
    assert found.advice[:-1] == tuple(advice[name] for name in names)


def test_a_second_function_is_not_named_by_chance():
    """Its mistake agrees in true or false, while another number of the function is off."""
    asked = [
        PreparedCheck("q", "Q.", 1, False, Close(), {"f": 1.0}, {"m": {"f": 5.0}}),
        PreparedCheck("r", "R.", 1, False, Close(), {"g": 2.0}, {"o": {"g": 7.0}}),
        PreparedCheck("s", "S.", 1, False, Close(), {"steady": True}, {"n": {"steady": False}}),
    ]
    known = [
        KnownMistake("m", "Advice m.", of="f"),
        KnownMistake("n", "Advice n.", of="g"),
        KnownMistake("o", "Advice o.", of="g"),
    ]
    seen = {"q": {"f": 5.0}, "r": {"g": 9.0}, "s": {"steady": False}}
    assert judge_exercise(asked, seen, known).mistakes == ("m",)
    seen["r"] = {"g": 2.0}
    assert judge_exercise(asked, seen, known).mistakes == ("m", "n")


def test_two_mistakes_in_one_function_are_not_both_made():
    mistakes = [replace(mistake, of="f") for mistake in OF_TWO]
    seen = {"f": 5.0, "g": 6.0, "both": {"f": 5.0, "g": 6.0}}
    found = judge_exercise(pair_of_checks(), seen, mistakes)
    assert found.advice[0].startswith("At least one of these: ")


def three_predictions():
    """Checks of three predictions, each with mistakes of its own."""
    wrong = {"P1": {"low": 1.0, "high": 9.0}, "P2": {"half": 0.5}, "P3": {"none": 0.0, "all": 0.0}}
    names = [name for known in wrong.values() for name in known]
    return [
        PreparedCheck(
            item, f"{item}.", 1, True, Close(), 4.0, dict.fromkeys(names, 4.0) | wrong[item]
        )
        for item in wrong
    ], [KnownMistake(name, f"Advice on {name}.") for name in names]


@pytest.mark.parametrize(
    ("seen", "named"),
    [
        ((9.0, 0.5, 4.0), ("high", "half")),
        ((9.0, 0.5, 7.0), ("high", "half")),
        ((1.0, 0.5, 0.0), ("low", "half")),  # `none` and `all` cannot be told apart
        ((9.0, 4.0, 4.0), ("high",)),
        ((9.0, 7.0, 7.0), ("high",)),
        ((7.0, 7.0, 7.0), ()),
    ],
)
def test_mistakes_in_predictions_are_all_named(seen, named):
    checks, known = three_predictions()
    found = judge_exercise(checks, dict(zip(("P1", "P2", "P3"), seen, strict=True)), known)
    assert found.mistakes == named
    assert not found.advice[0].startswith("At least one")
    if len(named) == 2:
        assert found.advice[:-1] == tuple(f"Advice on {name}." for name in named)
        rest = "“P1”" if seen[2] == 4.0 else "“P3”"
        assert found.advice[-1].startswith(rest), "general advice is on what nothing else explains"


def test_mistakes_in_two_numbers_of_one_check_are_both_named():
    """The numbers that several slides say are one check; each is read off by itself."""
    right = {"N1": 0.3, "N2": 1.1, "N3": 4.0}
    wrong = {"column": {**right, "N1": 0.5}, "row": {**right, "N2": 1.0}}
    asked = [PreparedCheck("says", "Says.", 2, False, Close(atol=5e-3), right, wrong)]
    known = [KnownMistake(name, f"Advice on {name}.") for name in wrong]
    both = judge_exercise(asked, {"says": {"N1": 0.5, "N2": 1.0, "N3": 4.0}}, known)
    assert both.mistakes == ("column", "row")
    other = judge_exercise(asked, {"says": {"N1": 0.5, "N2": 1.0, "N3": 5.0}}, known)
    assert other.mistakes == ("column", "row")
    exact = [replace(asked[0], judge=Close())]
    assert judge_exercise(exact, {"says": {"N1": 0.5, "N2": 1.0, "N3": 4.0}}, known).mistakes == ()


def test_general_advice_names_the_function_of_a_cell_with_several():
    asked = [PreparedCheck("q", "Is right.", 1, False, Close(), 1.0, {}, about="merge")]
    (sentence,) = judge_exercise(asked, {"q": 2.0}, []).advice
    assert sentence == "“Is right”: `merge`: your 2 is not right."
    asked = [replace(asked[0], title="merge is right.")]
    (sentence,) = judge_exercise(asked, {"q": 2.0}, []).advice
    assert sentence == "“merge is right”: your 2 is not right."


def test_a_wrong_dtype_is_said_before_the_rounding_that_it_makes():
    third = torch.tensor([1.0, 2.0]).double() / 3
    checks = [
        PreparedCheck("right", "Is right.", 1, False, Close(), third, {}),
        PreparedCheck("dtype", "Keeps the dtype.", 1, False, Close(), "float64", {}),
    ]
    seen = {"right": third.float().double(), "dtype": "float32"}
    assert "“Keeps the dtype”" in judge_exercise(checks, seen, []).advice[0]
    seen["right"] = third + 1
    assert "“Is right”" in judge_exercise(checks, seen, []).advice[0]


def test_a_rejection_of_a_known_line_is_said_before_the_number_of_rejections():
    judge = Kills((("right", True), ("wrong", False)))
    checks = [
        PreparedCheck("versions", "Rejects.", 1, True, judge, None, {}),
        PreparedCheck(
            "own", "Accepts your own.", 1, False, Close(), {"accepts your own": True}, {}
        ),
    ]
    rejection = Raised("AssertionError", "", "assert torch.equal(a, b)")
    seen = {"versions": [False, False], "own": {"accepts your own": rejection}}
    assert "assert torch.equal(a, b)" in judge_exercise(checks, seen, []).advice[-1]
    seen["own"] = {"accepts your own": True}
    assert "every correct version" in judge_exercise(checks, seen, []).advice[-1]
