"""Feedback pages back to students: through Moodle, Canvas or ILIAS, by mail, or in folders.

LAYERS in docs/draw_architecture.py says what it may import. Tested in tests/gradekit/returns.
"""
