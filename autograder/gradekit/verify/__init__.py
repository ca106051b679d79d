"""``lab verify``: the proof that the checks catch every known mistake and reject no right answer.

May import `exercise` and the process pool of `grading`. Tested in tests/gradekit/verify.
"""
