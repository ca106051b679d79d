"""``python -m gradekit.cli`` is the command ``lab``."""

from gradekit.cli import main

main()
