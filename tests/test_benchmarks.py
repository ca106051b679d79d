"""The benchmarks run as their first lines say, and what they promise holds on this machine."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"
KEYS = {
    "ours_per_min", "nbgrader_per_min", "otter_per_min", "ratio_nbgrader", "ratio_otter",
    "cpu_over_floor", "rss_mib", "cost_1000_over_100", "nothing_new_s",
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_the_quick_run_meets_every_budget():
    line = [sys.executable, str(BENCHMARKS / "grading.py"), "--quick", "--json"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    measured = json.loads(done.stdout)
    assert measured.keys() >= KEYS
    assert all(measured[key] is None or measured[key] > 0 for key in KEYS)
