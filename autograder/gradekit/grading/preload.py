"""Imported once, by the process that all workers are forked from: everything a worker needs.

It must not start a thread: a fork has none of its parent's threads, but it has the locks that they
held. Tested in tests/gradekit/grading/test_pool.py.
"""

import gc
import os
import tempfile

# Else torch makes a folder for compiled code, and nothing is compiled here.
os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", tempfile.gettempdir())

from gradekit.untrusted.imports import gc_disabled

with gc_disabled():
    import torch.fx.experimental.symbolic_shapes  # else backward() imports it, in each worker

    import gradekit.grading.grader_cache
    import gradekit.grading.worker
gc.freeze()  # so forks copy less

__all__ = ["gradekit", "torch"]
