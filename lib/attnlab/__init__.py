"""Attention Labs: the reference code of the course, its data, its plots and its checks."""

from attnlab.check import check
from attnlab.submit import submit

__all__ = ["check", "submit"]
