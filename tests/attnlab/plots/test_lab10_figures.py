"""The figures of lab 10's last steps draw what the student's functions return."""

from __future__ import annotations

import pytest
import torch

from attnlab import few_shot, gpt_inputs, scaling
from attnlab.induction import induction_scores
from attnlab.models.reads_examples import reads_examples
from attnlab.plots import few_shot as shots_figure
from attnlab.plots import gpt_inputs as rows_figure
from attnlab.plots import induction as stripes_figure
from attnlab.plots import power_law as law_figure
from tests.helpers.figures import unwritten

pytestmark = pytest.mark.usefixtures("no_windows")
SIZES = torch.tensor([1336, 4208, 14560, 53696])
LOSSES = torch.tensor([2.90, 2.02, 1.38, 1.16], dtype=torch.float64)
ROWS = (
    gpt_inputs.join_texts,
    gpt_inputs.similarity_rows,
    gpt_inputs.choice_rows,
    gpt_inputs.fill_up,
    gpt_inputs.last_valid,
)


def test_rows_are_framed_where_the_student_reads_them() -> None:
    drawn = rows_figure.rows_of_three_tasks(*ROWS)
    assert drawn.data["used"].tolist() == [8, 9, 9, 8, 9]
    last_place = rows_figure.rows_of_three_tasks(*ROWS[:-1], lambda hidden, valid: hidden[:, -1])
    assert last_place.data["used"].tolist() == [9] * 5
    assert "start it rains delim the street is wet extract" in drawn.axes[0].figure.alt  # type: ignore[union-attr]


def test_the_three_lines_are_the_students_curves(monkeypatch: pytest.MonkeyPatch) -> None:
    def hurried(*args: object, **options: object) -> torch.Tensor:
        return few_shot.shots_curve(*args, **options, rounds=1)  # type: ignore[arg-type]

    drawn = shots_figure.accuracy_by_examples(hurried, reads_examples())
    assert drawn.data["sixteen known tables, with the name"].tolist() == [1.0] * 6
    assert drawn.data["tables never seen"].max() < 0.4
    assert drawn.data["best, the same without the name"][5] > 0.99
    assert len(drawn.axes[0].get_lines()) == 7


def test_two_floors_go_through_the_same_points_and_part() -> None:
    drawn = law_figure.two_floors(scaling.fit_power_law, scaling.power_law, SIZES, LOSSES, 0.989)
    right, wrong = drawn.data["floor 0.989"], drawn.data["floor 0"]
    assert right[-1] > 0.989 > wrong[-1]
    assert "floor 0 crosses the entropy" in drawn.axes[0].figure.alt  # type: ignore[union-attr]


def test_each_head_has_its_stripes_and_its_score() -> None:
    drawn = stripes_figure.stripes(induction_scores)
    assert len(drawn.axes) == 4
    assert float(drawn.data["scores"][1].max()) > 0.6
    for axes, score in zip(drawn.axes, drawn.data["scores"].flatten().tolist(), strict=True):
        assert axes.get_title(loc="left").endswith(f"{score:.2f}")


def test_a_missing_function_is_named_before_anything_is_trained() -> None:
    for drawn in (
        law_figure.own_runs(scaling.num_parameters, scaling.fit_power_law, unwritten),
        shots_figure.accuracy_by_examples(unwritten, reads_examples()),
        rows_figure.rows_of_three_tasks(unwritten, *ROWS[1:]),
        stripes_figure.stripes(unwritten),
    ):
        assert "is not written" in drawn.missing
