"""Functions that run in the student's notebook: check, submit, train and save, review answers.

The package may import :mod:`attnlab.checking` and nothing else of attnlab. Its tests are in
``tests/attnlab/notebook``, one file per module, unless a docstring names another file.
"""
