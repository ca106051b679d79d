"""Grades a trained model by its performance: saved weights, on data that only the staff have.

The student's file holds numbers, which the judge puts into the staff's own model. So no code of the
student runs here, and an untrained model earns nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn

from attnlab.checking.judges import Difference, event_difference
from attnlab.checking.weights import (
    MissingWeightError,
    give_weights,
    rename_weights,
    unwrapped,
)

Weights = Mapping[str, Tensor]
# From weights and the seed of the hidden data to a score; raises MissingWeightError if they are
# another model's.
Score = Callable[[Weights, int], float]
NOT_OF_THE_MODEL = (
    "The saved weights are not those of this model, or some of them are not finite numbers."
)


@dataclass(frozen=True)
class Band:
    """Scores from `low` to `high`, both included: the share of the points that they earn.

    Attributes:
        advice: for students who earn less than all points.
    """

    low: float
    high: float
    share: float
    advice: str = ""


@dataclass(frozen=True)
class ScoreBands:
    """A judge of saved weights, for hidden checks.

    Attributes:
        score: the performance of the weights.
        bands: best first; the first that contains the score counts. Outside all bands, a score
            earns nothing.
        otherwise: advice for a score in no band.
        seed: of the hidden data; made from the course's secret.
    """

    score: Score
    bands: tuple[Band, ...]
    otherwise: str = "Has the training run to its end, and do its losses fall?"
    seed: int = 0
    _scores: dict[str, float | None] = field(default_factory=dict, compare=False, repr=False)

    def with_seed(self, seed: int) -> ScoreBands:
        """The same judge for other hidden data."""
        return replace(self, seed=seed)

    def compare(self, expected: Any, seen: Any) -> Difference | None:
        """None where the score is in a band that earns everything."""
        wrong = _not_weights(seen)
        if wrong is not None:
            return wrong
        score = self._score_of(seen)
        if score is None:
            return Difference("outcome", detail=NOT_OF_THE_MODEL)
        band = self._band(score)
        if band is not None and band.share == 1:
            return None
        return Difference("outcome", seen=score, detail=band.advice if band else self.otherwise)

    def credit(self, expected: Any, seen: Any) -> float:
        """The share of the points that the score's band earns."""
        score = None if _not_weights(seen) else self._score_of(seen)
        band = None if score is None else self._band(score)
        return band.share if band else 0.0

    def _band(self, score: float) -> Band | None:
        return next((band for band in self.bands if band.low <= score <= band.high), None)

    def _score_of(self, weights: Weights) -> float | None:
        weights = unwrapped(weights)
        key = f"{self.seed} {_digest(weights)}"
        if key not in self._scores:
            try:
                with torch.no_grad():
                    self._scores[key] = float(self.score(weights, self.seed))
            except MissingWeightError:
                self._scores[key] = None
        return self._scores[key]


def fill(model: nn.Module, weights: Weights) -> None:
    """Give a model of the staff's the saved weights, by the names of its parameters.

    Raises:
        MissingWeightError: a weight is missing, or is not a finite number.
    """
    known = rename_weights(weights, dict(model.named_parameters()))
    if not all(torch.isfinite(tensor).all() for tensor in known.values()):
        raise MissingWeightError("a weight is NaN or infinite")
    give_weights(model, known)


def _not_weights(seen: Any) -> Difference | None:
    found = event_difference(None, seen, ())
    if found is not None:
        return found
    tensors = list(seen.values()) if isinstance(seen, dict) else []
    if all(isinstance(tensor, Tensor) for tensor in tensors) and (
        any(tensor.is_floating_point() for tensor in tensors)
    ):
        return None
    return Difference("outcome", detail="The file does not hold a model's weights.")


def _digest(weights: Weights) -> str:
    found = hashlib.blake2b(digest_size=16)
    for name, tensor in weights.items():
        found.update(f"{name}{tuple(tensor.shape)}{tensor.dtype}".encode())
        found.update(tensor.reshape(-1).contiguous().view(torch.uint8).numpy().tobytes())
    return found.hexdigest()
