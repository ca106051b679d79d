import json
import os
import shutil
import subprocess
import sys
import zipfile
from datetime import datetime
from types import SimpleNamespace

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

import attnlab
from attnlab.notebook.file import text_digest
from attnlab.notebook.submit import MOST_BYTES, SubmitError, pack_submission, submit

OPEN = "def softmax(x):\n    # TODO\n    raise NotImplementedError"


def step(source, name="softmax"):
    return new_code_cell(source, metadata={"nbgrader": {"grade_id": name, "solution": True}})


def save(path, *cells, lab="lab01"):
    book = new_notebook(cells=list(cells), metadata={"attnlab": {"lab": lab}} if lab else {})
    nbformat.write(book, path)
    return path


@pytest.fixture
def folder(tmp_path):
    """A student's folder with all kinds of files."""
    cell = step("def softmax(x):\n    return x")
    cell.execution_count = 3
    save(tmp_path / "lab01_softmax.ipynb", cell)
    (tmp_path / "checks.safetensors").write_bytes(b"came with the lab")
    (tmp_path / "weights.safetensors").write_bytes(b"mine")
    (tmp_path / "losses.csv").write_text("1,2\n")
    for name in ("README.md", ".hidden.json", "lab01-handin.zip", "notes.py"):
        (tmp_path / name).write_text("not mine to hand in")
    for name in ("attnlab", ".ipynb_checkpoints", "__pycache__"):
        (tmp_path / name).mkdir()
        shutil.copy(tmp_path / "lab01_softmax.ipynb", tmp_path / name)
    return tmp_path


def names(submitted):
    with zipfile.ZipFile(submitted.path) as archive:
        assert archive.testzip() is None
        return archive.namelist()


def test_own_modules_that_the_notebook_imports_are_packed(tmp_path):
    imports = "import torch, helpers as h\nfrom tools import shift\nimport random\nimport parts.one"
    save(tmp_path / "lab01_softmax.ipynb", step(f"{imports}\ndef softmax(x): return shift(x)"))
    (tmp_path / "helpers.py").write_text("from deeper import more\nimport helpers, missing")
    for name in ("tools.py", "deeper.py", "unused.py", "random.py", "torch.py"):
        (tmp_path / name).write_text("")
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "one.py").write_text("")
    submitted = pack_submission(tmp_path)
    packed = ["lab01_softmax.ipynb", "deeper.py", "helpers.py", "tools.py"]
    assert names(submitted) == packed
    said = submitted.summary()
    assert "The folder parts is not packed" in said
    assert "random.py is not packed: grading would import the installed module random." in said
    assert "torch.py is not packed" in said
    assert "unused" not in said


def test_the_notebook_and_its_data_files_are_packed(folder):
    submitted = pack_submission(folder)
    assert submitted.path == folder / "lab01-handin.zip"
    assert submitted.lab == "lab01"
    expected = ["lab01_softmax.ipynb", "losses.csv", "weights.safetensors"]
    assert names(submitted) == [file.name for file in submitted.files] == expected
    with zipfile.ZipFile(submitted.path) as archive:
        assert archive.read("lab01_softmax.ipynb") == (folder / "lab01_softmax.ipynb").read_bytes()
        assert [archive.getinfo(file.name).file_size for file in submitted.files] == [
            file.size for file in submitted.files
        ]
    assert not list(folder.glob("*.part"))


def test_submit_prints_what_it_packed(folder, capsys):
    submitted = submit(folder)
    printed = capsys.readouterr().out
    assert printed == submitted.summary() + "\n"
    lines = printed.splitlines()
    assert lines[0] == f"Packed {folder}/lab01-handin.zip"
    assert lines[2] == "  losses.csv           4 bytes"
    assert "last saved" in lines[4]
    assert lines[-1] == "Now give this file to your course's system."
    assert "Not written yet" not in printed
    assert "No cell" not in printed


def test_long_sentences_are_wrapped_between_words(tmp_path, capsys):
    cells = [step(OPEN, f"step_{number}_of_many") for number in range(20)]
    save(tmp_path / "lab01_softmax.ipynb", *cells)
    submitted = submit(tmp_path)
    first, *lines = capsys.readouterr().out.splitlines()
    assert first == f"Packed {tmp_path}/lab01-handin.zip"
    assert max(map(len, lines)) <= 92
    assert " ".join(" ".join(lines).split()).find(", ".join(submitted.unwritten_steps)) > 0


def test_unwritten_steps_are_listed_and_packed(tmp_path):
    save(
        tmp_path / "lab01_softmax.ipynb", step(OPEN), step("x = 1", "cross_entropy"),
        new_code_cell("class Cell:\n    def f(self):\n        raise NotImplementedError('later')"),
        new_markdown_cell(
            "Why?\n\n*Write your answer here, in place of this line.*",
            metadata={"nbgrader": {"grade_id": "explain"}},
        ),
        new_markdown_cell("Replace `raise NotImplementedError` with code.\n\n    raise it"),
    )  # fmt: skip
    submitted = pack_submission(tmp_path)
    assert submitted.unwritten_steps == ("softmax", "Cell", "explain")
    assert submitted.never_run
    assert "Not written yet: softmax, Cell, explain." in submitted.summary()
    assert "No cell of the saved notebook has been run" in submitted.summary()
    assert names(submitted) == ["lab01_softmax.ipynb"]


def test_weights_that_were_not_saved_are_named(folder):
    path = folder / "lab01_softmax.ipynb"
    book = nbformat.read(path, as_version=4)
    book.metadata["attnlab"]["saves"] = ["weights.safetensors", "dates.safetensors"]
    nbformat.write(book, path)
    submitted = pack_submission(folder)
    assert submitted.missing == ("dates.safetensors",)
    assert "missing (dates.safetensors): run the cells that train them" in submitted.summary()


def test_a_file_that_is_too_large_is_left_out_and_named(folder):
    with (folder / "weights.safetensors").open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    submitted = pack_submission(folder)
    assert "weights.safetensors" not in names(submitted)
    assert "Left out weights.safetensors: 20.0 MB is more than 20.0 MB." in submitted.summary()


def test_a_link_is_not_followed(folder):
    (folder / "passwords.json").symlink_to("/etc/hostname")
    assert "passwords.json" not in names(pack_submission(folder))


@pytest.mark.parametrize(
    ("lab", "name", "expected"),
    [
        ("lab03", "renamed.ipynb", "lab03"),
        (None, "lab02_attention.ipynb", "lab02"),
        (None, "Lab02 final (1).ipynb", "lab02"),
        (["lab03"], "lab02.ipynb", "lab02"),
        ("../../lab03", "lab02.ipynb", "lab02"),
        ("lab03/../..", "x.ipynb", "lab03"),
    ],
)
def test_the_lab_is_read_from_metadata_or_the_file_name(tmp_path, lab, name, expected):
    save(tmp_path / name, lab=lab)
    submitted = pack_submission(tmp_path)
    assert submitted.lab == expected
    assert submitted.path == tmp_path / f"{expected}-handin.zip"


def refuse(folder, *words):
    with pytest.raises(SubmitError) as caught:
        pack_submission(folder)
    message = str(caught.value)
    assert "\n" not in message
    for word in words:
        assert word in message
    assert not list(folder.glob("*.zip*")) if folder.is_dir() else True


def test_refusals_of_folders(tmp_path):
    refuse(tmp_path, f"There is no notebook in {tmp_path}")
    refuse(tmp_path / "nowhere", f"There is no folder {tmp_path}/nowhere")
    save(tmp_path / "unnamed.ipynb", lab=None)
    refuse(tmp_path, "unnamed.ipynb does not say which lab it is")


def test_two_notebooks_are_named_and_one_can_be_chosen(folder):
    (folder / "lab01-handin.zip").unlink()
    save(folder / "lab01_copy.ipynb")
    refuse(folder, "2 notebooks", "lab01_copy.ipynb, lab01_softmax.ipynb", 'submit("lab01_copy')
    assert names(pack_submission(folder / "lab01_softmax.ipynb"))[0] == "lab01_softmax.ipynb"


GOOD = json.dumps(new_notebook(cells=[new_code_cell("x = 1")]), indent=1)
CONFLICT = GOOD.replace(
    ' "cells": [', '<<<<<<< HEAD\n "cells": [\n=======\n "cells": [\n>>>>>>> theirs\n'
)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"{", "is damaged (line 1)"),
        (GOOD.encode()[:-40], "is damaged"),
        (b"\xff\xfe\x00", "is damaged"),
        (b"[" * 100_000, "is damaged"),
        (CONFLICT.encode(), "marks of a merge conflict"),
        (b"[]", "not a notebook in the current format"),
        (b'{"nbformat": 3, "worksheets": []}', "not a notebook in the current format"),
        (b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}}', "is not a valid notebook"),
        (b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [1]}', "not a valid"),
        (b'{"nbformat": 4, "nbformat_minor": 5, "metadata": 3, "cells": []}', "not a valid"),
        (b'{"nbformat": 4, "cells": []}', "not a valid"),
    ],
)
def test_an_invalid_notebook_is_named(tmp_path, content, words):
    (tmp_path / "lab01_softmax.ipynb").write_bytes(content)
    refuse(tmp_path, "lab01_softmax.ipynb", words)


def test_conflict_marks_in_a_cell(tmp_path):
    text = "<<<<<<< HEAD\nx = 1\n=======\nx = 2\n>>>>>>> theirs"
    save(tmp_path / "lab01.ipynb", new_code_cell("x"), new_code_cell(text))
    refuse(tmp_path, "Cell 2 of lab01.ipynb contains the marks of a merge conflict")


def test_notebooks_of_other_editors(tmp_path):
    """Older minor versions, no cell ids, lists of lines, and unknown metadata."""
    book = {
        "nbformat": 4, "nbformat_minor": 0,
        "metadata": {"colab": {"provenance": []}, "attnlab": {"lab": "lab01"}},
        "cells": [{
            "cell_type": "code", "metadata": {"id": "abc", "vscode": {"languageId": "python"}},
            "source": ["def f():\n", "    raise NotImplementedError"], "outputs": [],
            "execution_count": None,
        }],
    }  # fmt: skip
    (tmp_path / "mine.ipynb").write_text(json.dumps(book))
    assert pack_submission(tmp_path).unwritten_steps == ("f",)


def test_a_refusal_leaves_the_last_hand_in_unchanged(folder):
    before = pack_submission(folder).path.read_bytes()
    (folder / "lab01_softmax.ipynb").write_text("{")
    with pytest.raises(SubmitError):
        pack_submission(folder)
    assert (folder / "lab01-handin.zip").read_bytes() == before


@pytest.mark.parametrize("year", [1970, 2200])
def test_files_of_any_date_are_packed(folder, year):
    """Files of an image or an archive are often of 1970, a date that no zip can hold."""
    old = datetime(year, 1, 2).timestamp()
    os.utime(folder / "losses.csv", (old, old))
    assert "losses.csv" in names(pack_submission(folder))


def test_a_name_that_no_zip_can_hold_is_refused(folder):
    odd = os.fsdecode(b"odd\xff.csv")
    try:
        (folder / odd).write_text("1")
    except OSError:
        pytest.skip("this file system takes names in UTF-8 alone")
    with pytest.raises(SubmitError, match="not valid text"):
        pack_submission(folder)


@pytest.mark.parametrize("name", ["lab01-handin.zip", "lab01-handin.zip.part"])
def test_a_folder_in_the_place_of_the_zip_is_one_sentence(folder, name):
    (folder / name).unlink(missing_ok=True)
    (folder / name).mkdir()
    with pytest.raises(SubmitError, match="was not written"):
        pack_submission(folder)
    assert (folder / name).is_dir()


def test_in_a_notebook_a_refusal_is_one_sentence(tmp_path):
    from IPython.core.interactiveshell import InteractiveShell

    with pytest.raises(SubmitError) as caught:
        submit(tmp_path)
    assert caught.value._render_traceback_() == [str(caught.value)]
    assert hasattr(InteractiveShell, "showtraceback")


def command(*arguments, cwd):
    source = os.path.dirname(os.path.dirname(attnlab.__file__))
    return subprocess.run(
        [sys.executable, "-m", "attnlab", *arguments], cwd=cwd, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": source}, check=False,
    )  # fmt: skip


def test_from_a_terminal(folder, tmp_path_factory):
    done = command("submit", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Packed ")
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    assert command("submit", str(folder), cwd=elsewhere).returncode == 0
    refused = command("submit", cwd=elsewhere)
    assert (refused.returncode, refused.stderr) == (1, "")
    assert refused.stdout.startswith("There is no notebook in ")
    for arguments in ((), ("submit", "a", "b"), ("submit", "--help"), ("hand",)):
        usage = command(*arguments, cwd=elsewhere)
        assert (usage.returncode, usage.stdout[:6]) == (2, "usage:")


def lab_notebook(path, *cells, **about):
    known = {"lab": "lab03", "steps": {"attention_loop": "3.2", "qkv": "3.1", "explain": ""}}
    book = new_notebook(cells=list(cells), metadata={"attnlab": {**known, **about}})
    nbformat.write(book, path / "lab03_attention.ipynb")
    return path


def test_cells_that_are_not_python_and_cells_that_are_gone_are_named(tmp_path):
    lab_notebook(
        tmp_path,
        step("def attention_loop(q, K, V)\n    return q", "attention_loop"),
        new_code_cell("%matplotlib inline\n!ls\nx = 1"),
        new_code_cell("a b"),
        new_code_cell("\0"),
    )
    packed = pack_submission(tmp_path)
    assert packed.not_python[0] == ("3.2 attention_loop is not Python (line 1: expected ':')")
    assert [words.partition(" is ")[0] for words in packed.not_python[1:]] == ["cell 3", "cell 4"]
    assert packed.gone == ("3.1 qkv", "explain")
    summary = packed.summary()
    assert "3.2 attention_loop is not Python (line 1: expected ':').\n" in summary
    assert "The cell of 3.1 qkv is gone: " in summary


def test_a_released_cell_without_an_answer_is_open(tmp_path):
    text = "predictions = {}\n# TODO: write five lines"
    blank = {"attnlab": {"blank": text_digest(text)}}
    for source, is_unwritten in ((text, True), (f"{text}\npredictions['P1'] = 1", False)):
        cell = step(source, "qkv")
        cell.metadata.update(blank)
        lab_notebook(tmp_path, cell)
        assert pack_submission(tmp_path).unwritten_steps == (("3.1 qkv",) if is_unwritten else ())


def test_the_due_date_is_said(tmp_path):
    late = {"grace_minutes": 30, "percent_per_day": 10, "last_day": 5}
    lab_notebook(tmp_path, due="2020-10-04T23:59:00+02:00", late=late)
    assert "It was due Sunday 4 October 2020" in pack_submission(tmp_path).summary()
    lab_notebook(tmp_path)
    assert pack_submission(tmp_path).due == ""


@pytest.mark.parametrize("variable", ["ATTNLAB_GRADING", "NBGRADER_VALIDATING"])
def test_while_a_notebook_is_graded_nothing_is_packed(folder, monkeypatch, capsys, variable):
    monkeypatch.setenv(variable, "1")
    (folder / "lab01-handin.zip").unlink()
    assert submit(folder) is None
    assert capsys.readouterr().out == ""
    assert not (folder / "lab01-handin.zip").exists()


def test_in_a_script_without_a_notebook_nothing_is_packed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__", "__file__": "lab.py", "submit": submit}
    assert eval("submit()", names) is None
    assert capsys.readouterr().out.startswith("Nothing is packed. There is no notebook in ")


def test_the_running_notebook_is_packed_among_several(folder, monkeypatch):
    save(folder / "scratch.ipynb")
    with pytest.raises(SubmitError, match="2 notebooks"):
        submit(folder)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("JPY_SESSION_NAME", str(folder / "lab01_softmax.ipynb"))
    assert submit().files[0].name == "lab01_softmax.ipynb"
    monkeypatch.delenv("JPY_SESSION_NAME")
    named = {"__vsc_ipynb_file__": str(folder / "lab01_softmax.ipynb"), "submit": submit}
    assert eval("submit()", named).files[0].name == "lab01_softmax.ipynb"


def test_what_was_run_but_not_saved_is_named(tmp_path, monkeypatch):
    saved = "def qkv(x):\n    return x"
    lab_notebook(tmp_path, step(saved, "qkv"), step("def loop(x):\n    return x", "attention_loop"))

    ran = ["", saved, saved.replace("return x", "return 2 * x")]
    shell = SimpleNamespace(kernel=True, history_manager=SimpleNamespace(input_hist_raw=ran))
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    packed = pack_submission(tmp_path)
    assert packed.unsaved == ("qkv",)
    assert "you ran a version of qkv that is not in the saved notebook." in packed.summary()
    ran.append(saved)
    assert pack_submission(tmp_path).unsaved == ()


@pytest.mark.parametrize(
    "text", ["%time x = 1\ndef qkv(x):\n    \n    return x\n    ", "qkv = 1\n\n"]
)
def test_a_cell_that_ipython_rewrites_is_still_the_saved_one(tmp_path, monkeypatch, text):
    from IPython.core.interactiveshell import InteractiveShell

    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    lab_notebook(tmp_path, step(text, "qkv"))
    shell = InteractiveShell()
    shell.kernel = object()
    shell.run_cell(text, store_history=True)
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    assert pack_submission(tmp_path).unsaved == ()
