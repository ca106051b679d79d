"""The ``lab`` command. It is thin: one verb, one call, and what it needs is imported when it runs.

LAYERS in docs/draw_architecture.py says what it may import. Tested in tests/gradekit/cli.
"""

from gradekit.cli.main import app, main

__all__ = ["app", "main"]
