"""From an archive to one notebook with the released cells: whose file is it, what is in it?

May import `results` and `untrusted` (the form of a cell). Tested in tests/gradekit/submissions.
"""
