"""How the loss falls with the number of parameters: a power law above a floor.

Source: Scaling Laws for Neural Language Models (Kaplan et al. 2020), section 3; Training
Compute-Optimal Large Language Models (Hoffmann et al. 2022), section 3.3, which has the floor;
lecture G.
"""

from __future__ import annotations

from torch import Tensor, nn


def num_parameters(model: nn.Module) -> int:
    """N: how many numbers of a model are trained.

    Embeddings and positions count, a table that is used twice counts once, and buffers do not
    count; nor do parameters that take no gradient.

    Args:
        model: it stays unchanged.
    """
    # blank: a sum
    return sum(p.numel() for p in model.parameters() if p.requires_grad)
    # end blank


def power_law(n: Tensor, A: float, alpha: float, floor: float) -> Tensor:  # noqa: N803 - as in the formula
    """The loss that a power law predicts: floor + A · n^(-alpha).

    Args:
        n: (K,), numbers of parameters, whole or not.
        A: how far above the floor the loss is at n = 1.
        alpha: how fast it falls.
        floor: the loss of an infinitely large model.

    Returns:
        (K,), float64.
    """
    # blank: the formula
    return floor + A * n.double() ** -alpha
    # end blank


def fit_power_law(n: Tensor, loss: Tensor, floor: float) -> tuple[float, float]:
    """Fit A and alpha, so that floor + A · n^(-alpha) is close to the losses.

    log(loss - floor) is a straight line in log n. Its height and slope are those with the least sum
    of squared distances between logarithms. On points of an exact power law, A and alpha are exact.

    Args:
        n: (K,), numbers of parameters, whole or not, above 0; at least two different ones.
        loss: (K,), the losses; it may have any floating dtype, and the fit is made in float64.
        floor: the loss that no model can go below, such as the entropy of the source.

    Returns:
        A and alpha, two Python numbers; alpha is above 0 if the loss falls.

    Raises:
        ValueError: a loss is not above the floor; or there are fewer than two different n.
    """
    # blank: a line through logarithms
    above = loss.double() - floor  # (K,)
    if not (above > 0).all():
        raise ValueError("every loss must be above the floor")
    x, y = n.double().log(), above.log()  # (K,)
    if len(x.unique()) < 2:
        raise ValueError("a line needs two different numbers of parameters")
    deviation = x - x.mean()
    slope = (deviation * y).sum() / deviation.square().sum()
    height = y.mean() - slope * x.mean()
    return float(height.exp()), float(-slope)
    # end blank
