"""From results to nbgrader's gradebook: its address, one submission's entry, manual marks.

LAYERS in docs/draw_architecture.py says what it may import. Tested in tests/gradekit/gradebook.
"""
