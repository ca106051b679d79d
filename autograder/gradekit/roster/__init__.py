"""Who is in the course: ``students.csv``, and the lists of course systems that it is made from.

LAYERS in docs/draw_architecture.py says what it may import. Tested in tests/gradekit/roster.
"""
