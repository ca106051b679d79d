"""Whose file is it, and what is in it: from an archive to one notebook on the released cells.

May import `results` and `untrusted` (the form of a cell). Tested in tests/gradekit/submissions.
"""
