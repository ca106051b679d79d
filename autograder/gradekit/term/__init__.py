"""The end of the term: one table over all labs, from scores to one result for each student.

LAYERS in docs/draw_architecture.py says what it may import. Tested in tests/gradekit/term.
"""
