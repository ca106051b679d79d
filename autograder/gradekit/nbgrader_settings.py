"""The settings in the course's nbgrader_config.py, read without importing nbgrader.

Tested in tests/gradekit/test_nbgrader_settings.py.
"""

from __future__ import annotations

import os
from pathlib import Path

from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from gradekit.course import Course

CONFIG_FILE = "nbgrader_config.py"


def nbgrader_config(course: Course) -> Config:
    """The settings of the course's nbgrader_config.py; empty if there is no such file."""
    return _read(course.root)


def exchange_config(course: Course) -> Config:
    """The same, over the machine's own settings, which say on a JupyterHub where the exchange is.

    nbgrader's commands read them from the same folders, and they, too, prefer the course's file.
    """
    from jupyter_core.paths import jupyter_config_path

    config = Config()
    for folder in reversed(jupyter_config_path()):
        config.merge(_read(Path(folder)))
    config.merge(_read(course.root))
    return config


def _read(folder: Path) -> Config:
    if not (folder / CONFIG_FILE).is_file():
        return Config()
    before = dict(os.environ)  # the file changes it for the kernels that nbgrader itself starts
    try:
        return PyFileConfigLoader(CONFIG_FILE, path=str(folder)).load_config()
    finally:
        os.environ.clear()
        os.environ.update(before)
