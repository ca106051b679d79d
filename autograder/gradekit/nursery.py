"""What every worker process needs, imported once in the process that they are forked from.

It may start no thread: a fork has none of its parent's, but it has the locks that they held.
"""

import torch._dynamo  # torch imports it, for a second, at the first function that it may compile

import gradekit.work

__all__ = ["gradekit", "torch"]
