"""Train with functions of your own: ``python -m attnlab.train numbers --parts my_parts.py``.

The file defines some of the functions that lab 8 builds; each takes the place of the Trainer's.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import torch
from torch import nn

from attnlab.optimizers import BETAS, EPS, decay_groups
from attnlab.settings import SettingError
from attnlab.training import Parts

# Names in the file, and the fields of `Parts` that they are.
FIELDS = {
    "pick_device": "pick_device",
    "move": "move",
    "accumulate": "accumulate",
    "scaler_for": "scaler",
    "update": "update",
    "bucket_batches": "bucket",
}


def parts_of(path: Path) -> Parts:
    """The functions of a file, and the Trainer's own for those that it does not define.

    Args:
        path: a file of Python. It is run. It may define the functions of :data:`FIELDS`, and a
            class `Adam` (which is called with groups of parameters, lr, betas, eps, and
            decoupled_weight_decay=True).

    Raises:
        SettingError: the file is not there or fails, or it defines none of these names.
    """
    names = _names(path)
    found: dict[str, Any] = {field: names[name] for name, field in FIELDS.items() if name in names}
    if "Adam" in names:
        found["optimizer"] = _optimizer(names["Adam"])
    if not found:
        raise SettingError(f"{path} defines none of Adam, {', '.join(FIELDS)}")
    return Parts(**found)


def _names(path: Path) -> dict[str, Any]:
    spec = spec_from_file_location(path.stem, path)
    if not path.is_file() or spec is None or spec.loader is None:
        raise SettingError(f"{path} is not a file of Python; give another one with --parts")
    module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # whatever the file's own code raises
        raise SettingError(f"{path} fails with {type(error).__name__}: {error}") from error
    return vars(module)


def _optimizer(
    adam: Callable[..., torch.optim.Optimizer],
) -> Callable[[nn.Module, float, float], torch.optim.Optimizer]:
    def make(model: nn.Module, lr: float, weight_decay: float) -> torch.optim.Optimizer:
        groups = decay_groups(model, weight_decay)
        return adam(groups, lr=lr, betas=BETAS, eps=EPS, decoupled_weight_decay=True)

    return make
