"""``lab grade``: plan, sandbox, judge, journal; on this machine's processes or a cluster's.

May import `feedback`, `build`, `sandbox`, `gradebook`, `exercise` and what is below them. Tested in
tests/gradekit/grading.
"""
