"""What one submission may use of the machine that grades it."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 2**20
GIB = 2**30


@dataclass(frozen=True)
class Limits:
    """Limits of one submission; each has a default that a torch lab does not meet by accident.

    Attributes:
        cell_seconds: wall time of one cell.
        submission_seconds: wall time of the whole submission, its probes and second tries included.
        cpu_seconds: CPU time of any one of its processes.
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
