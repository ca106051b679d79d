"""The trusted half of the sandbox: starts it, talks to it, believes nothing that it says.

May import `untrusted` (its limits and message formats), files.py and errors.py. Tested in
tests/gradekit/sandbox and tests/attacks.
"""
