"""The trust boundary: the only code of ours that runs beside student code.

This folder is copied whole into the sandbox and imports nothing of gradekit but itself. Tested in
tests/gradekit/untrusted and tests/attacks.
"""
