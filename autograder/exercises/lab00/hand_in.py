"""hand_in: a practice run of handing in."""

from __future__ import annotations

from pathlib import PurePath

from gradekit.exercise import Exercise

exercise = Exercise(answers=["packed"])


@exercise.check(points=1)
def name_of_the_zip(lab, draw):
    """`packed` is the name of the file that was packed."""
    name = PurePath(str(lab.packed).strip().replace("\\", "/")).name
    return {"ends in .zip": name.endswith(".zip"), "name": name.lower()}


@exercise.mistake(
    "You gave the name of the notebook itself. Save it, run the command in a terminal, and read "
    "its first line: which file did it pack?"
)
def the_notebook():
    return {"packed": "lab00_setup.ipynb"}


@exercise.mistake("Your name has no ending. Which kind of file is it?")
def no_ending():
    return {"packed": "lab00-handin"}


@exercise.mistake(
    "You gave the name of another lab's zip. In which folder did you run the command?"
)
def another_lab():
    return {"packed": "lab01-handin.zip"}


@exercise.also_right
def whole_path():
    return {"packed": "/home/ada/labs/lab00/lab00-handin.zip"}


@exercise.also_right
def path_on_windows():
    return {"packed": " C:\\Users\\ada\\lab00\\lab00-handin.zip"}
