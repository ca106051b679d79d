"""From a lab's text source to what students open: notebooks, the student's library, the bundle.

May import `exercise` and what is below it. Tested in tests/gradekit/build.
"""
