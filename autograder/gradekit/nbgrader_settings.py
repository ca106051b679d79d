"""The settings in the course's nbgrader_config.py, read without importing nbgrader."""

from __future__ import annotations

import os

from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from gradekit.course import Course

CONFIG_FILE = "nbgrader_config.py"


def nbgrader_config(course: Course) -> Config:
    """What the course's nbgrader_config.py sets; nothing where there is none."""
    if not (course.root / CONFIG_FILE).is_file():
        return Config()
    before = dict(os.environ)  # it changes this for the kernels that nbgrader itself starts
    try:
        return PyFileConfigLoader(CONFIG_FILE, path=str(course.root)).load_config()
    finally:
        os.environ.clear()
        os.environ.update(before)
