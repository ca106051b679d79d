"""From a student's files to the notebook to grade, or one sentence why there is none."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import nbformat
import pytest

from gradekit.submissions.folder import MOST_BYTES, MOST_FILES, find_submissions
from gradekit.submissions.notebook import checked_exercise, runnable_cells
from gradekit.submissions.released import Released
from gradekit.submissions.submission import Submission, read_submission
from tests.helpers import submissions
from tests.helpers.submissions import ANSWER, LAB, NAME, as_bytes, code, done, hand_in, markdown


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Released:
    return submissions.released(tmp_path_factory.mktemp("labs"))


def read(root: Path, released: Released, student: str = "ada") -> Submission:
    (submitted,) = find_submissions(root, LAB, [student])
    return read_submission(submitted, released)


def test_a_plain_hand_in_is_read(tmp_path: Path, released: Released) -> None:
    hand_in(
        tmp_path,
        "ada",
        {f"{NAME}.ipynb": as_bytes(done()), "notes/helper.py": b"x = 1"},
        "2026-09-20 21:59:00 UTC",
    )
    submission = read(tmp_path, released)
    assert submission.broken is None
    assert submission.notes == ()
    assert submission.files == {"notes/helper.py": b"x = 1"}
    assert submission.submitted_at == datetime(2026, 9, 20, 21, 59, tzinfo=UTC)
    sources = [cell.source for cell in runnable_cells(submission.notebook)]
    assert ANSWER in sources
    assert not any(source.startswith("check(") for source in sources)


@pytest.mark.parametrize(
    ("source", "exercise"),
    [
        ('check("softmax")', "softmax"),
        ("# my test\n\ncheck( 'softmax' )  # go\n", "softmax"),
        ('check("softmax");', "softmax"),
        ('x = check("softmax")', None),
        ('check("softmax")\nprint(1)', None),
        ('check("softmax", 1)', None),
        ('check("softmax"', None),
        ("check(" + "(" * 1500, None),
        ('def f(): check("softmax")', None),
    ],
)
def test_a_test_cell_is_exactly_a_call_of_check(source: str, exercise: str | None) -> None:
    assert checked_exercise(source) == exercise


def test_a_test_cell_with_code_of_the_students_is_run(tmp_path: Path, released: Released) -> None:
    def merge(cells: list[dict[str, Any]]) -> None:
        cells[4]["source"] = 'check("softmax")\ndef entropy(p):\n    return p'

    hand_in(tmp_path, "ada", as_bytes(done(merge)))
    sources = [cell.source for cell in runnable_cells(read(tmp_path, released).notebook)]
    assert any("def entropy(p):\n    return p" in source for source in sources)


BROKEN: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "is empty (0 bytes)"),
    "zeros": (b"\0" * 100, "is empty (100 bytes)"),
    "cut": (as_bytes(done())[:500], "is damaged"),
    "conflict": (
        b'{"cells": [\n<<<<<<< HEAD\n{}\n=======\n[]\n>>>>>>> other\n]}',
        "merge-conflict marks",
    ),
    "page": (b"<!DOCTYPE html><html></html>", "is a web page"),
    "pdf": (b"%PDF-1.7 ...", "is a PDF"),
    "zip": (b"PK\x03\x04....", "is a zip archive"),
    "binary": (b"\x89\xff\xf0\x01" * 40, "is not text"),
    "a list": (b"[1, 2]", "no cells"),
    "other json": (b'{"name": "ada"}', "no cells"),
    "deep": (b"[" * 200_000, "is damaged"),
    "long number": (b'{"cells": [' + b"9" * 5000 + b"]}", "is damaged"),
    "many cells": (json.dumps({"cells": [{}] * 2001}).encode(), "2001 cells"),
    "large": (b'{"cells": [], "x": "' + b"x" * MOST_BYTES + b'"}', "too large"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_file_that_is_not_a_notebook_is_named(
    kind: str, tmp_path: Path, released: Released
) -> None:
    data, words = BROKEN[kind]
    hand_in(tmp_path, "ada", data)
    submission = read(tmp_path, released)
    assert submission.notebook is None
    assert submission.broken is not None
    assert words in submission.broken
    assert f"{NAME}.ipynb" in submission.broken


ODD: dict[str, tuple[bytes, str]] = {
    "no format": (json.dumps({"cells": done()}).encode(), "does not name its format"),
    "no minor": (json.dumps({"nbformat": 4, "cells": done()}).encode(), "does not name its format"),
    "format 3": (
        json.dumps(
            {
                "nbformat": 3,
                "nbformat_minor": 0,
                "metadata": {"name": ""},
                "worksheets": [
                    {
                        "metadata": {},
                        "cells": [
                            {
                                "cell_type": "heading",
                                "level": 2,
                                "source": ["Softmax"],
                                "metadata": {},
                            },
                            {
                                "cell_type": "code",
                                "language": "python",
                                "input": [ANSWER],
                                "outputs": [],
                            },
                        ],
                    }
                ],
            }
        ).encode(),
        "old format (nbformat 3)",
    ),
    "format 2": (
        json.dumps(
            {
                "nbformat": 2,
                "worksheets": [{"cells": [{"cell_type": "code", "input": ANSWER, "outputs": []}]}],
            }
        ).encode(),
        "old format (nbformat 2)",
    ),
    "utf-16": (as_bytes(done()).decode().encode("utf-16"), ""),
    "bom": (b"\xef\xbb\xbf" + as_bytes(done()), ""),
    "surrogates": (as_bytes([*done(), code("x = '\ud83d'")]), ""),
    "wild cells": (
        as_bytes(
            [
                *done(),
                {"cell_type": 7},
                {"cell_type": "code", "source": None, "metadata": []},
                {"cell_type": "code", "source": ["a = 1\n", 5, "b = 2"], "metadata": {}},
            ]
        ),
        "",
    ),
    "cells of no kind": (json.dumps({"cells": [5, None, *done()], "nbformat": 4}).encode(), ""),
    "conflict in a cell": (
        as_bytes([*done(), code("<<<<<<< HEAD\na = 1\n=======\na = 2\n>>>>>>> b")]),
        "merge-conflict marks",
    ),
}


@pytest.mark.parametrize("kind", ODD)
def test_an_odd_notebook_is_read_with_a_note(kind: str, tmp_path: Path, released: Released) -> None:
    data, words = ODD[kind]
    hand_in(tmp_path, "ada", data)
    submission = read(tmp_path, released)
    assert submission.broken is None
    assert words in " ".join(submission.notes)
    notebook = submission.notebook
    assert ANSWER in [cell.source for cell in runnable_cells(notebook)]
    json.dumps(notebook, ensure_ascii=False).encode()
    assert len({cell.id for cell in notebook.cells}) == len(notebook.cells)


def test_a_renamed_file_is_found(tmp_path: Path, released: Released) -> None:
    hand_in(tmp_path, "ada", {"My Lab (final) é.ipynb": as_bytes(done())})
    submission = read(tmp_path, released)
    assert submission.broken is None
    assert "My Lab (final) é.ipynb" in submission.notes[0]


@pytest.mark.parametrize("name", [f"{NAME}.ipynb.txt", f"{NAME}.json", NAME])
def test_a_notebook_with_another_ending_is_found(
    name: str, tmp_path: Path, released: Released
) -> None:
    hand_in(tmp_path, "ada", {name: as_bytes(done()), "data.json": b'{"a": 1}'})
    submission = read(tmp_path, released)
    assert submission.broken is None
    assert submission.files == {"data.json": b'{"a": 1}'}


def test_of_two_notebooks_the_labs_own_name_wins(tmp_path: Path, released: Released) -> None:
    scratch = as_bytes([code("print(1)")])
    hand_in(tmp_path, "ada", {f"{NAME}.ipynb": as_bytes(done()), "Untitled.ipynb": scratch})
    submission = read(tmp_path, released)
    assert submission.name == f"{NAME}.ipynb"
    assert any("2 notebooks" in note and "own name" in note for note in submission.notes)
    assert submission.files == {}


def test_an_untouched_copy_with_the_right_name_does_not_win(
    tmp_path: Path, released: Released
) -> None:
    untouched = as_bytes(submissions.released_cells())
    hand_in(tmp_path, "ada", {f"{NAME}.ipynb": untouched, "solution.ipynb": as_bytes(done())})
    submission = read(tmp_path, released)
    assert submission.name == "solution.ipynb"
    assert any("most steps of the lab" in note for note in submission.notes)


def test_of_equal_notebooks_the_newest_wins(tmp_path: Path, released: Released) -> None:
    folder = hand_in(tmp_path, "ada", {"a.ipynb": as_bytes(done()), "b.ipynb": as_bytes(done())})
    os.utime(folder / "b.ipynb", (1, 1))
    submission = read(tmp_path, released)
    assert submission.name == "a.ipynb"
    assert any("newest" in note for note in submission.notes)


def test_a_broken_file_next_to_a_good_one_costs_nothing(tmp_path: Path, released: Released) -> None:
    hand_in(tmp_path, "ada", {f"{NAME}.ipynb": b"", "mine.ipynb": as_bytes(done())})
    submission = read(tmp_path, released)
    assert submission.name == "mine.ipynb"
    assert any("is empty" in note for note in submission.notes)


def test_the_notebook_of_another_lab_is_remarked_on(tmp_path: Path, released: Released) -> None:
    hand_in(tmp_path, "ada", {"lab07.ipynb": as_bytes([code("def encoder(): ...")])})
    submission = read(tmp_path, released)
    assert submission.broken is None
    assert any("another lab" in note for note in submission.notes)


def test_links_are_never_followed(tmp_path: Path, released: Released) -> None:
    secret = tmp_path / "secret.ipynb"
    secret.write_bytes(as_bytes(done()))
    folder = hand_in(tmp_path, "ada", {"readme.txt": b"hello"})
    (folder / f"{NAME}.ipynb").symlink_to(secret)
    (folder / "all").symlink_to(tmp_path)
    submission = read(tmp_path, released)
    assert submission.notebook is None
    assert "symbolic link" in (submission.broken or "")
    assert submission.files == {"readme.txt": b"hello"}

    (tmp_path / "submitted" / "eve").symlink_to(tmp_path / "submitted" / "ada")
    assert read(tmp_path, released, "eve").notebook is None


def test_folders_pipes_and_hidden_files_are_left_out(tmp_path: Path, released: Released) -> None:
    folder = hand_in(
        tmp_path,
        "ada",
        {f"{NAME}.ipynb/inner.txt": b"", ".ipynb_checkpoints/x.ipynb": as_bytes(done())},
    )
    os.mkfifo(folder / "pipe.ipynb")
    submission = read(tmp_path, released)
    assert submission.notebook is None
    assert "is a folder" in (submission.broken or "")
    assert "pipe.ipynb is neither" in (submission.broken or "")


@pytest.mark.parametrize("kind", ["data/{}.csv", "{}.csv"])
def test_many_other_files_do_not_crowd_out_the_notebook(
    kind: str, tmp_path: Path, released: Released
) -> None:
    others = {kind.format(number): b"1" for number in range(MOST_FILES + 5)}
    hand_in(tmp_path, "ada", {f"{NAME}.ipynb": as_bytes(done()), **others})
    submitted = next(find_submissions(tmp_path, LAB))
    assert len(submitted.files) == 1 + MOST_FILES
    assert read_submission(submitted, released).broken is None
    assert "more than 100 files and was left out" in submitted.notes[0]


def test_no_notebook_at_all_says_what_was_found(tmp_path: Path, released: Released) -> None:
    hand_in(tmp_path, "ada", {"answers.docx": b"PK"})
    assert "answers.docx" in (read(tmp_path, released).broken or "")


def test_one_bad_hand_in_does_not_hide_the_others(tmp_path: Path, released: Released) -> None:
    hand_in(tmp_path, "ada", as_bytes(done()))
    hand_in(tmp_path, "bob", b"")
    hand_in(tmp_path, "cyd", as_bytes(done()))
    broken = [
        read_submission(submitted, released).broken for submitted in find_submissions(tmp_path, LAB)
    ]
    assert [bool(sentence) for sentence in broken] == [False, True, False]


def test_an_unreadable_timestamp_is_remarked_on(tmp_path: Path, released: Released) -> None:
    hand_in(tmp_path, "ada", as_bytes(done()), "soon")
    submission = read(tmp_path, released)
    assert submission.submitted_at is None
    assert any("timestamp.txt" in note for note in submission.notes)


def test_prose_only_notebook_has_nothing_to_run(tmp_path: Path, released: Released) -> None:
    hand_in(tmp_path, "ada", as_bytes([markdown("hello")]))
    assert runnable_cells(read(tmp_path, released).notebook) == ()


@pytest.mark.parametrize("place", ["notebook", "cell", "attachments", "a cell itself"])
def test_deeply_nested_parts_are_left_out(place: str, tmp_path: Path, released: Released) -> None:
    deep: Any = "x"
    for _ in range(900):
        deep = {"a": deep}
    tree = json.loads(as_bytes(done()))
    with pytest.raises(RecursionError):
        nbformat.from_dict({**tree, "metadata": deep})
    match place:
        case "notebook":
            tree["metadata"] = deep
        case "cell":
            tree["cells"][0]["metadata"]["mine"] = deep
        case "attachments":
            tree["cells"].append({"cell_type": "markdown", "source": "", "attachments": deep})
        case _:
            tree["cells"].append(deep)
    hand_in(tmp_path, "ada", {f"{NAME}.ipynb": json.dumps(tree).encode()})
    assert runnable_cells(read(tmp_path, released).notebook)


def test_a_notebook_of_another_lab_is_broken_and_says_which(
    tmp_path: Path, released: Released
) -> None:
    marks = {"attnlab": {"lab": "lab07"}}
    hand_in(tmp_path, "ada", as_bytes([code("x = 1")], metadata=marks))
    submission = read(tmp_path, released)
    assert submission.broken == f"{NAME}.ipynb is a notebook of lab07; hand in the one of {LAB}."
    hand_in(tmp_path, "bob", as_bytes(done(), metadata=marks))  # its steps are this lab's
    assert read(tmp_path, released, "bob").broken is None
