"""Results on disk: records, append-only and keyed by content, in the course's results folder.

LAYERS in docs/draw_architecture.py says what it may import. Tested in tests/gradekit/results.
"""
