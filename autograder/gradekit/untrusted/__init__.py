"""The trust boundary: the only code of this project that runs beside student code.

This folder is copied whole into the sandbox, so it imports nothing of gradekit but itself. Tested
in tests/gradekit/untrusted and tests/attacks.
"""
