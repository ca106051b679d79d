"""Outputs of a cell on arrival: only what a page can show safely is kept."""

import pytest

from gradekit.sandbox.output_filter import clean_outputs

ERROR = {"output_type": "error", "ename": "E", "evalue": "why", "traceback": ["line"]}
STREAM = {"output_type": "stream", "name": "stdout", "text": "hello"}
PLAIN = {"output_type": "display_data", "data": {"text/plain": "x"}, "metadata": {}}


def test_well_formed_outputs_are_kept():
    result = {
        "output_type": "execute_result",
        "execution_count": 3,
        "metadata": {},
        "data": {"text/plain": "x", "image/png": "iVBORw0KGgo=\n"},
    }
    kept, spent = clean_outputs([ERROR, STREAM, PLAIN, result], 10_000)
    assert list(kept) == [ERROR, STREAM, PLAIN, result]
    assert spent > 20


@pytest.mark.parametrize(
    "raw",
    [
        None,
        "text",
        {"output_type": "stream"},
        [None],
        [[STREAM]],
        [{}],
        [{**STREAM, "name": "stdlog"}],
        [{**STREAM, "text": ["a"]}],
        [{**ERROR, "traceback": [1]}],
        [{**ERROR, "ename": None}],
        [{**PLAIN, "data": {"text/html": "<b>"}}],
        [{**PLAIN, "data": []}],
        [{**PLAIN, "data": {"image/png": 'x" onerror="alert(1)'}}],
        [{**PLAIN, "output_type": "execute_result", "execution_count": "1"}],
        [{**PLAIN, "output_type": "execute_result", "execution_count": True}],
        [{**PLAIN, "output_type": "update_display_data"}],
    ],
)
def test_malformed_outputs_are_left_out(raw):
    assert clean_outputs(raw, 10_000) == ((), 0)


def test_active_parts_are_left_out_and_the_rest_is_kept():
    mixed = {
        "output_type": "display_data",
        "data": {"text/plain": "x", "text/html": "<script>", "image/svg+xml": "<svg>"},
        "metadata": {"image/png": {"width": "1 onload=alert(1)"}},
        "transient": {"display_id": "<b>"},
    }
    assert clean_outputs([mixed], 10_000)[0] == (PLAIN,)


def test_nothing_is_kept_beyond_the_budget():
    many = [{**STREAM, "text": "x" * 1000} for _ in range(100)]
    kept, spent = clean_outputs(many, 5000)
    assert len(kept) == 4
    assert spent <= 5000
