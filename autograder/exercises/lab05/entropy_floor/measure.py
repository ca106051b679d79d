"""Trains the Markov GPT under three masks from many seeds; writes weights and measured losses.

Run it after a change to the source, the model or the training; it takes a minute:

    python autograder/exercises/lab05/entropy_floor/measure.py
"""

from __future__ import annotations

import json
import statistics
import time
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from attnlab.data.markov import course_source
from attnlab.evaluation import evaluate, next_token_loss
from attnlab.masks import causal_mask
from attnlab.models.markov_gpt import LENGTH, MarkovGPT, train_gpt
from attnlab.notebook.saved import trained

HERE = Path(__file__).parent
SEEDS = range(12)
MASKS: dict[str, Tensor] = {
    "past": causal_mask(LENGTH),
    "ahead": causal_mask(LENGTH, LENGTH + 1)[:, :LENGTH],
    "all": torch.ones(LENGTH, LENGTH, dtype=torch.bool),
}


def main() -> None:
    """Train, print a table, write the weights of seed 0 and ``bands.json``."""
    torch.set_num_threads(1)
    source = course_source()
    ids = source.sequences("train", 4096, LENGTH)
    report: dict[str, object] = {"floor": source.entropy_rate}
    for name, mask in MASKS.items():
        rows = []
        for seed in SEEDS:
            start = time.process_time()
            train = partial(train_gpt, ids=ids, mask=mask, loss=next_token_loss, seed=seed)
            model = MarkovGPT(seed)
            if seed == 0:
                file = HERE / f"markov_{name}.safetensors"
                saved, _ = trained(str(file), partial(MarkovGPT, seed), train, again=True)
                assert saved is not None
                model = saved
            else:
                train(model)
            seconds = time.process_time() - start
            hidden = source.sequences("hidden", 1024, LENGTH, seed)  # the data varies, too
            own, past = evaluate(model, hidden, mask), evaluate(model, hidden, MASKS["past"])
            print(f"{name:6} seed {seed:2}: {own:.4f}, right mask {past:.4f}, {seconds:.2f} s")
            rows.append({"seed": seed, "loss": own, "under_past": past, "cpu_seconds": seconds})
        losses = [row["loss"] for row in rows]
        mean, sd = statistics.mean(losses), statistics.stdev(losses)
        report[name] = {
            "runs": [{key: round(value, 5) for key, value in row.items()} for row in rows],
            "mean": round(mean, 5),
            "sd": round(sd, 5),
            "mean_plus_4_sd": round(mean + 4 * sd, 5),
        }
        print(f"{name:6} mean {mean:.4f}, sd {sd:.4f}, mean + 4 sd {mean + 4 * sd:.4f}")
    (HERE / "bands.json").write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
