"""Who is it? Numbers before logins before names, and nobody rather than the wrong one."""

from __future__ import annotations

import pytest

from gradekit.roster.people import Directory, Person, Unknown
from gradekit.roster.students import Roster, Student

ADA = Student("ada", "Ada Lovelace", "ada.l@uni.example", "1001", "15-001", github="Ada-L")
ZOE = Student("zo", "Zoë O'Neil-Müller", "zoe@uni.example", "1002", "15-002", "Zoe O.", "zo")
JAN = Student("15-003", "Jan van der Berg", "jan@a.example")
ELSE = Student("else", "Jan Else", "jan@b.example")
BOTH = (Student("jo1", "Jo Li"), Student("jo2", "Jo Li"))
PEOPLE = Directory(Roster((ADA, ZOE, JAN, ELSE, *BOTH)))


@pytest.mark.parametrize(
    ("person", "student"),
    [
        (Person("x", canvas_id="1001"), ADA),
        (Person("x", email="ADA.L@uni.example"), ADA),
        (Person("x", github="ada-l"), ADA),
        (Person("x", logins=("ADA",)), ADA),
        (Person("x", logins=("ada.l",)), ADA),
        (Person("x", logins=("nobody", "15-002")), ZOE),
        (Person("x", names=("Lovelace, Ada",)), ADA),
        (Person("x", names=("lovelaceada",)), ADA),
        (Person("x", names=("ONeil-Müller Zoë",)), ZOE),
        (Person("x", names=("oneilmuellerzoe",)), ZOE),
        (Person("x", names=("zoe o",)), ZOE),
        (Person("x", names=("van der Berg, Jan",)), JAN),
        (Person("Jan", names=("Jan Else",), canvas_id="1001"), ADA),
        (Person("x", names=("Ada Lovelace",), email="other@uni.example"), ADA),
    ],
)
def test_a_person_is_found(person: Person, student: Student) -> None:
    assert PEOPLE.find(person) == student


@pytest.mark.parametrize(
    ("person", "reason"),
    [
        (Person("Jo Li", names=("Jo Li",)), "2 students are called so: jo1, jo2"),
        (Person("x", names=("Ada Lovelace",), canvas_id="9"), "not in students.csv"),
        (Person("x", canvas_id="1001", sis_id="15-002"), "its numbers are those of ada and zo"),
        (Person("x", logins=("jan",)), "not in students.csv"),
        (Person("x", names=("",), logins=("",)), "not in students.csv"),
        (
            Person("x", names=("Ada Lovelase",)),
            r"not in students.csv; closest: Ada Lovelace \(ada\)",
        ),
        (Person("anon_1", nameless="Canvas hides the names"), "Canvas hides the names"),
    ],
)
def test_nobody_rather_than_the_wrong_one(person: Person, reason: str) -> None:
    found = PEOPLE.find(person)
    assert isinstance(found, Unknown)
    assert found.reason.startswith(reason.replace("\\", ""))


def test_a_folder_is_a_students_if_one_student_is_called_so() -> None:
    assert PEOPLE.knows("ada")
    assert PEOPLE.knows("Lovelace Ada")
    assert not PEOPLE.knows("Jo Li")
    assert not PEOPLE.knows("homework")
    assert not PEOPLE.knows("")


def test_similar_names_are_looked_up_for_some_hundred_people_at_most() -> None:
    """A zip may hold folders of thousands of people, and each takes some milliseconds."""
    directory = Directory(PEOPLE.roster)
    people = [Person(f"x{n}", names=(f"Ada Lovelase{n}",)) for n in range(250)]
    found = [directory.find(person) for person in people]
    reasons = [one.reason for one in found if isinstance(one, Unknown)]
    suggested = ["closest" in reason for reason in reasons]
    assert suggested == [True] * 200 + [False] * 50
    again = directory.find(people[0])
    assert isinstance(again, Unknown)
    assert "closest" in again.reason
