"""Which checks hold each sentence of the task."""

from __future__ import annotations

from . import exercise

exercise.promises(
    {
        "How well each position of the source fits the decoder's state: e_i = aᵀ tanh(W [s; "
        "h_i]).": "hand_example scores far_away",
        "W and a are the only parameters, and neither has a bias.": "shape_and_parameters",
        "In [s; h_i] the state comes first.": "scores",
        "Call them `W`, an `nn.Linear` from d_state + d_hidden to d_score, and `a`, an "
        "`nn.Linear` from d_score to 1. You may also use two linear layers `W_s` (for the "
        "state) and `W_h` (for the hidden vectors) instead of `W`, or raw `nn.Parameter`s of "
        "the same names (a matrix or its transpose; `a` may be a vector). Other usual names are "
        "accepted.": "shape_and_parameters scores",
        "A score for every position; no softmax.": "scores places_and_sentences_apart",
        "(B, T), any real numbers.": "shape_and_parameters other_sizes",
        "Gradients flow to state, hidden, W and a.": "gradients",
    },
    explained=[
        "d_state: width of the decoder's state. d_hidden: width of the encoder's vectors. "
        "d_score: width of the layer between W and a.",
        "state: (B, d_state), one state for each sentence of the batch. hidden: (B, T, "
        "d_hidden), the encoder's vectors.",
    ],
)
