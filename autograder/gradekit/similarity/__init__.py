"""What two hand-ins have in common that few others of the class have.

It compares the text of code and free-text answers; it runs nothing of a student's. It may import
everything below grading. Tested in tests/gradekit/similarity.
"""
