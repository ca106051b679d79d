"""Train the four sizes from ten seeds, and write what came out into ``bands.json``.

    python autograder/exercises/lab10/fit_power_law/measure.py

Run it after a change to the source, the model or the training; it takes two minutes on one core.
The runs are not graded, because they depend on the number of steps as much as on the sizes; a test
holds that they do what the lab's text says.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import torch

from attnlab.data.markov import sparse_source
from attnlab.models.scaling_runs import trained_sizes
from attnlab.scaling import fit_power_law, num_parameters, power_law

SEEDS = range(10)
LARGE = torch.tensor([1e6])  # parameters


def main() -> None:
    """Train, print a line for each seed, and write the losses and fits."""
    torch.set_num_threads(1)
    source = sparse_source()
    report: dict[str, object] = {"floor": round(source.entropy_rate, 5)}
    runs = []
    for seed in SEEDS:
        start = time.process_time()
        models, losses = trained_sizes(source, seed)
        seconds = time.process_time() - start
        n = torch.tensor([num_parameters(model) for model in models])
        run: dict[str, object] = {"seed": seed, "losses": [round(x, 4) for x in losses.tolist()]}
        for name, floor in (("floor", source.entropy_rate), ("no_floor", 0.0)):
            A, alpha = fit_power_law(n, losses, floor)
            off = (power_law(n, A, alpha, floor) - floor).log() - (losses - floor).log()
            run[name] = {
                "alpha": round(alpha, 4),
                "largest_log_residual": round(float(off.abs().max()), 4),
                "at_a_million": round(float(power_law(LARGE, A, alpha, floor)), 4),
            }
        run["cpu_seconds"] = round(seconds, 2)
        report["n"] = n.tolist()
        runs.append(run)
        print(json.dumps(run), flush=True)
    report["runs"] = runs
    Path(__file__).with_name("bands.json").write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
