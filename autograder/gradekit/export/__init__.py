"""Marks out: final scores as tables, and into the files of Canvas and Moodle.

LAYERS in docs/draw_architecture.py says what it may import. Tested in tests/gradekit/export.
"""
