"""``lab verify``: the proof that the checks catch every known mistake and reject no right answer.

LAYERS in docs/draw_architecture.py says what it may import. Tested in tests/gradekit/verify.
"""
