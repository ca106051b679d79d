"""The ``lab`` command. It is thin: one verb, one call, and what it needs is imported when it runs.

May import all other packages. Tested in tests/gradekit/cli.
"""

from gradekit.cli.main import app, main

__all__ = ["app", "main"]
