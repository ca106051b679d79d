"""The end of the term: one table over all labs, from scores to one result for each student.

May import `export`, `late`, `results`, `course`, `roster` and `errors`. Tested in
tests/gradekit/term.
"""
