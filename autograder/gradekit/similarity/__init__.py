"""What two hand-ins have in common that few others of the class have.

It compares the text of code and free-text answers; it runs nothing of a student's. LAYERS in
docs/draw_architecture.py says what it may import. Tested in tests/gradekit/similarity.
"""
