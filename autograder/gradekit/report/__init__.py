"""What the class understood: one page for a lab, and what one student handed in.

Reads the journal, the gradebook and the graded notebooks; never runs or grades anything: what
`lab show --inputs` prints comes from `grading`, as values. May import `grading`, `feedback`,
`export` and what is below them. Tested in tests/gradekit/report.
"""
