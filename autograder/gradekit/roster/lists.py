"""The lists of people that course systems export: which column says what.

Canvas's gradebook (lib/gradebook_exporter.rb of canvas-lms), Moodle's participants and grading
worksheet, Gradescope's roster and scores, GitHub Classroom's roster, and students.csv itself.
Tested in tests/gradekit/roster/test_merge.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gradekit.errors import RosterError
from gradekit.roster.csv_table import Row, Table
from gradekit.roster.moodle_words import LANGUAGES
from gradekit.roster.students import COLUMNS


@dataclass(frozen=True)
class ListFormat:
    """A kind of list.

    Attributes:
        name: for people.
        needs: groups of headings; of each, one must be there.
        headings: by field, the headings that may name it.
    """

    name: str
    needs: tuple[tuple[str, ...], ...]
    headings: Mapping[str, tuple[str, ...]]


# Moodle's in the languages of moodle_words.py, from the language packs' strings moodle: firstname,
# lastname, email, idnumber, username, groups. "Nom" is the last name in French, the first name in
# Catalan.
_FIRST = (
    "first name",
    "firstname",
    "vorname",
    "prénom",
    "nombre",
    "nome",
    "voornaam",
    "prenume",
    "förnamn",
    "имя",
    "nom",
)
_LAST = (
    "last name",
    "lastname",
    "surname",
    "nachname",
    "nom de famille",
    "apellido(s)",
    "cognoms",
    "cognome",
    "apelido",
    "achternaam",
    "nume de familie",
    "efternamn",
    "фамилия",
    "nom",
)
_EMAIL = (
    "email address",
    "email",
    "e-mail",
    "mail",
    *(word for words in LANGUAGES.values() for word in words.email),
)
_NUMBER = tuple(word for words in LANGUAGES.values() for word in words.sis_id)
_LOGIN = (
    "username",
    "anmeldename",
    "nom d'utilisateur",
    "nom d’utilisateur",
    "nombre de usuario",
    "nome de utilizador",
    "gebruikersnaam",
    "nume de utilizator",
    "användarnamn",
    "логин",
)
_GROUPS = (
    "groups",
    "gruppen",
    "groupes",
    "grupos",
    "grups",
    "gruppi",
    "groepen",
    "grupuri",
    "grupper",
    "группы",
)
_FULL = tuple(word for words in LANGUAGES.values() for word in words.name if word != "nome")
FORMATS = (
    ListFormat(
        "Canvas gradebook",
        (("student", "lastname"), ("id",), ("section",)),
        {
            "last_first": ("student",),
            "first": ("firstname",),
            "last": ("lastname",),
            "canvas_id": ("id",),
            "sis_id": ("sis user id",),
            "login": ("sis login id",),
            "section": ("section",),
        },
    ),
    ListFormat(
        "GitHub Classroom roster",
        (("github_username",),),
        {"login": ("identifier",), "name": ("name",), "github": ("github_username",)},
    ),
    ListFormat("students.csv", (("id",), ("name",)), {name: (name,) for name in COLUMNS}),
    ListFormat(
        "Gradescope roster",
        (("sid", "role"), ("email",)),
        {
            "first": _FIRST,
            "last": _LAST,
            "name": ("full name", "name"),
            "sis_id": ("sid",),
            "email": _EMAIL,
            "section": ("sections", "section", "section(s)"),
            "role": ("role",),
        },
    ),
    ListFormat(
        "Moodle participants",
        ((*_FIRST, *_FULL), _EMAIL),
        {
            "first": _FIRST,
            "last": _LAST,
            "name": _FULL,
            "email": _EMAIL,
            "sis_id": _NUMBER,
            "login": _LOGIN,
            "section": _GROUPS,
            "role": ("roles",),
        },
    ),
)


@dataclass(frozen=True)
class ListColumns:
    """A kind of list, and the column of each field in one table."""

    format: ListFormat
    columns: Mapping[str, str]

    def fields(self, row: Row) -> dict[str, str]:
        """The values of a row by field; `name` is put together if the list has its parts."""
        fields = {field: row.cells[column] for field, column in self.columns.items()}
        if "last_first" in fields:
            last, _, first = fields.pop("last_first").partition(",")
            fields.setdefault("name", f"{first.strip()} {last.strip()}".strip())
        parts = [fields.pop("first", ""), fields.pop("last", "")]
        if any(parts) and not fields.get("name"):
            fields["name"] = " ".join(part for part in parts if part)
        return fields


def columns_of(table: Table) -> ListColumns:
    """What the columns of a list say.

    Raises:
        RosterError: it is not a list that this program knows.
    """
    there = {name.casefold(): name for name in reversed(table.columns)}
    for kind in FORMATS:
        if all(any(heading in there for heading in group) for group in kind.needs):
            return ListColumns(kind, mapped(there, kind.headings))
    raise RosterError(
        f"{table.name}: the columns {', '.join(table.columns[:6])} are not those of Canvas, "
        "Moodle, Gradescope or GitHub Classroom; name two of them id and name"
    )


def mapped(there: Mapping[str, str], headings: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """The column of each field, by the first of its headings that is there."""
    return {
        field: there[heading]
        for field, names in headings.items()
        if (heading := next((name for name in names if name in there), None))
    }
