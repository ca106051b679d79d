"""The trusted half of the sandbox: it starts the untrusted half and believes nothing that it sends.

LAYERS in docs/draw_architecture.py says what it may import. Tested in tests/gradekit/sandbox and
tests/attacks.
"""
