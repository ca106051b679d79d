"""Small models that labs train or examine, one per file.

A model receives the student's layers and functions as arguments, so a notebook trains the student's
own code. The package's tests are in ``tests/attnlab/models``, one file per module.
"""
