"""What a student's folder discloses: lines of blanked references, of fixes, hidden checks.

A line of an answer counts if it is long enough to mean something and the library does not contain
it elsewhere. It is searched for in every text of the folder, as written and as Python prints it, in
the cells of notebooks, and in the probes of checks files. Tested in
tests/gradekit/build/test_student_library.py and test_bundle.py.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from attnlab.checking import visible
from attnlab.checking.observation import ObservationError, unpack
from gradekit.build.blanks import Definition, definitions, extent, mark, without_marks
from gradekit.build.library_files import library_files
from gradekit.build.student_library import blank_references, module_file
from gradekit.exercise.definition import Check
from gradekit.exercise.edits import source_text
from gradekit.exercise.loader import CourseLabs

SHORTEST = 16


def disclosures(labs: CourseLabs, lab: str, folder: Path) -> list[str]:
    """A sentence for each thing in `folder` that students of `lab` must not see."""
    lines, said = _blanked(labs, lab)
    forbidden = {
        **_unsaid(lines, said),
        **_unsaid(_fixes(labs, lab), said),
        **_hidden_checks(labs, lab, said),
    }
    found = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        texts = "\n".join(_texts(path))
        found += [
            f"{path.relative_to(folder)} holds {what}: {line}"
            for line, what in forbidden.items()
            if line in texts
        ]
    return found


def answer_lines(labs: CourseLabs, lab: str) -> dict[str, str]:
    """Telling lines of the references that are blank in `lab`, each with its reference."""
    return _unsaid(*_blanked(labs, lab))


def _unsaid(lines: dict[str, str], said: str) -> dict[str, str]:
    """The lines that `said` does not contain anyway."""
    return {line: whose for line, whose in lines.items() if line not in said}


def _fixes(labs: CourseLabs, lab: str) -> dict[str, str]:
    """The telling lines of right programs that the programs given to students do not have."""
    lines: dict[str, str] = {}
    for exercise in labs[lab].exercises:
        for reference in exercise.references if exercise.given else ():
            given = "\n".join(_both_ways(exercise.given))
            right = "\n".join(_both_ways(source_text(reference))).splitlines()
            telling = (line.split("  #")[0].strip() for line in right)
            whose = f"a line of the right {reference.__name__}"
            lines |= {
                line: whose for line in telling if len(line) >= SHORTEST and line not in given
            }
    return lines


def _hidden_checks(labs: CourseLabs, lab: str, said: str) -> dict[str, str]:
    """Names and telling lines of the hidden checks of `lab`, each with its check.

    Their titles are not secret: ``check()`` lists them.
    """
    names: dict[str, str] = {}
    lines: dict[str, str] = {}
    open_names: set[str] = set()
    shown = [said]
    for exercise in labs[lab].exercises:
        for check in exercise.checks:
            shown.append(check.title)
            name = f"def {check.name}(lab"
            if check.hidden:
                whose = f"the hidden check {check.name} of {exercise.name}"
                names[name] = whose
                lines |= dict.fromkeys(_probe_lines(check), whose)
            else:
                open_names.add(name)
                # With the helpers that it uses: hidden checks may use the same.
                shown += _both_ways(check.source)
    secret = {name: whose for name, whose in names.items() if name not in open_names}
    return {**secret, **_unsaid(lines, "\n".join(shown))}


def _blanked(labs: CourseLabs, lab: str) -> tuple[dict[str, str], str]:
    """The telling lines that `lab` blanks, by reference, and the rest of the library's text."""
    blank: dict[Path, set[str]] = {}
    for module, name in blank_references(labs, lab):
        blank.setdefault(module_file(module), set()).add(name)
    lines: dict[str, str] = {}
    elsewhere: list[str] = []
    for path, _ in library_files():
        text = path.read_text("utf-8", errors="replace")
        if path not in blank:
            elsewhere += _both_ways(text)
            continue
        kept = text.splitlines()
        for node in definitions(text)[::-1]:
            if node.name in blank[path]:
                start, stop = extent(node, kept)
                answer, rest = _split(node, "\n".join(kept[start:stop]))
                kept[start:stop] = rest
                lines.update(dict.fromkeys(answer, f"a line of {node.name}"))
        elsewhere.append("\n".join(kept))
    return lines, "\n".join(elsewhere)


def _probe_lines(check: Check) -> list[str]:
    (node,) = ast.parse(source_text(check.probe)).body
    assert isinstance(node, Definition)
    printed = "\n".join(ast.unparse(statement) for statement in _statements(node))
    lines = [line.strip() for line in printed.splitlines()]
    return [line for line in lines if len(line) >= SHORTEST]


def _split(node: Definition, definition: str) -> tuple[set[str], list[str]]:
    """The telling lines of a definition's answer, and the lines that students get."""
    answer: list[str] = []
    kept: list[str] = []
    inside = False
    for line in mark(definition).splitlines():
        if "BEGIN SOLUTION" in line or "END SOLUTION" in line:
            inside = not inside
        else:
            (answer if inside else kept).append(line)
    printed = "\n".join(ast.unparse(item) for item in _statements(node)).splitlines()
    said = "\n".join([*kept, *(_both_ways("\n".join(kept)))])
    telling = {line.split("  #")[0].strip() for line in (*without_marks(answer), *printed)}
    return {line for line in telling if len(line) >= SHORTEST and line not in said}, kept


def _statements(node: Definition) -> list[ast.stmt]:
    """The statements of a body without its docstring."""
    return node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body


def _texts(path: Path) -> Iterator[str]:
    """The texts in a file, whatever its format."""
    data = path.read_bytes()
    if path.name == visible.FILE_NAME:
        try:
            yield from _strings(unpack(data, visible.LIMITS))
        except ObservationError:
            yield data.decode("utf-8", errors="replace")
        return
    text = data.decode("utf-8", errors="replace")
    if path.suffix == ".ipynb":
        for cell in json.loads(text)["cells"]:
            yield from _both_ways("".join(cell["source"]))
    yield from _both_ways(text)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


@lru_cache(maxsize=1024)  # the bundles of all labs hold nearly the same library
def _both_ways(text: str) -> tuple[str, ...]:
    """A text as it is and, if it is Python, as Python prints it."""
    try:
        return text, ast.unparse(ast.parse(text))
    except (SyntaxError, ValueError):
        return (text,)
