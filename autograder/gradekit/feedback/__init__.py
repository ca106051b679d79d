"""What a student gets back: the graded notebook and one page, with nothing in it that can run.

May import `gradebook` and what is below it. Tested in tests/gradekit/feedback.
"""
