"""Finds out which step is not written yet, when a cell has reached its placeholder.

Tested in ``tests/attnlab/notebook/test_saved.py`` and ``tests/attnlab/plots/test_canvas.py``.
"""

from __future__ import annotations

import traceback


def unwritten_step(error: NotImplementedError) -> str:
    """The name of the function or method whose placeholder raised `error`.

    Raises:
        NotImplementedError: `error` itself, if it comes from torch and not from a placeholder.
    """
    if str(error):
        raise error
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    return frame.f_code.co_qualname.rpartition("<locals>.")[2]
