"""A class over three labs, played by commands; the table against one worked out by hand."""

from __future__ import annotations

import csv
import json
import time
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import pytest

from tests.helpers.importers import unpacked
from tests.helpers.term_class import LABS, Person, play_term, run

CENT = Decimal("0.01")


def by_hand(one: Person) -> tuple[list[Decimal], Decimal, str, str, int, int]:
    """Scores, total, dropped lab, grade, days late, slip days used: a TA's sums on paper."""
    scores, slip_days, late_days, used = [], 1, 0, 0
    for week in range(3):
        if not one.hands_in(week):
            scores.append(Decimal(0))
            continue
        points = one.points(week)
        raw = Decimal(str(points.softmax + points.entropy))
        days = one.days_late(week)
        late_days += days
        if days > 5:
            scores.append(Decimal(0))
            continue
        covered = min(days, slip_days)
        slip_days, used = slip_days - covered, used + covered
        penalty = (raw * 10 * (days - covered) / 100).quantize(CENT, ROUND_HALF_UP)
        scores.append(raw - penalty)
    shares = [score / 16 * 100 for score in scores]
    weights = [100, 100, 200]
    # The lowest goes; of two equal ones the third lab, which weighs more, or else the first.
    lowest = min(range(3), key=lambda week: (shares[week], week != 2, week))
    kept = [week for week in range(3) if week != lowest]
    whole = sum(weights[week] for week in kept)
    total = sum((shares[week] * weights[week] for week in kept), Decimal(0)) / whole
    total = total.quantize(CENT, ROUND_HALF_UP)
    grade = next(g for g, least in (("A", 85), ("B", 60), ("C", 35), ("F", 0)) if total >= least)
    return scores, total, LABS[lowest], grade, late_days, used


def check_class(root: Path, people: list[Person]) -> None:
    table = json.loads(run(root, "term", "--json", "--to", "csv").stdout)
    assert [row["id"] for row in table["students"]] == [one.id for one in people]
    with (root / "exports" / "term.csv").open(newline="") as file:
        written = {row["id"]: row for row in csv.DictReader(file)}
    for one, row in zip(people, table["students"], strict=True):
        scores, total, dropped, grade, late_days, used = by_hand(one)
        assert [Decimal(str(lab["score"] or 0)) for lab in row["labs"].values()] == scores, one
        assert Decimal(str(row["total"])) == total, one
        assert (row["dropped"], row["grade"], row["final"]) == ([dropped], grade, True), one
        assert (row["days_late"], row["slip_days_used"]) == (late_days, used), one
        missing = [lab for week, lab in enumerate(LABS) if not one.hands_in(week)]
        assert row["missing"] == missing
        line = written[one.id]
        assert Decimal(line["total percent"]) == total
        assert (line["missing"], line["dropped"]) == (" ".join(missing), dropped)
        assert [bool(line[f"{lab} extended to"]) for lab in LABS] == [
            bool(one.extended(week)) for week in range(3)
        ]


def check_pages(root: Path, people: list[Person]) -> None:
    for week, lab in enumerate(LABS):
        there = [one for one in people if one.hands_in(week)]
        for way, expected in (
            ("canvas", [one for one in there if one.is_in_canvas]),
            ("moodle", [one for one in there if not one.is_in_canvas]),
        ):
            done = json.loads(
                run(root, "return", lab, "--as", way, "--json", "--no-solutions").stdout
            )
            assert [row["student"] for row in done["returned"]] == [one.id for one in expected]
            pages = unpacked((root / "exports" / f"{lab}-pages-{way}.zip").read_bytes())
            for row in done["returned"]:
                page = pages[row["path"]].decode()
                assert [one.id for one in people if one.id in page] == [row["student"]]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Person]]:
    root = tmp_path_factory.mktemp("term") / "course"
    return root, play_term(root, 14)


def test_the_table_is_the_one_worked_out_by_hand(played):
    check_class(*played)


def test_three_students_worked_out_on_paper(played):
    root, _ = played
    rows = {row["id"]: row for row in json.loads(run(root, "term", "--json").stdout)["students"]}
    # s002, section A. Lab 1: 6 + 2 points, 5 hours late: one slip day covers it. Lab 2: 7 + 3
    # points, on time. Lab 3: 8 + 4 points, 30 hours late: two days, 20 % off, so 9.6 points.
    assert [rows["s002"]["labs"][lab]["score"] for lab in LABS] == [8, 10, 9.6]
    assert rows["s002"]["dropped"] == ["lab01"]
    # (1 × 62.5 + 2 × 60) / 3
    assert (rows["s002"]["total"], rows["s002"]["grade"]) == (60.83, "B")
    # s003. Lab 1: 0 + 3 points, on time. Lab 2: 1 + 4 points, 30 hours after the due date, but with
    # three days more. Nothing for lab 3, which is dropped.
    assert [rows["s003"]["labs"][lab]["score"] for lab in LABS] == [3, 5, None]
    assert rows["s003"]["labs"]["lab02"]["extended_to"] == "2026-09-18T18:00:00+00:00"
    assert (rows["s003"]["days_late"], rows["s003"]["dropped"]) == (0, ["lab03"])
    # (18.75 + 31.25) / 2
    assert (rows["s003"]["total"], rows["s003"]["grade"]) == (25, "F")
    # s007 did not hand in lab 1, which is dropped. Lab 2 with 4 + 3 points, on time. Lab 3 with
    # 5 + 4 points, 30 hours before it was due for section B.
    assert rows["s007"]["missing"] == ["lab01"]
    assert rows["s007"]["total"] == 52.08


def test_every_page_goes_to_the_system_that_it_came_from(played):
    check_pages(*played)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_three_hundred_students(tmp_path: Path):
    people = play_term(tmp_path / "course", 300)
    check_class(tmp_path / "course", people)
    check_pages(tmp_path / "course", people)
    before = time.process_time()
    run(tmp_path / "course", "term", "--to", "xlsx")
    assert time.process_time() - before < 3
