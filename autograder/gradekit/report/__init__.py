"""What the class understood: one page for a lab, and what one student handed in.

Reads the journal, the gradebook and the graded notebooks; never runs or grades anything: what `lab
show --inputs` prints comes from `grading`, as values. LAYERS in docs/draw_architecture.py says what
it may import. Tested in tests/gradekit/report.
"""
