"""What every worker process needs, imported once in the process that they are forked from.

It may start no thread: a fork has none of its parent's, but it has the locks that they held.
"""

import gc
import os
import tempfile

# It would make a folder of its own for what it compiles, and nothing is compiled here.
os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", tempfile.gettempdir())

from gradekit.untrusted.imports import gc_disabled

with gc_disabled():
    import torch.fx.experimental.symbolic_shapes  # else backward() does, in each worker

    import gradekit.grading.worker
gc.freeze()  # forks copy less

__all__ = ["gradekit", "torch"]
