"""What a classifier that has seen five labels knows about new sentences, and what that earns."""

from __future__ import annotations

from attnlab.bert import Bert
from attnlab.data.topics import TOPICS
from attnlab.fine_tuning import Classifier, accuracy
from attnlab.models.topics_bert import CFG, new_sentences
from gradekit.exercise.trained import Band, ScoreBands, fill


def score(weights, seed):
    """From saved weights and a seed to the share of 1,000 new sentences whose topic is found."""
    made = Classifier(Bert(CFG), CFG.d_model, len(TOPICS))
    fill(made, weights)
    return accuracy(made, *new_sentences(200, seed))


# The bands leave more than 4 sd of twelve seeds: bands.json, written by measure.py. With five
# labels, a count of words and a model without pretraining are right in about half of the cases.
TOPICS_RIGHT = ScoreBands(
    score,
    (
        Band(0.95, 1.0, 1.0),
        Band(
            0.75, 0.95, 0.5,
            "Most topics are found, and a pretrained model can find nearly all. Is the file of "
            "10.4 from a training that ran to its end?",
        ),
    ),
    "Your classifier knows little more than the twenty words of the five sentences, as if it had "
    "not been pretrained. With which weights does it start?",
)  # fmt: skip
