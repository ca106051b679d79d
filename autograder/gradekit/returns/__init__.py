"""Feedback pages back to students: through Moodle, Canvas or ILIAS, by mail, or in folders.

May import `feedback`, `submissions`, `results`, `course`, `roster`, `files` and `errors`. Tested in
tests/gradekit/returns.
"""
