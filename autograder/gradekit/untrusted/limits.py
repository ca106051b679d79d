"""The resources that one submission may use of the machine that grades it.

Read by both sides. Tested in tests/gradekit/sandbox/test_limits.py, which exceeds each of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

MIB = 2**20
GIB = 2**30
# The kernel's hard limits are a little higher than a submission's own limits. That leaves enough to
# report which limit was exceeded, and to start the process that answers probes.
SPARE_SECONDS = 5
SPARE_PROCESSES = 4
SPARE_FILES = 64
# Signals of one user that may wait; the kernel keeps a record for each.
WAITING_SIGNALS = 256


class LimitKind(StrEnum):
    """An exceeded limit, as the untrusted side names it; the trusted side puts it into words."""

    TIME = "time"
    CPU = "cpu"
    MEMORY = "memory"
    FILE_SIZE = "file size"
    TOTAL_FILE_SIZE = "total file size"
    FILE_OR_TOTAL_SIZE = "file or total size"
    PROCESSES = "processes"
    OPEN_FILES = "open files"
    OUTPUT = "output"
    ANSWER = "answer"


@dataclass(frozen=True)
class ExerciseLimits:
    """Limits of the probes of one exercise.

    Attributes:
        seconds: wall time.
        cpu_seconds: CPU time.
        memory_bytes: memory of the process that answers, including the cells' own objects.
        answer_bytes: the return values of its probes, all together.
    """

    seconds: float
    cpu_seconds: int
    memory_bytes: int
    answer_bytes: int


@dataclass(frozen=True)
class Limits:
    """Limits of one submission; a torch lab does not exceed the defaults by accident.

    Attributes:
        cell_seconds: wall time of one cell.
        submission_seconds: wall time of the whole submission, its probes and second tries included.
        cpu_seconds: CPU time of any one of its processes; with SPARE_SECONDS more, of all together.
        exercise_seconds: wall time of one exercise's probes.
        memory_bytes: memory of all its processes together.
        output_bytes: the text and pictures of its cells, all together.
        cell_output_bytes: the text and pictures of one cell.
        answer_bytes: the return values of its probes, all together.
        file_bytes: the size of one file.
        scratch_bytes: the size of all its files (which are in memory).
        processes: processes and threads at a time.
        open_files: files that one process has open.
    """

    cell_seconds: float = 60.0
    submission_seconds: float = 300.0
    cpu_seconds: int = 300
    exercise_seconds: float = 30.0
    memory_bytes: int = 4 * GIB
    output_bytes: int = 2 * MIB
    cell_output_bytes: int = MIB // 2
    answer_bytes: int = 64 * MIB
    file_bytes: int = 64 * MIB
    scratch_bytes: int = 256 * MIB
    processes: int = 64
    open_files: int = 256

    @property
    def of_an_exercise(self) -> ExerciseLimits:
        """The limits of an exercise that has none of its own."""
        return ExerciseLimits(
            float(self.exercise_seconds), self.cpu_seconds, self.memory_bytes, self.answer_bytes
        )
