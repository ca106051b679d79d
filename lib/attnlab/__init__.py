"""Attention Labs: the reference code of the course, its data, its plots and its checks."""

from attnlab.notebook.check import check
from attnlab.notebook.submit import submit

__all__ = ["check", "submit"]
