"""A notebook closes or replaces the streams for all printed text."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.helpers.attack import run_cells, text_of


@pytest.mark.parametrize("stream", ["sys.stdout = None", "sys.stderr = None", "del sys.stdout"])
def test_a_lost_standard_stream_costs_no_later_cell(sandbox, stream):
    naive = f"import sys\n{stream}\nsys.stdout.write(sys.stderr.name)"
    assert subprocess.run([sys.executable, "-c", naive], capture_output=True).returncode != 0
    run = run_cells(sandbox, f"import sys\n{stream}", "print('heard')", "1 / 0")
    assert "heard" in text_of(run.cells[1])
    assert "division by zero" in text_of(run.cells[2])
    assert "stopped" not in {cell.state for cell in run.cells}
