"""In grading, the number of changed lines comes from the notebook and not from its process."""

import pytest

from attnlab.checking.changed_lines import CHANGED, FewChanges, changed_lines
from gradekit.grading.counted_lines import with_changes_of
from tests.helpers.cpu_time import takes_less_than

BEFORE = "def f(x):\n    y = x + 1\n    return y\n"
ONE = BEFORE.replace("+ 1", "+ 2")
MANY = "def f(x):\n    a = 1\n    b = 2\n    c = 3\n    return x + c - a\n"
JUDGE = FewChanges(before=BEFORE, name="f", most=1)


@pytest.mark.parametrize(
    ("cells", "count"),
    [
        ([ONE], 1),
        (["import math", f"# mine\n{ONE}", "f(2)"], 1),
        ([f"%time 3\n{ONE}", "!ls"], 1),
        ([ONE, "this is not Python"], 1),
        ([MANY], 4),
        ([ONE, MANY], 4),
        ([MANY, ONE], 1),
        ([MANY.replace("f(x)", "g(x)"), f"{ONE}\nf = g"], -1),
        (["f = lambda x: x + 2"], -1),
        ([f"%%time\n{MANY}"], 4),
        ([MANY, f"%%writefile never.py\n{ONE}"], 4),
        ([MANY, f"\n%%script true\n{ONE}"], 4),
        # Python cannot read these cells, but IPython runs them.
        ([ONE, f"_ = !true\n{MANY}"], 4),
        ([ONE, f"here = %pwd\n{MANY}"], 4),
        ([ONE, f"len?\n{MANY}"], 4),
        ([ONE, MANY.replace("    a = 1", "    !true\n    a = 1")], 5),
        # A line that begins with a percent sign is Python if it can be.
        ([ONE.replace("x + 1", "(x\n    % 7)")], 1),
        ([], -1),
    ],
)
def test_the_last_definition_in_the_cells_counts(cells, count):
    seen = with_changes_of({"the first check": 1.0, CHANGED: 1}, JUDGE, cells)
    assert seen == {"the first check": 1.0, CHANGED: count}
    assert (JUDGE.compare(seen, seen) is None) == (count == 1)


@pytest.mark.parametrize("term", ["{}.T", "-{}", "x + {}"])
def test_a_definition_that_is_nested_too_deeply_is_not_counted(term):
    deep = "x"
    for _ in range(900):
        deep = term.format(deep)
    nested = BEFORE.replace("x + 1", deep)
    with pytest.raises(RecursionError):
        changed_lines(BEFORE, nested)
    seen = with_changes_of({CHANGED: 1}, JUDGE, [nested])
    assert seen == {CHANGED: -1}


@pytest.mark.parametrize("line", ["\n    y = x + 1", ";y=1"])
@pytest.mark.parametrize("lines", [10_000, 300_000])
def test_a_very_long_definition_keeps_no_judge_busy(line, lines):
    long = "def f(x):\n    y = x" + line * lines
    assert with_changes_of({CHANGED: 1}, JUDGE, [long]) == {CHANGED: -1}
    assert takes_less_than(2, lambda: with_changes_of({CHANGED: 1}, JUDGE, [long]))


def test_what_the_process_says_is_not_believed():
    forged = {"the first check": 1.0, CHANGED: 1}
    assert JUDGE.compare(forged, forged) is None  # it would earn the point
    counted = with_changes_of(forged, JUDGE, [MANY])
    assert counted[CHANGED] == 4
    assert JUDGE.compare(forged, counted).kind == "changes"


def test_an_event_stays_as_it_is():
    assert with_changes_of("an event", JUDGE, [ONE]) == "an event"
