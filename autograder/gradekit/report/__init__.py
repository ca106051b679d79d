"""What the class understood: one page for a lab, and what one student handed in.

Reads the journal, the gradebook and the graded notebooks; never runs or grades anything. May import
`feedback`, `export` and what is below them. Tested in tests/gradekit/report.
"""
