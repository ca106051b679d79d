"""What one submission may use of the machine that grades it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

MIB = 2**20
GIB = 2**30
# The kernel's walls stand a little behind what a submission is told it may use, so that there is
# room to say a word, and to start the process that answers questions.
SPARE_SECONDS = 5
SPARE_PROCESSES = 4


class LimitKind(StrEnum):
    """A limit that was met, as the untrusted side names it; the words are the trusted side's."""

    TIME = "time"
    CPU = "cpu"
    MEMORY = "memory"
    FILE = "file"
    FOLDER = "folder"
    FILES = "files"
    PROCESSES = "processes"
    OPEN_FILES = "open files"
    OUTPUT = "output"
    ANSWER = "answer"


@dataclass(frozen=True)
class ExerciseLimits:
    """Limits of the questions about one exercise.

    Attributes:
        seconds: wall time.
        cpu_seconds: CPU time.
        memory_bytes: memory of the process that answers, what the cells left in it included.
        answer_bytes: what its probes may return, all together.
    """

    seconds: float
    cpu_seconds: int
    memory_bytes: int
    answer_bytes: int


@dataclass(frozen=True)
class Limits:
    """Limits of one submission; each has a default that a torch lab does not meet by accident.

    Attributes:
        cell_seconds: wall time of one cell.
        submission_seconds: wall time of the whole submission, its probes and second tries included.
        cpu_seconds: CPU time of any one of its processes; a little more, and of all together.
        probe_seconds: wall time of one exercise's probes.
        memory_bytes: memory of all its processes together.
        output_bytes: what its cells may print and draw, all together.
        cell_output_bytes: what one cell may print and draw.
        answer_bytes: what its probes may return, all together.
        file_bytes: the size of one file.
        scratch_bytes: the size of all its files (which live in memory).
        processes: processes and threads at a time.
        open_files: files that one process holds open.
    """

    cell_seconds: float = 60.0
    submission_seconds: float = 300.0
    cpu_seconds: int = 300
    probe_seconds: float = 30.0
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
        """Those of an exercise that has none of its own."""
        return ExerciseLimits(
            float(self.probe_seconds), self.cpu_seconds, self.memory_bytes, self.answer_bytes
        )
