"""Finds or admits the student whom a path names.

Tested in tests/gradekit/submissions/test_who_and_when.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gradekit.errors import RefusedError
from gradekit.roster.people import Directory, Person
from gradekit.roster.students import FILE_NAME, Student, safe_id

_NO_NAME = "its path does not name the student; put it into a folder with the student's name"


@dataclass
class StudentFinder:
    """Decides which student a person is: one of the roster, or a new one.

    Attributes:
        admit_new: whether people who are not in the roster are taken, too; without a roster,
            everyone is new.
    """

    directory: Directory
    admit_new: bool = False
    _found: dict[Person, Student | str] = field(default_factory=dict)
    # By id in small letters, because some disks do not tell them from large ones: the name of the
    # first person.
    _new: dict[str, str] = field(default_factory=dict)

    def student(self, person: Person) -> Student:
        """The student who this person is. Raises RefusedError."""
        if person not in self._found:
            self._found[person] = self._decide(person)
        found = self._found[person]
        if isinstance(found, str):
            raise RefusedError(found)
        return found

    def _decide(self, person: Person) -> Student | str:
        roster = self.directory.roster
        found = self.directory.find(person)
        if isinstance(found, Student):
            return found
        if roster and not (found.is_new and self.admit_new):
            return found.reason
        name = person.new_id or person.shown
        made = safe_id(name)
        if not made:
            return _NO_NAME
        if any(made.casefold() == student.id.casefold() for student in roster):
            return f"it would become {made}, who is another student in {FILE_NAME}"
        first = self._new.setdefault(made.casefold(), name.strip())
        if first != name.strip():
            return f"{first!r} and {name.strip()!r} would both become {made}; rename one"
        return Student(made, person.shown.strip() or made)
