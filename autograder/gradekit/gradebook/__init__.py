"""From results to nbgrader's gradebook: its address, one submission's entry, marks by hand.

May import `submissions` and `results`. Tested in tests/gradekit/gradebook.
"""
