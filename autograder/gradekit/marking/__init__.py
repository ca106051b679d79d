"""``lab mark``: a local page on which TAs mark free-text answers without seeing names.

LAYERS in docs/draw_architecture.py says what it may import. Tested in tests/gradekit/marking and
tests/browser/test_mark.py.
"""
