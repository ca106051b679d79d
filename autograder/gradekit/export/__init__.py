"""Marks out: final scores as tables, and into the files of Canvas and Moodle.

May import `gradebook`, `late`, `results`, `submissions`, `course`, `roster`, `files` and `errors`.
Tested in tests/gradekit/export.
"""
