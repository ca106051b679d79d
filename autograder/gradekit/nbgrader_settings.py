"""The settings in the course's nbgrader_config.py, read without importing nbgrader.

Tested in tests/gradekit/test_nbgrader_settings.py.
"""

from __future__ import annotations

import os

from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from gradekit.course import Course

CONFIG_FILE = "nbgrader_config.py"


def nbgrader_config(course: Course) -> Config:
    """The settings of the course's nbgrader_config.py; empty if there is no such file."""
    if not (course.root / CONFIG_FILE).is_file():
        return Config()
    before = dict(os.environ)  # the file changes it for the kernels that nbgrader itself starts
    try:
        return PyFileConfigLoader(CONFIG_FILE, path=str(course.root)).load_config()
    finally:
        os.environ.clear()
        os.environ.update(before)
