"""Which step is still to be written, where a cell stumbled over its placeholder."""

from __future__ import annotations

import traceback


def unwritten_step(error: NotImplementedError) -> str:
    """The name of the function or method whose placeholder raised `error`.

    Raises:
        NotImplementedError: `error` itself, where it is no placeholder's but torch's own.
    """
    if str(error):
        raise error
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    return frame.f_code.co_qualname.rpartition("<locals>.")[2]
