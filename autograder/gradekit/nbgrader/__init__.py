"""nbgrader's own commands with the sandbox and the judge, at nbgrader's own extension points.

May import `grading` and everything below it; the package nbgrader itself is imported here, in
`build` and in `gradebook`. Tested in tests/gradekit/nbgrader.
"""
