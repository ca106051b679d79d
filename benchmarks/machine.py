"""The machine that a benchmark ran on, in one line."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import torch


def machine() -> str:
    """Its cores, memory and system, and the versions of Python and torch."""
    names = [
        line.partition(":")[2].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{len(names)} cores ({names[0] if names else platform.machine()}), {memory:.0f} GiB, "
        f"Linux {platform.release().partition('-')[0]}, Python {platform.python_version()}, "
        f"torch {torch.__version__}"
    )
