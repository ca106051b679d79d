"""``lab grade``: plan, sandbox, judge, journal; on this machine's processes or a cluster's.

LAYERS in docs/draw_architecture.py says what it may import. Tested in tests/gradekit/grading.
"""
