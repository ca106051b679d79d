"""A notebook changes torch's settings for the whole process: dtypes, seeds, threads, gradients."""

from __future__ import annotations

import pytest

from tests.helpers.attack import said
from tests.helpers.two_graders import BLANK, RIGHT, earned

SETTINGS = {
    "dtype": "torch.set_default_dtype(torch.float16)",
    "device": "torch.set_default_device('meta')",
    "gradients": "torch.set_grad_enabled(False); torch.inference_mode(True).__enter__()",
    "autocast": "torch.autocast('cpu').__enter__()",
    "seed": "torch.manual_seed(0); torch.manual_seed = torch.seed = lambda *args: None",
    "deterministic": "torch.use_deterministic_algorithms(True)",
    "threads": "torch.set_num_threads(16); torch.ones(500, 500) @ torch.ones(500, 500)",
    "anomalies": "torch.autograd.set_detect_anomaly(True)",
    "warnings": "import warnings; warnings.simplefilter('error')",
    "recursion": "import sys; sys.setrecursionlimit(10_000)",
    "collector": "import gc; gc.disable(); gc.set_threshold(1)",
    "locale": "import os; os.environ.clear(); os.environ['LC_ALL'] = 'tr_TR.UTF-8'",
}
LOOK = """
import gc, os, sys, torch, warnings
print(torch.get_default_dtype(), torch.get_default_device(), torch.is_grad_enabled(),
      torch.is_autocast_enabled("cpu"), torch.manual_seed(3) is not None,
      torch.are_deterministic_algorithms_enabled(), torch.get_num_threads(),
      torch.is_anomaly_enabled(), len(warnings.filters), sys.getrecursionlimit(), gc.isenabled(),
      os.environ.get('LC_ALL'))
"""


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_end_with_the_notebook(sandbox, name):
    change, before = f"import torch\n{SETTINGS[name]}", said(sandbox, LOOK)
    assert said(sandbox, f"{change}\n{LOOK}") != before, "the change does not even work"
    assert earned(sandbox, BLANK, change) == 0
    assert earned(sandbox, RIGHT, change) == 2, "settings cost a right answer nothing"
    assert said(sandbox, LOOK) == before


def test_what_is_patched_in_memory_is_not_there_for_the_next(sandbox):
    said(sandbox, "import torch, builtins\ntorch.allclose = builtins.answer = 42")
    assert "AttributeError" in said(sandbox, "import torch, builtins\nbuiltins.answer")
    assert "built-in" in said(sandbox, "import torch\nprint(torch.allclose)")
