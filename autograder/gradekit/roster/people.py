"""Who is it? From what a course system says about a person to a student of the roster.

A number or an address decides before a login, and a login before a name. A name counts only if it
is that of exactly one student, whatever the order, the accents and the signs in it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property

from gradekit.roster.students import FILE_NAME, Roster, Student

_KEYS = ("canvas_id", "sis_id", "email", "github")
_MOST_CLOSE = 3
# Looking for similar names takes about 25 ms a person, and a zip may hold thousands of folders.
_MOST_SUGGESTIONS = 200
# Course systems write names into file names in ASCII, German ones with two letters for an umlaut.
_TWO_LETTERS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa"})
_ONE_LETTER = str.maketrans({"ø": "o", "æ": "ae", "œ": "oe", "đ": "d", "ł": "l", "ı": "i"})


@dataclass(frozen=True)
class Person:
    """What a source says about a person; what it does not say is empty.

    Attributes:
        shown: for messages, as the source writes it.
        logins: each may be a student's id, login or GitHub name; the first that is one counts.
        names: each may be a full name, in any order of its parts.
        new_id: the id if this person is not in the roster and is admitted nevertheless.
        nameless: why the source cannot tell who it is, if it was told to hide the names.
        guesses: each a text and letters; the text may be a login, too, if the student's name has
            these letters in this order.
        logins_with_names: each a login and a full name; a student who has both counts.
    """

    shown: str
    logins: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    canvas_id: str = ""
    sis_id: str = ""
    email: str = ""
    github: str = ""
    new_id: str = ""
    nameless: str = ""
    guesses: tuple[tuple[str, str], ...] = ()
    logins_with_names: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Unknown:
    """No student was found.

    Attributes:
        reason: for the person who collects.
        is_new: whether it may be somebody who is not in the roster, rather than one of several.
    """

    reason: str
    is_new: bool = False


@dataclass(frozen=True)
class Directory:
    """Finds students of a roster."""

    roster: Roster
    _suggested_for: set[Person] = field(default_factory=set, repr=False, compare=False)

    def find(self, person: Person) -> Student | Unknown:
        """The student who `person` is, or why that cannot be said."""
        by_key = {
            student.id: student
            for key in _KEYS
            if (student := self._unique[key].get(getattr(person, key).casefold()))
        }
        if len(by_key) > 1:
            both = " and ".join(by_key)
            return Unknown(f"its numbers are those of {both}; correct {FILE_NAME}")
        if by_key:
            return next(iter(by_key.values()))
        if found := self.by_login(person.logins):
            return found
        for login, letters in person.guesses:
            if (found := self.by_login([login])) and _has_letters(found, letters):
                return found
        named = {
            student.id: student
            for name in person.names
            for student in self._names.get(squeezed(name), ())
            if not _contradicts(person, student)
        }
        if len(named) == 1:
            return next(iter(named.values()))
        if named:
            return Unknown(f"{len(named)} students are called so: {', '.join(named)}")
        for login, name in person.logins_with_names:
            if (found := self.by_login([login])) and self.is_called(found, name):
                return found
        reason = person.nameless or f"not in {FILE_NAME}{self._closest(person)}"
        return Unknown(reason, is_new=True)

    def by_login(self, logins: Iterable[str]) -> Student | None:
        """The student with the first of `logins` that is an id, a number, an address or a login.

        Canvas's numbers are left out: a folder's number is rather the university's.
        """
        keys = (self._unique[key] for key in _KEYS if key != "canvas_id")
        tables = (self._ids, *keys, self._local_parts)
        for login in map(str.casefold, logins):
            for table in tables:
                if login and (student := table.get(login)):
                    return student
        return None

    def knows(self, text: str) -> bool:
        """Whether a folder of this name is a student's."""
        return bool(self.by_login([text]) or len(self._names.get(squeezed(text), ())) == 1)

    def knows_canvas_id(self, number: str) -> bool:
        """Whether this is a student's number in Canvas."""
        return number in self._unique["canvas_id"]

    def is_called(self, student: Student, name: str) -> bool:
        """Whether a student of the roster has this name, even if others have it, too."""
        return student.id in {one.id for one in self._names.get(squeezed(name), ())}

    @cached_property
    def _ids(self) -> Mapping[str, Student]:
        return {student.id.casefold(): student for student in self.roster}

    @cached_property
    def _unique(self) -> Mapping[str, Mapping[str, Student]]:
        return {
            key: {
                value.casefold(): student
                for student in self.roster
                if (value := getattr(student, key))
            }
            for key in _KEYS
        }

    @cached_property
    def _local_parts(self) -> Mapping[str, Student]:
        """By the part of the address before @, where no two students share it."""
        return _only_ones(
            (student.email.casefold().partition("@")[0], student)
            for student in self.roster
            if "@" in student.email
        )

    @cached_property
    def _names(self) -> Mapping[str, tuple[Student, ...]]:
        found: dict[str, dict[str, Student]] = {}
        for student in self.roster:
            for name in (student.name, student.moodle_name):
                for form in _forms(name):
                    found.setdefault(form, {})[student.id] = student
        return {form: tuple(students.values()) for form, students in found.items()}

    def _closest(self, person: Person) -> str:
        if len(self._suggested_for) >= _MOST_SUGGESTIONS and person not in self._suggested_for:
            return ""
        self._suggested_for.add(person)
        texts = {text for text in (*person.names, *person.logins, person.email) if text}
        known = {**{form: s for form, (s, *_) in self._names.items()}, **self._ids}
        close: dict[str, Student] = {}
        for text in sorted(texts):
            for form in get_close_matches(squeezed(text), known, n=_MOST_CLOSE, cutoff=0.7):
                close[known[form].id] = known[form]
        shown = [f"{student.name} ({student.id})" for student in close.values()][:_MOST_CLOSE]
        return f"; closest: {', '.join(shown)}" if shown else ""


def _contradicts(person: Person, student: Student) -> bool:
    """Whether both have a number of the same kind, and the numbers differ.

    Addresses may: many people have two.
    """
    return any(
        (said := getattr(person, key)) and (known := getattr(student, key)) and said != known
        for key in ("canvas_id", "sis_id", "github")
    )


def _has_letters(student: Student, letters: str) -> bool:
    """Whether a student's name has `letters` in this order, perhaps with others between them."""
    for form in _forms(student.name):
        rest = iter(form)
        if all(letter in rest for letter in letters):
            return True
    return False


def _only_ones(pairs: Iterable[tuple[str, Student]]) -> dict[str, Student]:
    found: dict[str, list[Student]] = {}
    for key, student in pairs:
        found.setdefault(key, []).append(student)
    return {key: students[0] for key, students in found.items() if len(students) == 1}


def squeezed(name: str) -> str:
    """A name as its letters and digits alone, without case and accents."""
    parts = unicodedata.normalize("NFKD", name.casefold().translate(_ONE_LETTER))
    return "".join(letter for letter in parts if letter.isalnum())


def _forms(name: str) -> Iterator[str]:
    """All ways to write a name: any part first, umlauts as one letter or two."""
    plain: Callable[[str], str] = squeezed
    for spelled in (name, unicodedata.normalize("NFC", name).casefold().translate(_TWO_LETTERS)):
        parts = [plain(part) for part in re.split(r"[\s,]+", spelled) if part]
        for first in range(len(parts)):
            if form := "".join(parts[first:] + parts[:first]):
                yield form
