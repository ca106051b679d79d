"""What a student gets back: the graded notebook and one page, with nothing in it that can run.

LAYERS in docs/draw_architecture.py says what it may import. Tested in tests/gradekit/feedback.
"""
