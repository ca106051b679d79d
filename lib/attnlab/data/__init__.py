"""The labs' data, one set per file, made from seeds or written down; no network is needed.

The package imports nothing else of attnlab. ``datasets/README.md`` has a card for each set. Its
tests are in ``tests/attnlab/data``, one file per module.
"""
