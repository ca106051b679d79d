"""From results to nbgrader's gradebook: which one it is, what one submission means to it, marks by hand.

May import `submissions` and `results`. Tested in tests/gradekit/gradebook.
"""
