"""Results on disk: records, append-only and keyed by content, in the course's results folder.

May import nothing of gradekit but course.py, files.py and errors.py. Tested in
tests/gradekit/results.
"""
