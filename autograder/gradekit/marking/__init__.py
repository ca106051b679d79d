"""``lab mark``: a local page on which TAs mark free-text answers without seeing names.

It may import everything below grading. Tested in tests/gradekit/marking and
tests/browser/test_mark.py.
"""
