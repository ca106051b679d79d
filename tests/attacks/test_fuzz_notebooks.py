"""Any hand-in is graded or is the student's to fix, and its pages are harmless."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbconvert import HTMLExporter
from nbconvert.filters.markdown_mistune import markdown2html_mistune

from gradekit.course import Course, load_course
from gradekit.feedback.graded_notebook import graded_notebook, write_graded_notebook
from gradekit.feedback.page import cells_of, page_of, render
from gradekit.feedback.sanitize import sanitize_text
from gradekit.grading.grader import LabGrader
from gradekit.grading.task import GraderSpec
from gradekit.grading.worker import grade_submission
from gradekit.late import Lateness
from gradekit.results.records import Graded, State
from gradekit.sandbox.output_filter import clean_outputs
from gradekit.sandbox.result import CellRun, SubmissionRun
from gradekit.sandbox.sandbox import Sandbox
from gradekit.submissions.folder import MOST_BYTES, SubmittedFiles, parse_timestamp, read_submitted
from gradekit.submissions.notebook import runnable_cells
from gradekit.submissions.submission import read_submission
from gradekit.untrusted.messages import Stopped
from tests.helpers.fuzz import TEXTS, TIMES, VALUES, cost, examples
from tests.helpers.hostile_notebooks import EVIL_MARKDOWN, NAMES, notebooks
from tests.helpers.pages import active

PROJECT = Path(__file__).resolve().parents[2]
LAB, EXERCISES = "lab01", ("softmax", "entropy")


class Silent:
    """Replaces a sandbox: every cell shows given outputs, no question is answered."""

    def __init__(self, outputs: Any) -> None:
        self.outputs = outputs

    def run(self, cells: Any, probes: Any, files: Any, seed: int, graded: Any) -> SubmissionRun:
        shown, _ = clean_outputs(self.outputs, 2**20)
        return SubmissionRun(
            tuple(CellRun(cell.id, shown, "ok") for cell in cells),
            {(p.exercise, p.check): Stopped("it is silent") for one in probes for p in one},
            cpu_seconds=0.0,
            wall_seconds=0.0,
        )


@pytest.fixture(scope="module")
def course() -> Course:
    return load_course(PROJECT)


@pytest.fixture(scope="module")
def grader(course: Course) -> LabGrader:
    return LabGrader(GraderSpec(course, LAB, "none", b"secret"))


SOLVED = json.loads(next((PROJECT / "solutions" / LAB).glob("*.ipynb")).read_text("utf-8"))
SHOWN = st.lists(
    st.sampled_from([
        {"output_type": "stream", "name": "stdout", "text": "<script>PWN()</script>\x1b[31mPWN"},
        {"output_type": "display_data", "data": {"text/html": "<script>PWN()</script>",
                                                 "text/plain": "<b onclick=PWN()>"}},
        {"output_type": "error", "ename": "<i>PWN", "evalue": "$\\href{PWN}{x}$",
         "traceback": ["\x1b[31m<script>PWN()</script>"]},
    ]) | VALUES, max_size=2,
)  # fmt: skip


@examples(15)
@given(
    files=st.dictionaries(NAMES, notebooks(SOLVED), min_size=1, max_size=3),
    stamp=st.none() | TEXTS | st.just("2026-09-20 21:59:00.000001 UTC"),
    shown=SHOWN,
)
def test_a_hand_in_is_graded_or_theirs_and_its_pages_are_harmless(
    course: Course,
    grader: LabGrader,
    exporter: HTMLExporter,
    files: dict[str, bytes],
    stamp: str | None,
    shown: Any,
) -> None:
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        root = Path(name)
        submitted = hand_in(root, grader, files, stamp)
        patch.setitem(grader.__dict__, "sandbox", Silent(shown))
        done = grade_submission(grader, submitted, EXERCISES, {})
        write_graded_notebook(root, submitted, grader.released.name, done.notebook)
        cells = cells_of(root, grader.released, done.record)
    assert done.record.state in (State.GRADED, State.THEIRS)
    assert bool(done.record.reason) == (done.record.state is State.THEIRS)
    json.dumps(done.record.to_json(), ensure_ascii=False).encode()
    notebook = nbformat.reads(done.notebook, as_version=4)
    nbformat.validate(notebook)
    ids = [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in notebook.cells]
    assert all(ids.count(target.grade_id) == 1 for target in grader.released.tests)
    page, _ = exporter.from_notebook_node(notebook)
    assert active(page) == []
    results = {result.exercise: result for result in done.results}
    shown_to_them = render(
        page_of(course, grader.released, done.record, results, None, Lateness(), cells)
    )
    shown_to_them.encode()
    assert active(shown_to_them) == []


@pytest.fixture(scope="module")
def exporter() -> HTMLExporter:
    return HTMLExporter(template_name="classic")


def hand_in(
    root: Path, grader: LabGrader, files: dict[str, bytes], stamp: str | None = None
) -> SubmittedFiles:
    """Write the files that the file system can hold, and read the folder."""
    folder = root / "submitted" / "ada" / LAB
    folder.mkdir(parents=True)
    stamped = {} if stamp is None else {"timestamp.txt": stamp.encode("utf-8", "replace")}
    for name, data in (files | stamped).items():
        path = folder / name.replace("LAB", f"{grader.released.name}.ipynb")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        except (OSError, ValueError):
            continue
    if len(files) > 2:
        (folder / "link.ipynb").symlink_to("/etc/passwd")
        os.mkfifo(folder / "pipe.ipynb")
    return read_submitted(folder, "ada", LAB)


@examples(300)
@given(text=EVIL_MARKDOWN)
def test_markdown_of_any_kind_is_harmless(text: str) -> None:
    harmless = sanitize_text(text, ["a.png"])
    assert active(markdown2html_mistune(harmless)) == []
    assert not set("<>[]()\\`$") & set(text) or len(harmless) <= 2 * len(text) + 9


@pytest.mark.parametrize("attack", [
    "![ [ ](attachment:a.png) ](https://PWN.example/x.png)", "&#36;&#92;href{PWN}{x}&#36;",
    "> ```mermaid\n> PWN\n> ```", "<b onclick=PWN()>", "[x](javascript:PWN())",
    "$\\mmlToken{mi}[href='PWN']{x}$",
])  # fmt: skip
def test_the_search_for_active_content_finds_it(attack: str) -> None:
    assert active(markdown2html_mistune(attack)) != []


@examples(200)
@given(
    text=TEXTS | st.builds(
        "{} {} {}".format,
        st.dates().map(str) | TEXTS, st.times().map(str) | TEXTS,
        st.sampled_from(["UTC", "+0100", "-99:99", "../../etc/passwd", "Europe/Zurich", "zone.tab",
                         "America", "\0", "+٠١٠٠", "a" * 300, "/etc/localtime"]) | TEXTS,
    )
)  # fmt: skip
def test_a_timestamp_is_a_time_or_none(text: str) -> None:
    moment = parse_timestamp(text.encode("utf-8", "replace").decode())
    assert moment is None or 1970 <= moment.year <= 2999


# A quarter of the largest file in the usual run; time and memory grow at most like the file.
PART = 4 if TIMES == 1 else 1
SIZE = MOST_BYTES // PART - 10_000
MOST_SECONDS, MOST_MIB = 24 / PART, 100 + 700 / PART


def notebook(extra: bytes = b"", source: bytes = b'"x"', kind: bytes = b"code") -> bytes:
    """A notebook with a field of its own and one cell, as bytes."""
    cell = b'{"cell_type":"' + kind + b'","metadata":{},"outputs":[],"source":' + source + b"}"
    return (
        b'{"nbformat":4,"nbformat_minor":5,"metadata":{"a":0'
        + extra
        + b'},"cells":['
        + (cell + b"]}")
    )


def listed(piece: bytes, size: int = SIZE) -> bytes:
    return b',"b":[' + piece * (size // len(piece)) + b"0]"


def texts(piece: str) -> bytes:
    return json.dumps(piece * (SIZE // len(json.dumps(piece)) - 2)).encode()


# A free-text question of the lab: all of these cells claim to be its answer.
ANSWER_ID = next(
    cell["metadata"]["nbgrader"]["grade_id"].encode()
    for cell in SOLVED["cells"]
    if cell["cell_type"] == "markdown" and cell["metadata"].get("nbgrader", {}).get("solution")
)
BOMBS: dict[str, Callable[[], bytes]] = {
    "lists": lambda: notebook(listed(b"[],")),
    "objects": lambda: notebook(listed(b'{"":0},')),
    "as many as are read": lambda: notebook(listed(b'{"":0},', 499_000 * 7)),
    "texts": lambda: notebook(listed('"\u0100",'.encode())),
    "keys": lambda: notebook(
        b',"b":{' + b",".join(b'"%x":0' % n for n in range(SIZE // 11)) + b"}"
    ),
    "brackets": lambda: b"[" * SIZE,
    "quotes": lambda: notebook(b',"[' + b"[" * 600_000 + b'\\"' * (SIZE // 2 - 600_000)),
    "a line": lambda: notebook(source=b'"' + b"x" * SIZE + b'"'),
    "line ends": lambda: notebook(source=texts("\n")),
    "imports": lambda: notebook(source=texts("from x " + "import " * 30 + "\n")),
    "definitions": lambda: notebook(source=texts("def softmax_\n")),
    "open markdown": lambda: notebook(source=texts("![["), kind=b"markdown"),
    "fences": lambda: notebook(source=texts("```"), kind=b"markdown"),
    "conflicts": lambda: notebook(source=texts("<<<<<<< a\n")),
    "pairs of checks": lambda: notebook()[:-2] + b"".join(
        b',{"cell_type":"code","source":"check(' + b"-" * 1950 + b'1)"}'
        for _ in range(1900 // PART)
    ) + b"]}",
    "prose": lambda: notebook()[:-2] + b"".join(
        b',{"cell_type":"code","source":"' + b"(" * 9000 + b'"}' for _ in range(1900 // PART)
    ) + b"]}",
    "one id": lambda: notebook()[:-2] + b"".join(
        b',{"cell_type":"markdown","source":"%d","metadata":{"nbgrader":{"grade_id":"%s"}}}'
        % (n, ANSWER_ID) for n in range(1900)
    ) + b"]}",
}  # fmt: skip


@pytest.mark.parametrize("name", BOMBS)
def test_reading_takes_little_time_and_memory(grader: LabGrader, tmp_path: Path, name: str) -> None:
    submitted = hand_in(tmp_path, grader, {"LAB": BOMBS[name]()})
    assert sum(map(len, submitted.files.values())) > 10**5

    def read_and_write() -> None:
        submission = read_submission(submitted, grader.released)
        if submission.broken is None:
            runnable_cells(submission.notebook)
        made = graded_notebook(submission, grader.released, Graded({}, ()), {})
        nbformat.validate(made)
        json.dumps(made, ensure_ascii=False, indent=1)

    seconds, grown = cost(read_and_write)
    assert seconds < MOST_SECONDS
    assert grown < MOST_MIB


def test_without_the_limit_on_parts_memory_is_not_limited() -> None:
    raw = BOMBS["objects"]()
    assert cost(lambda: nbformat.from_dict(json.loads(raw)))[1] > MOST_MIB


def test_too_many_files_are_not_read(grader: LabGrader, tmp_path: Path) -> None:
    folder = tmp_path / "submitted" / "ada" / LAB
    folder.mkdir(parents=True)
    for number in range(40):
        with open(folder / f"{number}.ipynb", "wb") as file:
            file.truncate(MOST_BYTES)  # without using space on the disk
    seconds, grown = cost(lambda: read_submitted(folder, "ada", LAB))
    assert grown < 100
    assert seconds < 5


@examples(3)
@given(raw=notebooks(SOLVED))
def test_a_hand_in_goes_through_the_sandbox(
    course: Course, namespaces: Sandbox, grader: LabGrader, raw: bytes
) -> None:
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        submitted = hand_in(Path(name), grader, {"LAB": raw})
        patch.setitem(grader.__dict__, "sandbox", namespaces)
        done = grade_submission(grader, submitted, ("softmax",), {})
    assert done.record.state in (State.GRADED, State.THEIRS)
    nbformat.validate(nbformat.reads(done.notebook, as_version=4))
