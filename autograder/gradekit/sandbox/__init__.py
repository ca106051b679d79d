"""The trusted half of the sandbox: it starts the untrusted half and believes nothing that it sends.

May import `untrusted` (its limits and message formats), files.py and errors.py. Tested in
tests/gradekit/sandbox and tests/attacks.
"""
