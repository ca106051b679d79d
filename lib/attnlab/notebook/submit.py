"""``submit()``, or ``python -m attnlab submit``: packs your hand-in and lists what it packed.

The zip contains the notebook, the small data files that your work made, and your own modules. It is
not sent anywhere: you give it to your course's system.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from attnlab.notebook.check import GRADING_VARIABLE, VALIDATING_VARIABLE
from attnlab.notebook.due import due_sentences
from attnlab.notebook.file import NotebookFile, SubmitError, cell_text, read_notebook
from attnlab.notebook.own_modules import own_modules
from attnlab.notebook.running import notebook_file, unsaved_names

DATA_SUFFIXES = (".safetensors", ".csv", ".json")
CAME_WITH_THE_LAB = ("checks.safetensors",)
MOST_BYTES = 20 * 2**20
_WIDTH = 92

__all__ = ["Packed", "PackedSubmission", "SubmitError", "pack_submission", "submit"]


@dataclass(frozen=True)
class Packed:
    """One file of a hand-in: its name and its size in bytes."""

    name: str
    size: int


@dataclass(frozen=True)
class PackedSubmission:
    """A hand-in that was packed.

    Attributes:
        lab: the lab's id.
        path: the zip.
        files: its files, the notebook first.
        left_out: data files that were too large.
        missing: files of weights that the lab's cells should have saved.
        saved: when the notebook was last saved.
        unwritten_steps: steps that still contain the task's placeholder.
        never_run: whether no cell of the saved notebook has a number or an output.
        not_python: cells that Python cannot read, each with the line and the reason.
        gone: steps whose cell is no longer in the notebook.
        unsaved: names whose cell was run in another form than the saved one.
        not_imported: imports of your own files that will not work in grading, in sentences.
        due: when it is due and how late it is, in sentences; empty if the notebook does not say.
    """

    lab: str
    path: Path
    files: tuple[Packed, ...]
    left_out: tuple[Packed, ...]
    missing: tuple[str, ...]
    saved: datetime
    unwritten_steps: tuple[str, ...]
    never_run: bool
    not_python: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    unsaved: tuple[str, ...] = ()
    not_imported: tuple[str, ...] = ()
    due: str = ""

    def summary(self) -> str:
        """Lines for the student: what was packed and which steps are not written yet."""
        width = max(len(file.name) for file in self.files)
        lines = [f"Packed {self.path}"]
        lines += [f"  {file.name:<{width}}  {_size(file.size)}" for file in self.files]
        lines.append(f"The notebook was last saved {self.saved:%A %d %B, %H:%M:%S}.")
        lines += [
            f"Left out {file.name}: {_size(file.size)} is more than {_size(MOST_BYTES)}."
            for file in self.left_out
        ]
        lines += self.not_imported
        if self.missing:
            names = ", ".join(self.missing)
            lines.append(
                f"Trained weights are missing ({names}): run the cells that train them, or grading "
                "must train them."
            )
        if self.never_run:
            lines.append("No cell of the saved notebook has been run: did you save after working?")
        if self.unsaved:
            names = ", ".join(self.unsaved)
            lines.append(
                f"NOT SAVED: you ran a version of {names} that is not in the saved notebook. Save "
                "the notebook, then run this again."
            )
        lines += [f"{sentence}." for sentence in self.not_python]
        lines += [
            f"The cell of {name} is gone: copy it from the lab's notebook, or it earns nothing."
            for name in self.gone
        ]
        if self.unwritten_steps:
            lines.append(f"Not written yet: {', '.join(self.unwritten_steps)}.")
        if self.due:
            lines.append(self.due)
        lines.append("Now give this file to your course's system.")
        return "\n".join(lines)

    def _ipython_display_(self) -> None:
        """Show nothing, because submit() has already printed the summary."""


def submit(folder: str | Path | None = None) -> PackedSubmission | None:
    """Pack the hand-in of the notebook in `folder`, and print what was packed.

    Args:
        folder: the notebook's folder, or the notebook itself; by default the running notebook, or
            else the current folder.

    Returns:
        The packed hand-in; None while the notebook is graded or validated, or runs as a script.

    Raises:
        SubmitError: there is no notebook, more than one, or an invalid one.
    """
    if any(os.environ.get(name) == "1" for name in (GRADING_VARIABLE, VALIDATING_VARIABLE)):
        return None
    caller = sys._getframe(1).f_globals
    try:
        packed = pack_submission(folder or notebook_file(caller) or ".")
    except SubmitError as error:
        # A lab's source runs as a script, too, without a notebook.
        if caller.get("__name__") != "__main__" or "__file__" not in caller:
            raise
        print(f"Nothing is packed. {error}")
        return None
    for line in packed.summary().splitlines():
        print(_wrapped(line))
    return packed


def pack_submission(folder: str | Path = ".") -> PackedSubmission:
    """Write ``<lab>-handin.zip`` next to the notebook in `folder`.

    Args:
        folder: the notebook's folder; or the notebook itself, if there are several.

    Raises:
        SubmitError: there is no notebook, more than one, or an invalid one.
    """
    notebook = read_notebook(_find_notebook(Path(folder)))
    home = notebook.path.parent
    lab = _lab_of(notebook)
    modules, not_imported = own_modules(map(cell_text, notebook.content["cells"]), home)
    others = [*_data_files(home), *modules]
    data = [Packed(path.name, path.stat().st_size) for path in others]
    kept = [file for file in data if file.size <= MOST_BYTES]
    files = [Packed(notebook.path.name, len(notebook.raw)), *kept]
    target = home / f"{lab}-handin.zip"
    _write_zip(target, home, notebook, kept)
    return PackedSubmission(
        lab=lab,
        path=target,
        files=tuple(files),
        left_out=tuple(file for file in data if file.size > MOST_BYTES),
        missing=tuple(name for name in _saves(notebook) if not (home / name).is_file()),
        saved=datetime.fromtimestamp(notebook.path.stat().st_mtime),
        unwritten_steps=notebook.unwritten_steps,
        never_run=notebook.never_run,
        not_python=notebook.not_python,
        gone=notebook.missing_steps,
        unsaved=unsaved_names(map(cell_text, notebook.content["cells"]), notebook.defined_names),
        not_imported=tuple(not_imported),
        due=due_sentences(notebook.about, datetime.now().astimezone()),
    )


def _find_notebook(folder: Path) -> Path:
    folder = folder.expanduser().absolute()
    if folder.is_file():
        return folder
    if not folder.is_dir():
        raise SubmitError(f"There is no folder {folder}: give the folder of your notebook.")
    found = sorted(path for path in folder.glob("*.ipynb") if path.is_file())
    if not found:
        raise SubmitError(
            f"There is no notebook in {folder}: go to the notebook's folder, or name the notebook."
        )
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise SubmitError(
            f"There are {len(found)} notebooks in {folder} ({names}): name yours, as in "
            f'submit("{found[0].name}") or python -m attnlab submit "{found[0].name}".'
        )
    return found[0]


def _lab_of(notebook: NotebookFile) -> str:
    for text in (notebook.about.get("lab"), notebook.path.stem.lower()):
        match = re.match(r"lab\d{1,4}(?!\d)", text) if isinstance(text, str) else None
        if match:
            return match[0]
    raise SubmitError(
        f"{notebook.path.name} does not say which lab it is: restore its original name, such as "
        "lab01_softmax.ipynb."
    )


def _saves(notebook: NotebookFile) -> list[str]:
    """The files of weights that the lab's cells save, according to its metadata."""
    names = notebook.about.get("saves")
    return [Path(str(name)).name for name in names] if isinstance(names, list) else []


def _data_files(folder: Path) -> Iterator[Path]:
    """The files next to the notebook that the student's work may have made."""
    for path in sorted(folder.iterdir()):
        hidden = path.name.startswith(".") or path.is_symlink()
        if hidden or not path.is_file() or path.suffix.lower() not in DATA_SUFFIXES:
            continue
        if not _is_text(path.name):
            raise SubmitError(
                f"The name of the file {path.name!a} is not valid text (UTF-8), so no zip can "
                "hold it: give the file another name."
            )
        if path.name not in CAME_WITH_THE_LAB:
            yield path


def _is_text(name: str) -> bool:
    """Whether a name can be written; a file may be named in bytes that are no letters."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _write_zip(target: Path, folder: Path, notebook: NotebookFile, data: list[Packed]) -> None:
    """Write the zip to a temporary file first, so a failure leaves an older one intact.

    Raises:
        SubmitError: it cannot be written, or a file cannot be read.
    """
    unfinished = target.with_suffix(".zip.part")
    try:
        # A file may have a date that a zip cannot hold, such as one of 1970.
        with zipfile.ZipFile(
            unfinished, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False
        ) as archive:
            # The bytes that were checked, even if the file has changed since.
            archive.writestr(notebook.path.name, notebook.raw)
            for file in data:
                archive.write(folder / file.name, file.name)
        unfinished.replace(target)
    except OSError as error:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
        what = Path(str(error.filename or target)).name
        raise SubmitError(
            f"{target.name} was not written ({what}: {error.strerror}). Please mend that, or move "
            "the file, and submit again."
        ) from error


def _wrapped(line: str) -> str:
    """A long sentence in lines that fit a notebook's output or a terminal; no path is broken."""
    width = min(_WIDTH, shutil.get_terminal_size((_WIDTH, 24)).columns)
    if len(line) <= width or line.startswith(("Packed ", "  ")):
        return line
    return textwrap.fill(
        line, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


def _size(size: int) -> str:
    for unit, name in ((2**20, "MB"), (2**10, "kB")):
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{size} bytes"


def main(arguments: list[str]) -> int:
    """Run ``python -m attnlab submit [FOLDER]`` and return the exit status."""
    options: list[Any] = [argument for argument in arguments if not argument.startswith("-")]
    if len(options) != len(arguments) or len(options) > 1:
        print("usage: python -m attnlab submit [FOLDER or NOTEBOOK]")
        return 2
    try:
        submit(*options)
    except SubmitError as error:
        print(error)
        return 1
    return 0
