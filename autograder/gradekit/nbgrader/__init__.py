"""What makes nbgrader's own commands use the sandbox and the judge, at its own extension points.

May import `grading` and what is below it; the package nbgrader itself is imported here, in `build`
and in `gradebook`. Tested in tests/gradekit/nbgrader.
"""
