"""Who is in the course: ``students.csv``, and the lists of course systems that it is made from.

May import `files` and `errors`. Tested in tests/gradekit/roster.
"""
