"""train_bpe: learn which neighbours to join, from the counts of words."""

from __future__ import annotations

from attnlab.tokenizer import merge_pair, train_bpe
from gradekit.exercise import Exercise

exercise = Exercise(merge_pair, train_bpe)

SENNRICH = {b"low_": 5, b"lower_": 2, b"newest_": 6, b"widest_": 3}


@exercise.check(points=6)
def both_tie_rules(lab, draw):
    """The words low_, lower_, newest_ and widest_ under both rules for ties."""
    return {tie: lab.train_bpe(SENNRICH, 12, tie=tie) for tie in ("first", "greatest")}


@exercise.check(points=6, hidden=True)
def fewer_merges(lab, draw):
    """Stops after the number of merges that was asked for."""
    return lab.train_bpe(SENNRICH, 5)
