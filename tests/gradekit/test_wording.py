"""Numbers and names in sentences."""

from gradekit.wording import counted, first_of


def test_a_noun_follows_its_number() -> None:
    assert [counted(number, "page") for number in (0, 1, 2)] == ["0 pages", "1 page", "2 pages"]


def test_names_beyond_the_most_are_counted() -> None:
    assert first_of(["ada", "bob"], 2) == "ada, bob"
    assert first_of(iter(["ada", "bob", "cyd", "dan"]), 2) == "ada, bob and 2 more"
    assert first_of([], 2) == ""
