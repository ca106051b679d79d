"""From results to nbgrader's gradebook: its address, one submission's entry, manual marks.

May import `submissions`, `results`, `untrusted` (imports without garbage collection) and the files
of gradekit itself. Tested in tests/gradekit/gradebook.
"""
