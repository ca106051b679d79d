"""Files of small GPTs that come with the library: weights as float16, the tied table once.

Tested in tests/attnlab/models/test_shipped_gpts.py.
"""

from __future__ import annotations

from pathlib import Path

from safetensors.torch import load_file, save_file
from torch import Tensor

from attnlab.gpt import GPT, GPTConfig

_TIED = {"head.weight": "tokens.weight"}  # not in the file: it is the table of tokens


def save_gpt(model: GPT, file: Path, **beside: Tensor) -> None:
    """Write a model's weights.

    Args:
        beside: other tensors to keep in the same file.
    """
    weights = {name: value.half().contiguous() for name, value in model.state_dict().items()}
    save_file({name: value for name, value in weights.items() if name not in _TIED} | beside, file)


def load_gpt(cfg: GPTConfig, file: Path) -> GPT:
    """The model that `save_gpt` has written, in evaluation mode and as float32."""
    model, saved = GPT(cfg), load_file(file)
    names = model.state_dict()
    model.load_state_dict({name: saved[_TIED.get(name, name)].float() for name in names})
    return model.eval()
