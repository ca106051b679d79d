"""From an archive to one notebook with the released cells: whose file is it, what is in it?

LAYERS in docs/draw_architecture.py says what it may import. Tested in tests/gradekit/submissions.
"""
