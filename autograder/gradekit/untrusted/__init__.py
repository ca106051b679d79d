"""The trust boundary: the only code of gradekit that runs beside student code.

This folder is copied whole into the sandbox, so it imports nothing of gradekit but itself. The
students' library, attnlab, is there, too. Tested in tests/gradekit/untrusted and tests/attacks.
"""
