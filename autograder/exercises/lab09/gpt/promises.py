"""Which checks hold each sentence of the task."""

from __future__ import annotations

from . import exercise

exercise.promises({})
