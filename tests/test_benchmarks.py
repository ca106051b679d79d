"""The benchmarks run as their first lines say, and what they promise holds on this machine."""

from __future__ import annotations

import importlib
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from rich.console import Console

from attnlab.training_runs import Run

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


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_the_models_are_compared_with_torchs():
    line = [sys.executable, str(BENCHMARKS / "models.py"), "--quick", "--json"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    measured = json.loads(done.stdout)
    assert {"fused", "plain"} == {row["what"].split(", ")[1] for row in measured["rows"]}
    for name in ("fused", "plain"):
        ratios = [row["ratio"] for row in measured["rows"] if f", {name}," in row["what"]]
        assert measured[f"step_ratio_{name}"] == pytest.approx(min(ratios), abs=1e-3)
    for row in measured["rows"]:
        assert row["ratio"] == pytest.approx(row["peer"] / row["ours"])
    others = measured["language_models"]
    assert {row["task"] for row in others} == {"GPT step", "BERT step", "GPT writes"}
    writing = [row["seconds"] for row in others if row["task"] == "GPT writes"]
    if "transformers" in writing[0]:  # it can be installed here
        ratio = min(row["transformers"] / row["ours"] for row in writing)
        assert measured["generate_ratio"] == pytest.approx(ratio, abs=1e-3)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_every_way_to_train_is_measured():
    line = [sys.executable, str(BENCHMARKS / "training.py"), "--quick", "--json"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = {row["name"]: row for row in json.loads(done.stdout)["rows"]}
    assert {"fp32", "bf16", "two processes"} <= rows.keys()
    for row in rows.values():
        assert min(row["tokens_per_second"], row["memory"], row["cpu_seconds"]) > 0
        assert row["loss"] == pytest.approx(rows["fp32"]["loss"], rel=0.5)


def test_the_ways_to_train_fit_in_a_terminal(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    training = importlib.import_module("training")
    runs = [
        Run("two processes", 1_234_567, 99_999 * 2**20, 0.0031, 1.0, 12_345, Path()),
        Run("fp32", 617_283, 353 * 2**20, 0.0037, 0.994, 52, Path()),
    ]
    console = Console(width=80, file=io.StringIO())
    console.print(training.table(runs))
    shown = console.file.getvalue()
    assert "…" not in shown
    bars = [line.count("█") for line in shown.splitlines() if "█" in line]
    assert bars == [training.WIDTH, training.WIDTH // 2]


def test_every_benchmark_has_a_quick_version():
    """`make bench ARGS=--quick` hands it to each of them."""
    makefile = (BENCHMARKS.parent / "Makefile").read_text()
    names = re.search(r"for name in ([a-z ]+);", makefile)
    assert names
    for name in names[1].split():
        assert "--quick" in (BENCHMARKS / f"{name}.py").read_text()


def test_the_contenders_have_the_same_number_of_parameters(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    models = importlib.import_module("models")
    with torch.device("meta"):
        built = [make(models.SIZES[0].config) for make in models.CONTENDERS.values()]
    assert len({sum(weight.numel() for weight in model.parameters()) for model in built}) == 1


def test_language_models_are_compared_with_the_fastest_package(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    models = importlib.import_module("models")
    seconds = {"ours": 2.0, "transformers": 5.0, "x-transformers": 3.0}
    rows = [
        {"task": "GPT step", "seconds": seconds},
        {"task": "GPT step", "seconds": {**seconds, "x-transformers": 1.0}},
        {"task": "GPT writes", "seconds": seconds},
        {"task": "BERT step", "seconds": {"ours": 2.0}},
    ]
    assert models.language_ratios(rows) == {"gpt": 0.5, "generate": 2.5}


def test_our_language_models_are_measured_without_the_packages(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    language_models = importlib.import_module("language_models")
    monkeypatch.setitem(sys.modules, "transformers", None)
    monkeypatch.setitem(sys.modules, "x_transformers", None)
    tiny = language_models.Size("tiny", 8, 2, 1, 11, 2, 5)
    monkeypatch.setattr(language_models, "SIZES", (tiny,))
    monkeypatch.setattr(language_models, "NEW", 4)
    threads = torch.get_num_threads()
    try:
        rows = language_models.measure(1)
    finally:
        torch.set_num_threads(threads)
    assert [row["seconds"].keys() for row in rows] == [{"ours"}] * 3
    assert "x-transformers is left out" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_loops_are_compared_with_a_bare_one():
    line = [sys.executable, str(BENCHMARKS / "loops.py"), "--quick", "--json"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    measured = json.loads(done.stdout)
    for name, row in measured["rows"].items():
        assert measured["overheads"][name] == pytest.approx(row[name] - row["bare"])
    assert "ours" in measured["rows"]


def test_our_loop_trains_the_same_model_as_the_bare_one(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    loops = importlib.import_module("loops")
    monkeypatch.setattr(loops, "STEPS", 20)
    threads = torch.get_num_threads()
    try:
        found = loops.measure("ours", 1)  # raises if the two end with different losses
    finally:
        torch.set_num_threads(threads)
    assert found.keys() == {"bare", "ours"}
    monkeypatch.setitem(loops.LOOPS, "ours", lambda model, batches: list(batches))
    with pytest.raises(SystemExit, match="trains another model"):
        loops.measure("ours", 1)
