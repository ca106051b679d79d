"""Fine-tunes with few labels, with and without pretraining: makes the weights and the bands.

Run it after a change of the data, the model or the training, and after pretrain/measure.py (seven
CPU minutes):

    OMP_NUM_THREADS=1 python autograder/exercises/lab10/fine_tune/measure.py

It writes bands.json, and two files of weights for five labels: a pretrained classifier (seed 0,
which the notebook uses, too), and one from scratch.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import nn

from attnlab.bert import Bert
from attnlab.bert_training import pretraining_batches, pretraining_loss, pretraining_scores
from attnlab.data.topics import TOPICS
from attnlab.fine_tuning import Classifier, accuracy, fine_tune
from attnlab.models import topics_bert

HERE = Path(__file__).parent
SEEDS = range(12)
LABELS_PER_TOPIC = (1, 2, 5)
SCRATCH_STEPS = 100


def classifier(bert: nn.Module, seed: int) -> Classifier:
    """A classifier on top of a model; its head is drawn from the seed."""
    torch.manual_seed(seed)
    return Classifier(bert, topics_bert.CFG.d_model, len(TOPICS))


def pretrained(seed: int) -> nn.Module:
    """The model of a seed; that of seed 0 is 10.4's file."""
    model: nn.Module = topics_bert.small_bert(Bert, seed)
    if seed == 0:
        model.load_state_dict(load_file(HERE.parent / "pretrain" / "bert.safetensors"))
    else:
        parts = (pretraining_batches, pretraining_loss, pretraining_scores)
        topics_bert.pretrain(model, *parts, seed=seed)
    return model


def measured(seed: int) -> list[dict[str, Any]]:
    """The three ways, for each number of labels."""
    bert, rows = pretrained(seed), []
    unseen = topics_bert.new_sentences(400, 20_000 + seed)
    for number in LABELS_PER_TOPIC:
        # The labels of seed 0 are those of the notebook.
        labelled = topics_bert.few_labels(number, topics_bert.LABELS_SEED + seed)
        with_text = classifier(bert, seed)
        fine_tune(with_text, *labelled)
        without = classifier(topics_bert.small_bert(Bert, seed), seed)
        losses = fine_tune(without, *labelled, SCRATCH_STEPS)
        counted = topics_bert.naive_bayes(*labelled, unseen[0]) == unseen[1]
        if (seed, number) == (0, 1):
            write("topics.safetensors", with_text)
            write("from_scratch.safetensors", without)
        rows.append(
            {
                "seed": seed,
                "labels": number * len(TOPICS),
                "pretrained": round(accuracy(with_text, *unseen), 4),
                "scratch": round(accuracy(without, *unseen), 4),
                "naive_bayes": round(counted.double().mean().item(), 4),
                "scratch_last_loss": round(losses[-1], 4),
            }
        )
    return rows


def write(name: str, model: nn.Module) -> None:
    """Save a model's weights in this folder."""
    save_file({key: value.clone() for key, value in model.state_dict().items()}, HERE / name)


def summary(rows: list[dict[str, Any]], pick: Callable[[Any], float]) -> dict[str, float]:
    """The mean and the spread over the seeds."""
    values = [pick(row) for row in rows]
    return {
        "mean": round(statistics.mean(values), 4),
        "sd": round(statistics.stdev(values), 4),
        "lowest": min(values),
        "highest": max(values),
    }


def main() -> None:
    """Train, print, write the weights and what was measured."""
    torch.set_num_threads(1)
    rows: list[dict[str, Any]] = []
    for seed in SEEDS:
        rows += measured(seed)
        print(*rows[-len(LABELS_PER_TOPIC) :], sep="\n", flush=True)
    report = {
        f"{number * len(TOPICS)} labels": {
            way: summary(
                [row for row in rows if row["labels"] == number * len(TOPICS)],
                lambda row, way=way: row[way],
            )
            for way in ("pretrained", "scratch", "naive_bayes")
        }
        for number in LABELS_PER_TOPIC
    }
    (HERE / "bands.json").write_text(json.dumps({**report, "runs": rows}, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
