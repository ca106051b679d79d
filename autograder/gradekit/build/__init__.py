"""From a lab's text source to what students open: notebooks, the student's library, the bundle.

LAYERS in docs/draw_architecture.py says what it may import. Tested in tests/gradekit/build.
"""
