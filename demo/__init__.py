"""A class of students, each with a submission and the points that it should earn; and `make demo`.

Tested in tests/gradekit/grading/test_demo_class.py.
"""
