"""A student who has nothing but a lab's bundle can do that lab, having missed all before it."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from demo.course_folder import copy_course
from gradekit.build import bundle as bundles
from gradekit.build.bundle import make_bundle
from gradekit.build.disclosure import disclosures
from gradekit.course import Course, load_course
from gradekit.errors import CourseError
from gradekit.exercise.loader import CourseLabs
from tests.helpers.our_labs import CLINIC, OUR_LABS

# One lab that builds on two before it, for every run; the others for the long one.
LABS = [
    pytest.param(lab, marks=() if lab == "lab04" else pytest.mark.slow)
    for lab in OUR_LABS
    if lab not in {"lab00", "lab01"}
]

# The solved notebook's code, on the student's edition and with no way to this project: what the
# visible checks come to.
RUN = """
import json, socket, sys, types
bundle, packages, notebook = sys.argv[1:]
sys.path[:] = [bundle, *[p for p in sys.path if "site-packages" not in p], packages]

def offline(*args, **kwargs):
    raise OSError("no network here")

socket.socket.connect = socket.create_connection = socket.getaddrinfo = offline
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance()
earned = {}
for cell in json.load(open(notebook))["cells"]:
    if cell["cell_type"] != "code":
        continue
    source = "".join(cell["source"]).partition("### BEGIN HIDDEN TESTS")[0]
    result = shell.run_cell(source)
    result.raise_error()
    if cell["id"].startswith("check_"):
        earned[cell["id"].removeprefix("check_")] = float(result.result)
import attnlab
assert attnlab.__file__.startswith(bundle), attnlab.__file__
assert not [name for name in sys.modules if name.startswith("gradekit")]
print()  # IPython may have begun a line
print(json.dumps(earned))
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    return load_course(copy_course(tmp_path_factory.mktemp("bundles") / "course"))


@pytest.fixture(scope="module")
def labs(course: Course) -> CourseLabs:
    return CourseLabs(course)


@pytest.fixture(autouse=True)
def built_already(monkeypatch: pytest.MonkeyPatch) -> None:
    """Building again would make the same files: test_committed.py compares them."""
    monkeypatch.setattr(bundles, "build_labs", lambda labs, names: [])


@pytest.mark.parametrize("lab", OUR_LABS)
def test_every_lab_can_be_released(lab: str, labs: CourseLabs) -> None:
    """What students must not see is in no bundle: none would be made."""
    assert make_bundle(labs, lab).zip.is_file()


def test_a_line_of_a_fix_would_be_found_in_the_clinics_bundle(
    labs: CourseLabs, tmp_path: Path
) -> None:
    fixed = "v.mul_(beta2).addcmul_(p.grad, p.grad, value=1 - beta2)"
    broken = fixed.replace("1 - beta2)", "1 - beta1)")
    (tmp_path / "notes.md").write_text(broken)
    assert disclosures(labs, CLINIC, tmp_path) == []
    (tmp_path / "notes.md").write_text(fixed)
    assert disclosures(labs, CLINIC, tmp_path) == [
        f"notes.md holds a line of the right Adam: {fixed}"
    ]


@pytest.mark.parametrize("lab", LABS)
def test_the_lab_can_be_done_with_its_bundle_alone(
    lab: str, course: Course, labs: CourseLabs, tmp_path: Path
) -> None:
    bundle = make_bundle(labs, lab).folder
    exercises = labs[lab].exercises
    for exercise in exercises:
        for path in exercise.saved_paths:  # training takes a minute; that is tested elsewhere
            (bundle / path.name).write_bytes(path.read_bytes())
    (notebook,) = (course.root / "solutions" / lab).glob("*.ipynb")
    run = subprocess.run(
        # -S: no .pth file, so that this project's own installation is out of reach.
        [sys.executable, "-S", "-c", RUN, str(bundle), sysconfig.get_path("purelib"),
         str(notebook)],
        cwd=bundle, capture_output=True, text=True, check=False,
        env={"HOME": str(tmp_path), "MPLBACKEND": "agg", "PATH": "", "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
    assert json.loads(run.stdout.splitlines()[-1]) == {
        exercise.name: round(sum(one.points for one in exercise.checks if not one.hidden), 2)
        for exercise in exercises
    }


def test_an_earlier_answer_is_not_given_away_before_it_is_due(
    course: Course, tmp_path: Path
) -> None:
    late = load_course(copy_course(tmp_path / "course"))
    path = late.root / "course.toml"
    text = path.read_text("utf-8")
    due = next(line for line in text.partition('id = "lab03"')[2].splitlines() if "due" in line)
    path.write_text(text.replace(due, "due = 2027-10-04T23:59:00"), "utf-8")
    with pytest.raises(CourseError, match=r"needs \w+ of lab03, which can earn points until"):
        make_bundle(CourseLabs(load_course(late.root)), "lab04")
