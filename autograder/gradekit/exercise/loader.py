"""Finds a lab's exercises: imports their modules, in the order of the lab's source."""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from torch.optim import Optimizer

from gradekit.course import Course
from gradekit.errors import CourseError, ExerciseError
from gradekit.exercise.authoring_errors import file_name, in_one_sentence, undefined_names
from gradekit.exercise.clinic import CASE_PARTS, Case, case_name, exercise_names, module_name
from gradekit.exercise.clinic_cells import with_cases
from gradekit.exercise.definition import PARTS, Exercise
from gradekit.exercise.solution_names import solution_names
from gradekit.exercise.source import Source, read_source
from gradekit.python_names import names_bound_by

# The exercise that a course may leave out: it is about lectures of others.
ERRATA = "errata"


@dataclass(frozen=True)
class LabExercises:
    """A lab's exercises.

    Attributes:
        exercises: in the order in which the lab's source checks them.
        reference: the right answers of the whole lab, by name.
        source: the text that its notebooks are built from.
        left_out: exercises that the course does not have, although their files are there.
    """

    lab: str
    exercises: tuple[Exercise, ...]
    reference: Mapping[str, Any]
    source: Source
    left_out: tuple[Exercise, ...] = ()

    def __getitem__(self, name: str) -> Exercise:
        for exercise in self.exercises:
            if exercise.name == name:
                return exercise
        raise KeyError(name)

    @property
    def points(self) -> float:
        """The points of all checks; those of a free-text question are not included."""
        return sum(exercise.points for exercise in self.exercises)

    @property
    def trains(self) -> bool:
        """Whether a submission makes optimisers: it saves trained weights, or builds one itself."""
        references = (reference for exercise in self.exercises for reference in exercise.references)
        return any(exercise.saves for exercise in self.exercises) or any(
            isinstance(reference, type) and issubclass(reference, Optimizer)
            for reference in references
        )


class CourseLabs:
    """The labs of a course, each loaded once in a command.

    Attributes:
        course: whose labs these are.
    """

    def __init__(self, course: Course) -> None:
        self.course = course
        self._loaded: dict[str, LabExercises] = {}
        self._references: dict[str, tuple[Any, ...]] = {}

    def __getitem__(self, lab: str) -> LabExercises:
        """The exercises of `lab`; raises like :func:`load_lab`."""
        if lab not in self._loaded:
            self._loaded[lab] = load_lab(self.course, lab)
        return self._loaded[lab]

    def references(self, lab: str) -> tuple[Any, ...]:
        """The functions and classes of the library that are right answers of `lab`.

        To grade one lab takes those of all labs, so the mistakes of the other labs are not made.

        Raises:
            ExerciseError: a file contradicts itself.
        """
        if lab not in self._references:
            loaded = self._loaded.get(lab)
            exercises = loaded.exercises if loaded else _declared_exercises(self.course, lab)
            self._references[lab] = tuple(
                reference
                for exercise in exercises
                if not exercise.given  # a program to change is in the exercise's file
                for reference in exercise.references
            )
        return self._references[lab]


def load_lab(course: Course, lab: str) -> LabExercises:
    """Import the exercise files of `lab`.

    Raises:
        CourseError: the source contradicts itself, checks an exercise without a file, or does not
            check one that has a file.
        ExerciseError: a file contradicts itself.
    """
    source = read_source(course.source(lab))
    files, unused = exercise_files(course.exercises(lab)), dict[str, Path]()
    cases = {path: _case(lab, path) for path in sorted(set(files.values())) if case_name(path)}
    source = with_cases(source, list(cases.values()), lab)
    if not course.values.course.errata:
        source = source.without(ERRATA)
        unused = {ERRATA: files.pop(ERRATA)} if ERRATA in files else {}
    checked = source.of("check")
    for cell in checked:
        if cell.name not in files:
            raise CourseError(
                f"{source.place(cell)} checks {cell.name!r}, but autograder/exercises/{lab} has no "
                f"{cell.name}.py and no folder {cell.name}/"
            )
    order = [cell.name for cell in checked]
    for name in sorted(set(files) - set(order)):
        raise CourseError(
            f"autograder/exercises/{lab}/{_shown(files[name])}: no cell of "
            f'solutions/{source.path.name} is check("{name}"); add one or remove the file'
        )
    course.check_exercise_limits(lab, order)
    exercises = tuple(
        _of_case(cases[files[name]], lab, name, files[name])
        if files[name] in cases
        else _load(lab, name, files[name])
        for name in order
    )
    _forbid_peeking(exercises)
    left_out = tuple(_load(lab, name, path) for name, path in unused.items())
    return LabExercises(lab, exercises, solution_names(exercises, source), source, left_out)


def _declared_exercises(course: Course, lab: str) -> list[Exercise]:
    """A lab's exercises without their mistakes, and without a clinic's cases."""
    files = exercise_files(course.exercises(lab))
    return [_declared(lab, name, path) for name, path in files.items() if not case_name(path)]


def exercise_files(folder: Path) -> dict[str, Path]:
    """A lab's exercise modules by name: ``softmax.py``, or ``softmax/__init__.py``.

    ``case1_leak.py`` holds two, ``find_leak`` and ``fix_leak``.
    """
    paths = [*sorted(folder.glob("[a-z]*.py")), *sorted(folder.glob("[a-z]*/__init__.py"))]
    return {
        name: path
        for path in paths
        for name in (exercise_names(case_name(path)) if case_name(path) else (module_name(path),))
    }


def _forbid_peeking(exercises: tuple[Exercise, ...]) -> None:
    """A reference enters the sandbox only after every probe of it has been answered."""
    asked: set[str] = set()
    ours = {name for exercise in exercises for name in exercise.names}
    for exercise in exercises:
        for function in (*exercise.uses, *exercise.tested):
            if function.__name__ in ours - asked:
                raise ExerciseError(
                    f"{exercise.lab}/{exercise.name}.py uses {function.__name__}, which is asked "
                    "about only later; use what earlier exercises build"
                )
        asked.update(exercise.names)


def _load(lab: str, name: str, path: Path) -> Exercise:
    exercise = _declared(lab, name, path)
    with _one_sentence(_module_name(lab, name), path, "exercise"):
        _import_parts(lab, path, PARTS)
    _refuse_files_left_out(exercise)
    if not exercise.checks:
        raise ExerciseError(
            f"{file_name(path)}, line 1: no check in it; add one with @exercise.check(points=…)"
        )
    _refuse_contradictions(exercise)
    return exercise


def _refuse_files_left_out(exercise: Exercise) -> None:
    """Refuse a file of the exercise's folder that no other file imports.

    Raises:
        ExerciseError: there is one; the mistakes in it would silently not be known.
    """
    own = exercise.path
    beside = [file for file in exercise.files if file.parent == own.parent and file != own]
    for file in beside if own.name == "__init__.py" else ():
        if f"{_module_name(exercise.lab, exercise.name)}.{file.stem}" not in sys.modules:
            raise ExerciseError(
                f"{file_name(file)}: no other file of its folder imports it, so nothing in it "
                "counts; import it in mistakes.py, for example, or remove it"
            )


def _declared(lab: str, name: str, path: Path) -> Exercise:
    """Import an exercise's own file; the other files of its folder are not imported yet."""
    with _one_sentence(_module_name(lab, name), path, "exercise"):
        module = _import(_module_name(lab, name), path)
        exercise = getattr(module, "exercise", None)
        if not isinstance(exercise, Exercise):
            raise ExerciseError("no `exercise = Exercise(…)` in it; add that line")
    exercise.lab, exercise.name, exercise.path = lab, name, path
    exercise.title = (module.__doc__ or name).strip().splitlines()[0].rstrip(".")
    return exercise


def _module_name(lab: str, name: str) -> str:
    """What the module of an exercise or of a case is called in this process."""
    return f"gradekit_exercises.{lab}.{name}"


def _case(lab: str, path: Path) -> Case:
    """Import a case of the bug clinic."""
    name = _module_name(lab, module_name(path))
    with _one_sentence(name, path, "case"):
        module = _import(name, path)
        case = getattr(module, "case", None)
        if not isinstance(case, Case):
            raise ExerciseError("no `case = Case(…)` in it; add that line")
        _import_parts(lab, path, CASE_PARTS)
        case.complete(case_name(path))
    return case


@contextmanager
def _one_sentence(module: str, path: Path, called: str) -> Iterator[None]:
    """Turns errors of importing `module` into one sentence, and refuses other names than `called`.

    The texts of checks and versions are taken without the decorators that begin with this name.
    """
    try:
        yield
    except Exception as error:
        _refuse_other_names(module, called)
        raise in_one_sentence(error, path) from error
    _refuse_other_names(module, called)


def _refuse_other_names(module: str, called: str) -> None:
    """Refuse an exercise or a case that a file calls by another name than `called`."""
    for name, imported in list(sys.modules.items()):
        if f"{name}.".startswith(f"{module}."):
            for bound, value in vars(imported).items():
                if isinstance(value, Exercise | Case) and bound != called:
                    file = Path(imported.__file__ or "")
                    line = next(
                        statement.lineno
                        for statement in ast.parse(file.read_text("utf-8")).body
                        if bound in names_bound_by(statement)
                    )
                    raise ExerciseError(
                        f"{file_name(file)}, line {line}: rename {bound} to `{called}`; this "
                        "variable must have that name in every file"
                    )


def _of_case(case: Case, lab: str, name: str, path: Path) -> Exercise:
    """One of the two exercises of a case."""
    find, _ = exercise_names(case.name)
    exercise, does = (case.find, "the test") if name == find else (case.fix, "the fix")
    exercise.lab, exercise.name, exercise.path = lab, name, path
    exercise.title = f"{case.title}: {does}"
    _refuse_contradictions(exercise)
    return exercise


def _import_parts(lab: str, path: Path, parts: Sequence[str]) -> None:
    """Import those of the named files that are in an exercise's folder, if it is one."""
    if path.name == "__init__.py":
        for part in parts:
            if (path.parent / f"{part}.py").is_file():
                importlib.import_module(f"{_module_name(lab, module_name(path))}.{part}")


def _refuse_contradictions(exercise: Exercise) -> None:
    """Refuse what no check could ever judge.

    Raises:
        ExerciseError: a graded exercise has a check without points, or a check or right version
            uses a name that its file does not have.
    """
    for check in exercise.checks:
        if exercise.points and not check.points:
            raise ExerciseError(
                f"{check.place}: check {check.name} has points=0 in a graded exercise; give it "
                "points, or give none to all checks of a step without points"
            )
    parts = [(check.place, "check", check.name, check.probe) for check in exercise.checks]
    parts += [(v.place, "right version", v.name, v.function) for v in exercise.right_versions]
    for place, kind, name, function in parts:
        for missing in undefined_names(function):
            raise ExerciseError(
                f"{place}: {kind} {name} uses {missing}, which the file does not have; import it "
                "or correct the name"
            )


def _import(name: str, path: Path) -> ModuleType:
    """Import an exercise module, again if it was imported before."""
    parts = f"{name}."
    for old in [known for known in sys.modules if known == name or known.startswith(parts)]:
        del sys.modules[old]
    package, lab, _ = name.split(".")
    for parent in (
        package,
        f"{package}.{lab}",
    ):  # Python imports them when files of a folder import each other
        sys.modules.setdefault(parent, ModuleType(parent)).__path__ = []
    is_folder = path.name == "__init__.py"
    spec = importlib.util.spec_from_file_location(
        name, path, submodule_search_locations=[str(path.parent)] if is_folder else None
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _shown(path: Path) -> str:
    """An exercise module's file below its lab's folder."""
    return f"{path.parent.name}/{path.name}" if path.name == "__init__.py" else path.name
