"""Attention Labs: the reference code of the course, its data, its plots and its checks.

A module at this level is reference code on one topic, and it is what students read and write. The
packages contain the rest: checking, notebook, models, data and plots. Each module at this level
is tested in ``tests/attnlab/test_<module>.py``.
"""

from attnlab.notebook.check import check
from attnlab.notebook.submit import submit

__all__ = ["__version__", "check", "submit"]

__version__ = "0.1.0"
