"""The result of ``lab collect``: who, what, when, and what was not taken.

Tested in tests/gradekit/submissions/test_collect.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

from gradekit.submissions.stored import CollectState
from gradekit.submissions.times import HandInTime
from gradekit.wording import first_of, without_middle

_MOST_LISTED = 5  # with one reason, of one hand-in
_LONGEST_PATH = 200  # of characters; a zip may hold names of thousands


@dataclass(frozen=True)
class Taken:
    """One hand-in that is in ``submitted/`` now, or would be.

    Attributes:
        student: the id.
        file: the notebook in its source.
        origin: the source's name.
        state: whether it is new, newer than one that was there, or the same.
    """

    student: str
    name: str
    file: str
    time: HandInTime
    origin: str
    state: CollectState

    @property
    def when(self) -> datetime | None:
        """When it was handed in; None if that is unknown, and then it counts as on time."""
        return self.time.when


@dataclass(frozen=True)
class Refused:
    """A file or a hand-in that was not taken, and why.

    Attributes:
        name: whose it is, as far as the source tells; else empty.
        student: the id, if it is a student's; else empty.
    """

    file: str
    reason: str
    name: str = ""
    student: str = ""


@dataclass(frozen=True)
class Summary:
    """The result of one collection.

    Attributes:
        taken: one hand-in per student, by id.
        refused: the files and hand-ins that were not taken.
        notes: decisions made for a student or a source, one sentence each.
    """

    taken: tuple[Taken, ...] = ()
    refused: tuple[Refused, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def collected(self) -> tuple[Taken, ...]:
        """Hand-ins of students who had none."""
        return tuple(taken for taken in self.taken if taken.state == "new")

    @property
    def replaced(self) -> tuple[Taken, ...]:
        """Newer hand-ins of students who had one."""
        return tuple(taken for taken in self.taken if taken.state == "newer")

    @property
    def unchanged(self) -> tuple[str, ...]:
        """Students whose hand-in was there already."""
        return tuple(taken.student for taken in self.taken if taken.state in ("same", "dated"))

    def lines(self, dry_run: bool = False) -> list[str]:
        """The summary as lines of text, most important first."""
        counts = (
            f"{len(self.collected)} {'new' if dry_run else 'collected'}, {len(self.replaced)} "
            f"{'newer than those that are there' if dry_run else 'replaced by newer ones'}, "
            f"{len(self.unchanged)} there already, {len(self.refused)} not taken."
        )
        replaced = [] if dry_run else _replaced_lines(self.replaced)
        dated = sum(taken.state == "dated" for taken in self.taken)
        verb = "has" if dated == 1 else "have"
        times = [f"Of those there already, {dated} {verb} a new time."] if dated else []
        return [counts, *replaced, *times, *self.notes, *_refused_lines(self.refused)]

    def to_json(self) -> dict[str, list[dict[str, Any]]]:
        """For programs."""
        return {
            "taken": [
                {
                    "student": taken.student,
                    "name": taken.name,
                    "file": taken.file,
                    "when": taken.when.isoformat() if taken.when else None,
                    "how": taken.time.words,
                }
                for taken in self.taken
            ],
            "refused": [
                {
                    "student": refused.student or None,
                    "name": refused.name,
                    "file": refused.file,
                    "reason": refused.reason,
                }
                for refused in self.refused
            ],
        }


def shown_time(when: datetime | None) -> str:
    """A time for people, to the minute."""
    return f"{when:%Y-%m-%d %H:%M}" if when else "unknown time"


def _replaced_lines(replaced: Sequence[Taken]) -> list[str]:
    """Whose hand-in is another one now: one line each, or one for many."""
    if len(replaced) > _MOST_LISTED:
        names = first_of((taken.student for taken in replaced), _MOST_LISTED)
        return [f"Newer hand-ins replaced those of {names}."]
    return [
        f"{taken.student}: replaced by the one of {shown_time(taken.when)}" for taken in replaced
    ]


def _hand_in(refused: Refused) -> str:
    """A source and a folder in it; or a student and an archive."""
    return refused.student or "/".join(PurePosixPath(refused.file).parts[:2])


def _refused_lines(refused: Iterable[Refused]) -> list[str]:
    """One line for each refused file, or for all of one hand-in with the same reason.

    What many known students handed in besides, such as other labs' notebooks, is one line, too, and
    so are many files of no person. A person who is not taken has a line in any case.
    """
    listed = list(refused)
    common = Counter(reason for reason, _ in {(one.reason, _hand_in(one)) for one in listed})
    groups: dict[tuple[str, str], list[Refused]] = {}
    for one in listed:
        not_a_person = one.student or not one.name
        hand_in = "" if not_a_person and common[one.reason] > _MOST_LISTED else _hand_in(one)
        groups.setdefault((hand_in, one.reason), []).append(one)
    lines = []
    for (_, reason), group in groups.items():
        more = len(group) - 1
        shown = [without_middle(one.file, _LONGEST_PATH) for one in group]
        if len(group) > _MOST_LISTED:
            shown = [f"{shown[0]} and {more} more"]
        lines += [f"{file}: {reason}" for file in shown]
    return lines
