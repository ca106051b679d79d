"""Known mistakes in the table of weights: which numbers of a question are looked up, and how."""

from __future__ import annotations

from . import exercise
from .also_right import by_gather

wrong = exercise.edits(by_gather, of="weight_on")

WANTED = "places[:, None].expand(-1, weights.shape[1], -1)"
LOOKED_UP = "weights.gather(2, wanted)"
HOT = "torch.nn.functional.one_hot(places"

for name, index in (
    ("each_place_repeated", "places.repeat_interleave(weights.shape[1], 1)"),
    ("all_questions_repeated", "places.repeat(weights.shape[1], 1)"),
):
    wrong(
        name,
        WANTED,
        f"{index}.view(len(places), weights.shape[1], -1)",
        "Your index has the right shape, but its places are in another order, so heads look up "
        "places that are not theirs. Print it for two questions: which places has each head?",
    )
wrong(
    "two_places_only",
    LOOKED_UP,
    "torch.stack([weights[range(len(weights)), :, places[:, j]] for j in (0, 1)], -1)",
    "You look up two places, however many a question has. Where does your code fix that number?",
)
wrong(
    "as_many_boxes_as_asked_for",
    LOOKED_UP,
    f'torch.einsum("bht,bnt->bhn", weights, {HOT}).to(weights))',
    "`one_hot` makes one column for each number up to the largest that it sees, and the last box "
    "may not be among the places. Which input says how many boxes there are?",
)
wrong(
    "one_hot_in_float32",
    LOOKED_UP,
    f'torch.einsum("bht,bnt->bhn", weights, {HOT}, weights.shape[-1]).float())',
    "Your one-hot rows have a dtype of their own, and torch does not multiply float32 by float64. "
    "Where could they take their dtype from?",
)
