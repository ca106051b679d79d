"""predictions: what trainings cost, and what the lab's formulas give where one looks last."""

from __future__ import annotations

import torch

from gradekit.exercise import Prediction, Predictions

exercise = Predictions(
    {
        "P1": Prediction(
            "the operations that eight P100 had time for in 3.5 days, in units of 10^18.",
            points=0.5,
            right=22.98,
            atol=0.1,
            reason="8 devices · 3.5 days · 86,400 seconds · 9.5e12 operations per second.",
            question="Which numbers are multiplied, and in which unit is each of them?",
        ),
        "P2": Prediction(
            "the MFU of the paper's base training.",
            points=0.5,
            right=0.2878,
            atol=0.01,
            reason=(
                "A source token passes 18.9 million parameters and a target token 44.1 million: "
                "6 · 25,000 · 63 million · 100,000 updates = 9.45e17 operations, out of 3.28e18."
            ),
            question="Which parameters does a source token pass, and which a target token?",
        ),
        "P3": Prediction(
            "the bytes that a training with Adam in float32 keeps for each parameter.",
            points=0.5,
            right=16,
            reason="The weight, its gradient, m and v: four numbers of four bytes.",
            question="Which numbers does Adam keep for a parameter besides the parameter itself?",
        ),
        "P4": Prediction(
            "what torch computes for the paper's learning rate at t = 0.",
            points=0.5,
            right=0.0,
            reason=(
                "In torch 1/√0 is inf and 0 times a number is 0, and the smaller of the two is 0. "
                "Python's own numbers raise an error instead."
            ),
            question="What does torch make of each of the two at t = 0, and which one is smaller?",
        ),
        "P5": Prediction(
            "which share of its run lies between the first and the last of five checkpoints.",
            points=0.5,
            right=40 / 720,
            atol=1.5e-3,
            reason="Five checkpoints have four gaps: 40 of 720 minutes, or 5.6 percent.",
            question="How many gaps are between five checkpoints, and how long is the run?",
        ),
    },
    answered="The answer to each of the five questions is a number.",
    points=0.5,
)

exercise.wrong(
    "one_device",
    "P1: that is the work of one device. How many did the paper use?",
    P1=2.873,
)
exercise.wrong(
    "minutes_for_seconds",
    "P1: how many seconds has a minute?",
    P1=0.383,
)
exercise.wrong(
    "base_models_run",
    "P1: that is the run of 12 hours, of the base model. How long did the big one train?",
    P1=3.28,
)
exercise.wrong(
    "days_of_twelve_hours",
    "P1: you took days of 12 hours. Did the devices rest at night?",
    P1=11.49,
)
exercise.wrong(
    "not_in_units",
    "P1: your number counts operations. The question asks for it in units of 10^18.",
    P1=22.98e18,
)
exercise.wrong(
    "every_token_passes_everything",
    "P2: you let all 50,000 tokens pass all 63 million parameters. Which of them pass the decoder?",
    P2=0.5757,
)
exercise.wrong(
    "one_part_left_out",
    "P2: your sum has one of three parts too few: encoder, decoder and head. Which tokens pass "
    "which of them?",
    P2=0.2015,
)
exercise.wrong(
    "source_tokens_only",
    "P2: you count the work of the source tokens. What do target tokens pass?",
    P2=0.0863,
)
exercise.wrong(
    "forward_only",
    "P2: you count two operations for each parameter, those of the forward pass. What about the "
    "backward pass?",
    P2=0.0959,
)
exercise.wrong(
    "backward_only",
    "P2: you count four operations for each parameter, those of the backward pass. What comes "
    "before it?",
    P2=0.1919,
)
exercise.wrong(
    "one_operation",
    "P2: you count one operation for each parameter. How many are in 6?",
    P2=0.04797,
)
exercise.wrong(
    "in_percent",
    "P2: the question asks for a share, from 0 to 1.",
    P2=28.8,
)
exercise.wrong(
    "upside_down",
    "P2: a share above 1 would be more than the devices can do. Which number is above the line?",
    P2=3.474,
)
exercise.wrong(
    "weights_only",
    "P3: that is the weight alone. What else must be there for each parameter between `backward()` "
    "and the end of `step()`?",
    P3=4,
)
exercise.wrong(
    "one_average",
    "P3: you count three numbers for each parameter. How many averages does Adam keep?",
    P3=12,
)
exercise.wrong(
    "gradient_twice",
    "P3: you count five numbers for each parameter. Which of them is another one with a new name?",
    P3=20,
)
exercise.wrong(
    "in_bits",
    "P3: your number is in bits. The question asks for bytes.",
    P3=128,
)
exercise.wrong(
    "error_in_torch",
    "P4: what does `torch.tensor(0.0) ** -0.5` give? Does it raise an error?",
    P4=float("nan"),
)
exercise.wrong(
    "infinite_rate",
    "P4: one part of the formula is inf at t = 0. Which of the two parts counts?",
    P4=float("inf"),
)
exercise.wrong(
    "rate_of_the_first_update",
    "P4: that is the rate of the update with the number 1.",
    P4=1.747e-7,
)
exercise.wrong(
    "five_gaps",
    "P5: you count five times ten minutes. How many gaps are between five checkpoints?",
    P5=50 / 720,
)
exercise.wrong(
    "one_gap",
    "P5: that is the share of ten minutes. How many gaps are between five checkpoints?",
    P5=10 / 720,
)
exercise.wrong(
    "updates_counted",
    "P5: that is a number of updates. The question asks for their share of the whole run.",
    P5=5556,
)
exercise.wrong(
    "percent_of_the_run",
    "P5: the question asks for a share, from 0 to 1, and not in percent.",
    P5=5.56,
)

exercise.also_right_with("rounded", P1=23.0, P2=0.29, P3=16.0, P4=0, P5=0.056)
exercise.also_right_with(
    "as_tensors",
    P1=torch.tensor(22.98),
    P2=torch.tensor([0.288]),
    P3=torch.tensor(16),
    P4=torch.tensor(0.0),
    P5=torch.tensor(4.0) / 72,
)
