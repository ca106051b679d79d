"""nbgrader's own commands with the sandbox and the judge, at nbgrader's own extension points.

LAYERS in docs/draw_architecture.py says what it may import. The package nbgrader itself is imported
here, in `build` and in `gradebook`. Tested in tests/gradekit/nbgrader.
"""
