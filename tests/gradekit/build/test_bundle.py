"""The student's bundle of lab 1: what is in it, what is not, and that it works by itself."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from attnlab.checking import visible
from gradekit.build.blanks import definitions
from gradekit.build.bundle import make_bundle, publish
from gradekit.build.disclosure import disclosures
from gradekit.errors import CourseError
from gradekit.exercise import loader
from gradekit.exercise.edits import source_text
from gradekit.exercise.loader import CourseLabs, load_lab
from tests.helpers.small_course import copy_real_course

LAB = "lab01"


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return copy_real_course(tmp_path_factory.mktemp("course"))


@pytest.fixture(scope="module")
def labs(course):
    return CourseLabs(course)


@pytest.fixture(scope="module")
def released(labs):
    return make_bundle(labs, LAB)


@pytest.fixture(scope="module")
def unpacked(released, tmp_path_factory):
    """What a student has after unpacking the zip."""
    place = tmp_path_factory.mktemp("student")
    with zipfile.ZipFile(released.zip) as archive:
        archive.extractall(place)
    assert [path.name for path in place.iterdir()] == [LAB]
    return place / LAB


def all_text(folder: Path) -> str:
    """Every byte of the bundle that can be read as text, and every string of the checks file."""
    texts = []
    for path in folder.rglob("*"):
        if path.is_file():
            texts.append(path.read_bytes().decode("utf-8", errors="replace"))
        if path.suffix == ".ipynb":
            cells = json.loads(path.read_text("utf-8"))["cells"]
            texts += ["".join(cell["source"]) for cell in cells]
    lab = visible.read(folder / "checks.safetensors")
    texts += [check.source for exercise in lab.exercises for check in exercise.checks]
    return "\n".join(texts)


def test_the_bundle_holds_what_a_lab_needs(unpacked):
    names = {path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*")}
    assert {
        "lab01_softmax.ipynb",
        "checks.safetensors",
        "requirements.txt",
        "environment.yml",
        "HOW_TO_HAND_IN.md",
        "LECTURES.md",
        "attnlab/__init__.py",
        "attnlab/notebook/check.py",
        "attnlab/notebook/submit.py",
        "attnlab/softmax.py",
        "attnlab/checking/verdict.py",
    } <= names
    assert not [name for name in names if "__pycache__" in name or name.endswith(".pyc")]


def test_no_reference_body_is_in_the_zip(labs, unpacked):
    text = all_text(unpacked)
    exercises = labs[LAB].exercises
    references = [reference for exercise in exercises for reference in exercise.references]
    assert len(references) >= 8
    for reference in references:
        source = inspect.getsource(reference)
        (node,) = definitions(source)
        first = node.body[1]  # below the docstring
        body = "\n".join(source.splitlines()[first.lineno - 1 :])
        assert body.strip() not in text
        lines = [line.split("  #")[0].strip() for line in body.splitlines()]
        longest = max(lines, key=len)
        assert longest not in text, f"{reference.__name__}: {longest}"


def test_no_hidden_check_is_in_the_zip(labs, unpacked):
    text = all_text(unpacked)
    checks = [check for exercise in labs[LAB].exercises for check in exercise.checks]
    hidden = [check for check in checks if check.hidden]
    shown = {check.name for check in checks if not check.hidden}
    assert len(hidden) >= 10
    for check in hidden:
        if check.name not in shown:
            assert f"def {check.name}(lab" not in text
        signature, _, body = source_text(check.probe).partition("\n")
        assert signature.startswith("def ")
        statements = body.rpartition('"""')[2].strip()
        assert statements not in text
    lab = visible.read(unpacked / "checks.safetensors")
    for exercise in lab.exercises:
        checks = labs[LAB][exercise.name].checks
        names = {check.name for check in checks if check.hidden}
        assert not names & {check.prepared.name for check in exercise.checks}
        assert all(not check.prepared.hidden for check in exercise.checks)


def test_no_other_answer_of_the_lab_is_in_the_zip(course, labs, unpacked):
    """Answers that stand in the lab's source alone: predictions, errata, the student's test."""
    solved = json.loads((course.root / "solutions" / LAB / "lab01_softmax.ipynb").read_text())
    text = all_text(unpacked)
    regions = 0
    for cell in solved["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code" and "BEGIN SOLUTION" in source:
            answer = source.split("BEGIN SOLUTION\n")[1].rsplit("###", 1)[0].strip()
            assert answer not in text
            regions += 1
    assert regions == len(labs[LAB].exercises)


def test_the_proof_that_release_itself_makes_agrees(labs, unpacked):
    assert disclosures(labs, LAB, unpacked) == []


RUN_TO_FIRST_EXERCISE = """
import json, socket, sys
bundle, packages = sys.argv[1:]
sys.path[:] = [bundle, *[p for p in sys.path if "site-packages" not in p], packages]

def offline(*args, **kwargs):
    raise OSError("no network here")

socket.socket.connect = socket.create_connection = socket.getaddrinfo = offline
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance()
seen = []
for cell in json.load(open(bundle + "/lab01_softmax.ipynb"))["cells"]:
    if cell["cell_type"] != "code":
        continue
    result = shell.run_cell("".join(cell["source"]))
    result.raise_error()
    if cell["id"].startswith("check_"):
        value = result.result
        break
import attnlab
assert attnlab.__file__.startswith(bundle), attnlab.__file__
assert not [name for name in sys.modules if name.startswith(("gradekit", "nbgrader"))]
try:
    import gradekit
except ImportError:
    print("FIRST CHECK", float(value))
"""


def test_the_notebook_runs_to_its_first_exercise_offline_from_the_bundle_alone(unpacked, tmp_path):
    run = subprocess.run(
        # -S: no .pth file, so that this project's own installation is out of reach.
        [
            sys.executable,
            "-S",
            "-c",
            RUN_TO_FIRST_EXERCISE,
            str(unpacked),
            sysconfig.get_path("purelib"),
        ],
        cwd=unpacked,
        capture_output=True,
        text=True,
        check=False,
        env={"HOME": str(tmp_path), "MPLBACKEND": "agg", "PATH": ""},
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.splitlines()[-1] == "FIRST CHECK 0.0"
    assert "Nothing is written here yet" in run.stdout


def test_a_bundle_is_the_same_each_time_and_loads_its_own_lab_alone_and_once(
    course, released, monkeypatch
):
    loaded, load = [], load_lab
    monkeypatch.setattr(
        loader, "load_lab", lambda course, lab: loaded.append(lab) or load(course, lab)
    )
    before = released.zip.read_bytes()
    (released.folder / "left-over.txt").write_text("from last time")
    assert make_bundle(CourseLabs(course), LAB).zip.read_bytes() == before
    assert loaded == [LAB]


def test_the_bundle_has_no_code_of_the_grader(unpacked):
    assert (unpacked / "attnlab" / "py.typed").is_file()
    assert not list(unpacked.rglob("gradekit*"))
    code = [path.read_text("utf-8") for path in unpacked.rglob("*.py")]
    assert len(code) > 50
    assert not any("import gradekit" in text or "from gradekit" in text for text in code)


def test_the_page_says_what_a_student_needs_to_know(unpacked):
    page = (unpacked / "HOW_TO_HAND_IN.md").read_text("utf-8")
    assert "**due Friday, 18 September 2026, 23:59 (Europe/Zurich)**" in page
    assert "python -m attnlab submit" in page
    assert "jupyter lab lab01_softmax.ipynb" in page
    assert "$" not in page
    assert "python3 -m venv " in page, "Debian's pip refuses to install outside an environment"
    assert "--index-url https://download.pytorch.org/whl/cpu" in page
    wanted = (unpacked / "requirements.txt").read_text().splitlines()
    assert any(line.startswith("torch>=") for line in wanted)
    assert any(line.startswith("jupyterlab") for line in wanted)
    assert not any(line.startswith("nbgrader") for line in wanted)


def test_handing_in_from_the_bundle_works_as_the_page_says(unpacked, tmp_path):
    run = subprocess.run(
        [sys.executable, "-m", "attnlab", "submit"],
        cwd=unpacked,
        capture_output=True,
        text=True,
        check=False,
        env={"HOME": str(tmp_path)},
    )
    assert run.returncode == 0, run.stdout + run.stderr
    with zipfile.ZipFile(unpacked / f"{LAB}-handin.zip") as archive:
        assert archive.namelist()[0] == "lab01_softmax.ipynb"
    (unpacked / f"{LAB}-handin.zip").unlink()


def test_handing_in_from_the_folder_above_works(unpacked, tmp_path):
    for arguments in (["attnlab", "submit", str(unpacked)], ["attnlab"]):
        run = subprocess.run(
            [sys.executable, f"{unpacked.name}/{arguments[0]}", *arguments[1:]],
            cwd=unpacked.parent,
            capture_output=True,
            text=True,
            check=False,
            env={"HOME": str(tmp_path)},
        )
        assert run.stdout.startswith("Packed " if arguments[1:] else "usage: "), run.stderr
        assert run.stderr == ""
    (unpacked / f"{LAB}-handin.zip").unlink()


def test_every_letter_that_the_labs_cite_is_explained(course, unpacked):
    page = (unpacked / "LECTURES.md").read_text("utf-8")
    explained = set(re.findall(r"^\| \*\*([A-Z])\*\* \|", page, re.MULTILINE))
    for lab in course.labs:
        text = course.source(lab).read_text("utf-8")
        cited = set(re.findall(r"[Ll]ectures? ([A-Z])\b", text))
        assert cited <= explained
        assert ("[LECTURES.md](LECTURES.md)" in text) == bool(cited)


def test_a_bundle_that_would_tell_is_not_made(course, released, monkeypatch):
    before = released.zip.read_bytes()
    source = course.source(LAB)
    text = source.read_text("utf-8")
    reference = load_lab(course, LAB)["softmax"].references[0]
    line = inspect.getsource(reference).rstrip().splitlines()[-1].strip()
    source.write_text(f"{text}\n# %% [markdown]\n# Psst: `{line}`\n", "utf-8")
    try:
        with pytest.raises(CourseError, match=r"holds a line of softmax: .* must not see that"):
            make_bundle(CourseLabs(course), LAB)
    finally:
        source.write_text(text, "utf-8")
    assert released.zip.read_bytes() == before


def test_the_exchange_gets_the_whole_bundle_when_asked(course, released, tmp_path):
    config = course.root / "nbgrader_config.py"
    text = config.read_text()
    config.write_text(f'{text}\nc.Exchange.root = "{tmp_path}"\n')
    try:
        publish(course, LAB)
        folder = tmp_path / "attention-labs" / "outbound" / LAB
        assert (folder / "lab01_softmax.ipynb").is_file()
        assert (folder / "attnlab" / "__init__.py").is_file()
        (folder / "lab01_softmax.ipynb").unlink()
        (folder / "of_the_first_publication.txt").touch()
        publish(course, LAB)
        assert (folder / "lab01_softmax.ipynb").is_file()
        assert not (folder / "of_the_first_publication.txt").exists()
    finally:
        config.write_text(text)
    with pytest.raises(CourseError, match="run `lab release lab00` first"):
        publish(course, "lab00")
