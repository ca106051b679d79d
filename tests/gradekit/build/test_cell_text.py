"""Reading a lab's source, inlining references, and taking the answers out again."""

from __future__ import annotations

import ast
import re
import textwrap
from pathlib import Path

import pytest

from gradekit.build.blanks import CODE_STUB, blank_module, clear, mark
from gradekit.build.cell_text import solved_text
from gradekit.errors import BlankError, CourseError
from gradekit.exercise.source import read_source
from tests.helpers.small_course import LIBRARY, PROJECT, SOURCE, library_on_path, write_small_course


@pytest.fixture
def small(tmp_path):
    course = write_small_course(tmp_path)
    with library_on_path(tmp_path):
        yield course


def write(tmp_path: Path, text: str):
    path = tmp_path / "lab01_x.py"
    path.write_text(textwrap.dedent(text))
    return path


def solved(course, name: str) -> str:
    source = read_source(course.source("lab01"))
    (cell,) = (cell for cell in source.of("exercise") if cell.name == name)
    return solved_text(source, cell)


def test_cells_and_their_roles(small):
    source = read_source(small.source("lab01"))
    assert [cell.role for cell in source.cells] == [
        "prose",
        "code",
        "prose",
        "exercise",
        "check",
        "code",
        "prose",
        "exercise",
        "check",
        "exercise",
        "check",
        "free_text",
    ]
    assert "note to staff" not in "".join(cell.text for cell in source.cells)
    assert source.cells[1].metadata == {"tags": ["setup"]}
    assert source.of("free_text")[0].points == 4


def test_a_function_is_inlined_with_its_answer_between_marks(small):
    assert solved(small, "double") == textwrap.dedent('''\
        from smallnet.steps import FACTOR


        def double(x: Tensor) -> Tensor:
            """Twice `x`, any shape."""
            # TODO: write your code here
            ### BEGIN SOLUTION
            return FACTOR * x
            ### END SOLUTION''')


def test_remarks_for_tools_are_not_shown_to_students(small, tmp_path):
    source = read_source(
        write(
            tmp_path,
            """\
            # %%
            from smallnet import steps  # noqa: F401
            value = (1,
                     2)  # fmt: skip
            text = str(value)  # type: ignore[arg-type]  # a reason
            """,
        )
    )
    assert solved_text(source, source.cells[0]) == textwrap.dedent("""\
        from smallnet import steps
        value = (1,
                 2)
        text = str(value)""")


def test_blank_marks_keep_the_rest_of_a_body_and_never_show(small):
    text = solved(small, "total")
    assert "blank" not in text
    # `double` is the student's own by now; what only an annotation needs is imported.
    assert text.startswith("from collections.abc import Callable\n\n\ndef total(")
    blank = clear(text)
    assert "doubled = double(x)" in blank
    assert "# TODO: add up all entries\n    raise NotImplementedError\n    return" in blank
    assert "secret_sum = " not in blank


def test_an_exercise_of_the_lab_keeps_its_own_marks(small):
    assert solved(small, "guess") == (
        "# How much is double(4)?\n### BEGIN SOLUTION\nguess = 8\n### END SOLUTION"
    )


def test_marks_without_a_comment_get_a_todo(tmp_path):
    source = read_source(
        write(
            tmp_path,
            """\
        # %% exercise="guess"
        answer = None
        ### BEGIN SOLUTION
        answer = 3
        ### END SOLUTION
        # %%
        check("guess")
        """,
        )
    )
    text = solved_text(source, source.of("exercise")[0])
    assert clear(text) == "answer = None\n# TODO: write your code here"


def test_all_methods_of_a_class_are_blanked_when_none_has_marks():
    lines = LIBRARY.splitlines()
    text = "\n".join(lines[lines.index("class Scale(torch.nn.Module):") :])
    blank = clear(mark(text))
    assert '"""Start at one half of tau."""\n        # TODO' in blank
    assert blank.count(CODE_STUB) == 2
    assert "super()" not in blank
    assert "self.factor" not in blank


def test_only_marked_methods_of_a_class_are_blanked():
    blank = clear(
        mark(
            textwrap.dedent("""\
        class Pair:
            def left(self):
                return 1

            def right(self):
                # blank: the other one
                return 2
                # end blank
        """)
        )
    )
    assert "return 1" in blank
    assert "return 2" not in blank
    assert "# TODO: the other one" in blank
    assert "end blank" not in blank


def test_comments_and_strings_are_no_marks():
    text = 'def f(x):\n    """Doc."""\n    # blank lines do not count\n    return "# blank: no"'
    assert mark(text).count("BEGIN SOLUTION") == 1
    assert clear(mark(text)).splitlines()[2:] == [
        "    # TODO: write your code here",
        f"    {CODE_STUB}",
    ]


def test_decorators_long_signatures_and_nested_functions():
    text = textwrap.dedent('''\
        @decorate(1)
        def f(
            x: int,  # (B, T)
        ) -> int:
            # a thought that gives it away
            def inner(y):
                """Not the outer docstring."""
                return y
            return inner(x)
            # a last thought
        ''')
    blank = clear(mark(text))
    assert blank == "\n".join(
        [
            "@decorate(1)",
            "def f(",
            "    x: int,  # (B, T)",
            ") -> int:",
            "    # TODO: write your code here",
            f"    {CODE_STUB}",
        ]
    )
    ast.parse(blank)


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("def f(x): return x", "f: write its body on lines of its own"),
        ('def f(x):\n    """Doc."""', "f has no body to blank; write one below its docstring"),
        (
            "def f(x):\n    # blank: a\n    return x",
            "f: `# blank: a` has no `# end blank` below it",
        ),
        (
            "def f(x):\n    return x\n    # end blank",
            "f: `# end blank` without a `# blank: …` above it",
        ),
        (
            "def f(x):\n    # blank: a\n    # blank: b\n    return x\n    # end blank",
            "f: `# blank: b` inside another blank; end that one first",
        ),
        (
            "def f(x):\n    # blank: a\n    # end blank\n    return x",
            "f: there is nothing between `# blank` and `# end blank`",
        ),
    ],
)
def test_what_cannot_be_blanked_is_said(body, sentence):
    with pytest.raises(BlankError) as error:
        mark(body)
    assert str(error.value) == sentence


def test_a_module_is_blanked_by_name_and_loses_its_marks():
    blank = blank_module(LIBRARY, ["double", "Scale"])
    assert "return FACTOR * x" not in blank
    assert "math.tau" not in blank
    assert "secret_sum = doubled.sum()" in blank
    assert "blank:" not in blank
    ast.parse(blank)
    with pytest.raises(BlankError, match="no def or class triple"):
        blank_module(LIBRARY, ["triple"])


def test_nbgrader_takes_out_what_we_take_out(small):
    """Our `clear` and nbgrader's own preprocessor, with the course's configuration, agree."""
    from nbformat.v4 import new_code_cell, new_notebook
    from nbgrader.preprocessors import ClearSolutions
    from traitlets.config.loader import PyFileConfigLoader

    from gradekit.nbgrader.runnable import RunnableBlanks

    config = PyFileConfigLoader("nbgrader_config.py", path=str(PROJECT)).load_config()
    source = read_source(small.source("lab01"))
    texts = [solved_text(source, cell) for cell in source.of("exercise")]
    marks = {"grade": False, "solution": True, "locked": False, "schema_version": 3}
    cells = [
        new_code_cell(text, metadata={"nbgrader": {**marks, "grade_id": f"c{number}"}})
        for number, text in enumerate(texts)
    ]
    cleared, _ = ClearSolutions(config=config).preprocess(new_notebook(cells=cells), {})
    cleared, _ = RunnableBlanks().preprocess(cleared, {})
    assert [cell.source for cell in cleared.cells] == [clear(text) for text in texts]


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (
            'exercise="double"',
            'exercize="double"',
            "cell 4 has the mark 'exercize', which a code cell does not know; it knows "
            "exercise, renamed_from, tags, jupyter, slideshow",
        ),
        (
            'check("double")',
            "check('double')",
            'cell 5: give check("…") a cell of its own, with double quotes',
        ),
        (
            'check("double")',
            'check("duble")',
            "cell 5 checks 'duble', but no cell above it is marked `# %% exercise=\"duble\"`",
        ),
        (
            '# %%\ncheck("guess")\n',
            "",
            "cell 10 is the exercise 'guess', and no cell is check(\"guess\"); add one below it",
        ),
        (
            'check("total")',
            'check("double")',
            "cell 9 is a second check cell for 'double', after cell 5; keep one of them",
        ),
        (" points=4", "", "cell 12: a free-text question needs its points, such as points=4"),
        (
            '"explain"',
            '"no name"',
            "cell 12: 'no name' is not a name; use letters, digits and _, 50 at most",
        ),
    ],
)
def test_wrong_marks_are_one_sentence(tmp_path, old, new, sentence):
    assert old in SOURCE
    path = write(tmp_path, SOURCE.replace(old, new))
    with pytest.raises(CourseError) as error:
        read_source(path)
    said = re.sub(r", line \d+: cell", ": cell", str(error.value))
    assert said == f"solutions/lab01_x.py: {sentence}"


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (
            "import double",
            "import double as two",
            "16: cell 4: an exercise cell is one line such as `from attnlab.softmax import "
            "double`, or code with `### BEGIN SOLUTION` in it",
        ),
        (
            "import double",
            "import triple",
            "16: cell 4: smallnet.steps defines no function or class triple",
        ),
        (
            "smallnet.steps import double",
            "smallnet.stairs import double",
            "16: cell 4: there is no module smallnet.stairs",
        ),
        (
            "import double",
            "import double oops",
            "17: this is not Python (invalid syntax); correct the line",
        ),
    ],
)
def test_a_wrong_import_is_one_sentence(small, old, new, sentence):
    path = small.source("lab01")
    path.write_text(SOURCE.replace(old, new))
    source = read_source(path)
    with pytest.raises(CourseError) as error:
        solved_text(source, source.of("exercise")[0])
    assert str(error.value) == f"solutions/lab01_small.py, line {sentence}"


def test_an_answer_may_not_use_a_later_exercise(small):
    path = small.source("lab01")
    path.write_text(
        SOURCE.replace("double", "d_").replace("total", "double").replace("d_", "total")
    )
    source = read_source(path)
    with pytest.raises(CourseError, match="cell 4 uses double, which is the exercise of cell 8"):
        solved_text(source, source.of("exercise")[0])


def test_a_source_without_cells_is_said(tmp_path):
    with pytest.raises(CourseError, match="has no cell; start one with a line `# %%`"):
        read_source(write(tmp_path, "x = 1\n"))
