"""Limits in course.toml, in the guide, and in messages to students."""

from __future__ import annotations

import json
import re

import pytest

from gradekit.course import ExerciseLimitValues, LimitValues, load_course
from gradekit.errors import CourseError
from gradekit.feedback.page import page_of, render
from gradekit.grading.grader import LabGrader
from gradekit.grading.task import GraderSpec
from gradekit.late import Lateness
from gradekit.results.records import State, SubmissionRecord
from gradekit.sandbox.limit_messages import CodeLocations, about_cell, message_for, size, whole_time
from gradekit.submissions.folder import find_submissions
from gradekit.submissions.submission import read_submission
from gradekit.untrusted.limits import GIB, MIB, LimitKind, Limits
from tests.helpers import tiny_class
from tests.helpers.cpu_time import cpu_seconds, takes_less_than
from tests.helpers.tiny_class import LAB

LOOP = "def attend(x=1):\n    while True:\n        x = x + 1\n"


class TestWords:
    CELLS = ("class Net:\n    def forward(self, x):\n        return  x `y`\n", "def plus(x): ...")

    @pytest.mark.parametrize("name", ["plus", "Net", "Net.forward", "forward"])
    def test_a_name_that_the_notebook_defines_is_a_location(self, name):
        assert CodeLocations(self.CELLS).of(name) == f" in `{name}`"

    def test_a_line_of_the_notebook_is_a_location(self):
        assert CodeLocations(self.CELLS).of("def plus(x): ...") == " in the line `def plus(x): ...`"

    @pytest.mark.parametrize(
        "name",
        ["", "minus", "plu", "x", "Net.forward.plus", "Net.", "plus()", "return  x `y`", "return",
         "p" * 61, None, 7, ["plus"], "plus`<b>", "plus\n"],
    )  # fmt: skip
    def test_nothing_else_is_a_location(self, name):
        assert CodeLocations((*self.CELLS, f"def {'p' * 61}(): ...")).of(name) == ""

    def test_a_notebook_of_many_lines_is_read_once(self):
        locations = CodeLocations(["\n".join(f"x = {number}" for number in range(200_000))])
        once = cpu_seconds(lambda: locations.of("x = 7"))
        assert locations.of("x = 7") == " in the line `x = 7`"
        assert locations.of("y = 7") == ""
        assert takes_less_than(4 * once, lambda: [locations.of("y = 7") for _ in range(50)])

    def test_every_limit_has_words_that_say_how_much_and_what_to_do(self):
        for limit in LimitKind:
            sentence = about_cell("x = 1", message_for(limit, Limits()))
            assert any(character.isdigit() for character in sentence.replace("x = 1", "")), limit
            assert sentence.endswith(("?", ".")), limit

    def test_an_unknown_limit_raises(self):
        with pytest.raises(AssertionError, match="gravity"):
            message_for("gravity", Limits())

    def test_the_whole_notebooks_time_has_words(self):
        said = about_cell("x", whole_time(Limits()))
        assert said.startswith("The notebook takes longer than 300 s in all: which")

    def test_a_cell_is_called_by_its_first_line(self):
        said = about_cell("\n  # a `b`\x1b[2J" + "c" * 99, "stopped after 3 s: is there a loop?")
        assert said.startswith("The cell that begins `# a 'b'[2Jccc")
        assert said.endswith("c…` was stopped after 3 s: is there a loop?")

    @pytest.mark.parametrize(
        ("amount", "words"),
        [(3 * GIB, "3 GiB"), (1000 * MIB, "1000 MiB"), (768 * MIB, "0.75 GiB"), (4096, "4 KiB")],
    )
    def test_sizes_are_easy_to_read(self, amount, words):
        assert size(amount) == words


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A course of two short exercises; do not change it."""
    root = tmp_path_factory.mktemp("tiny") / "course"
    tiny_class.write_course(root)
    return root


def with_limits(root, text, **tables):
    """The course with `text` in its [[lab]] table, and more tables; the file stays the same."""
    path = root / "course.toml"
    before = path.read_text()
    more = "".join(f"\n[{name}]\n{lines}\n" for name, lines in tables.items())
    try:
        path.write_text(f"{before}{text}\n{more}")
        return load_course(root)
    finally:
        path.write_text(before)


class TestCourseFile:
    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("exercise_limits = { softmax = { exercise_seconds = 0 } }",
             ["line 15", "limits.softmax.exercise_seconds", "more than 0", "(it is 0)"]),
            ("exercise_limits = { softmax = { file_mib = 3 } }",
             ["line 15", "softmax has no file_mib"]),
            ("exercise_limits = { softmax = { exercise_seconds = 900 } }",
             ["exercise softmax has exercise_seconds = 900", "submission_seconds = 240; raise"]),
            ("exercise_limits = { softmax = { memory_mib = 4000 } }",
             ["exercise softmax has memory_mib = 4000", "memory_mib = 3072"]),
            ("limits = { cpu_seconds = 0 }", ["line 15", "limits.cpu_seconds", "(it is 0)"]),
            ("limits = { file_mib = 300 }", ["lab01", "300 MiB (file_mib)", "256 (scratch_mib)"]),
            ("[lab.exercise_limits.softmax]\nmemory_mib = 1", ["line 16", "memory_mib"]),
        ],
    )  # fmt: skip
    def test_nonsense_is_named_with_its_line(self, tiny, text, words):
        with pytest.raises(CourseError) as caught:
            with_limits(tiny, text, limits="cell_seconds = 9")
        assert "\n" not in str(caught.value)
        for word in ("course.toml", *words):
            assert word in str(caught.value)

    def test_an_unknown_exercise_is_named_with_the_known_ones(self, tiny):
        course = with_limits(tiny, "exercise_limits = { sotfmax = { exercise_seconds = 9 } }")
        with pytest.raises(CourseError, match=r"names 'sotfmax'.*write one of softmax, guess"):
            LabGrader(GraderSpec(course, LAB, "auto", b""))

    def test_a_changed_limit_of_an_exercise_regrades_only_that_exercise(self, tiny):
        def keys(text, limits=""):
            course = with_limits(tiny, text, limits=limits)
            return LabGrader(GraderSpec(course, LAB, "none", b"")).keys.of("ada", "digest")

        before = keys("")
        for setting in ("exercise_seconds = 60", "memory_mib = 600", "cpu_seconds = 9"):
            after = keys(f"exercise_limits = {{ softmax = {{ {setting} }} }}")
            assert after["softmax"] != before["softmax"]
            assert after["guess"] == before["guess"]
        # The lab's own value for one exercise changes nothing; for the lab it changes all.
        assert keys("exercise_limits = { softmax = { exercise_seconds = 20 } }") == before
        for setting in ("exercise_seconds = 21", "cpu_seconds = 9", "scratch_mib = 99"):
            for after in (keys(f"limits = {{ {setting} }}"), keys("", setting)):
                assert all(after[name] != before[name] for name in before)


def test_the_guide_has_every_limit_with_its_default():
    guide = (tiny_class.PROJECT / "docs" / "instructor.md").read_text()
    rows = dict(re.findall(r"^\| `(\w+)` \| ([\w` ]+) \|", guide, re.MULTILINE))
    but = {"cpu_seconds"}
    given = LimitValues().model_dump(exclude=but)
    assert rows == {
        **{key: f"{value:g}" for key, value in given.items()},
        "cpu_seconds": "as `submission_seconds`",
    }
    assert load_course(tiny_class.PROJECT).values.limits.model_dump(exclude=but) == given
    named = guide.partition("One exercise may have its own ")[2].partition(":")[0]
    assert set(re.findall(r"`(\w+)`", named)) == set(ExerciseLimitValues.model_fields)


def test_the_page_says_it(tiny, tmp_path):
    own = "exercise_limits = { softmax = { exercise_seconds = 0.75 } }"
    course = with_limits(tiny, own, limits="cell_seconds = 0.5\nexercise_seconds = 2")
    loop = LOOP.replace("attend(x=1)", "softmax(x, dim=-1)")
    content = json.loads(tiny_class.notebook(tiny, softmax=loop))
    extra = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    content["cells"].append({**extra, "id": "more", "source": f"{LOOP}\nattend()"})
    tiny_class.hand_in(tmp_path, "ada", json.dumps(content).encode())
    (submitted,) = find_submissions(tmp_path, LAB)
    with LabGrader(GraderSpec(course, LAB, "auto", b"secret")) as grader:
        graded = grader.grade(read_submission(submitted, grader.released))
    words = "was stopped after 0.5 s in `attend`: is there an infinite loop?"
    assert graded.stopped == f"The cell that begins `def attend(x=1):` {words}"
    assert [result.earned for result in graded.results] == [0, 1]
    record = SubmissionRecord("ada", LAB, submitted.digest, State.GRADED, graded.stopped)
    results = {result.exercise: result for result in graded.results}
    html = render(page_of(course, grader.released, record, results, None, Lateness(), {}))
    assert words.replace("`attend`", "<code>attend</code>") in html
    assert "code: stopped after 0.75 s in <code>softmax</code>: is there an infinite loop" in html
    assert "Fix that, run all cells from the top" in html
