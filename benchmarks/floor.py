"""The floor: fork, `exec` the cells, answer the probes; confine, judge and store nothing.

    python floor.py WORK.json JOBS

One process that has imported everything forks once for each submission, JOBS at a time. The fork
does only what every grader must do: it runs the cells of the notebook (figures are described, not
drawn, as in this project's sandbox) and answers the questions.
"""

from __future__ import annotations

import gc
import io
import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any

from matplotlib import pyplot

from gradekit.untrusted import memory
from gradekit.untrusted.forkserver import warm_shell
from gradekit.untrusted.imports import gc_disabled
from gradekit.untrusted.messages import Probe
from gradekit.untrusted.runner import answer_probe


def main(path: str, jobs: int) -> int:
    """Do the work in the file `path`; returns the number of submissions whose process failed."""
    with gc_disabled():
        warm_shell(trains=False)
    pyplot.switch_backend("agg")  # not the inline backend, which handles figures after each cell
    # As this project's own server does, so that forks copy less.
    gc.freeze()
    memory.collapse()
    failed = running = 0
    for work in json.loads(Path(path).read_text()):
        if running == jobs:
            failed += os.wait()[1] != 0
            running -= 1
        if os.fork() == 0:
            _run(work)
        running += 1
    return failed + sum(os.wait()[1] != 0 for _ in range(running))


def _run(work: dict[str, Any]) -> None:
    """Run one submission in its fork; never returns."""
    status = 1
    try:
        sys.stdout = sys.stderr = io.StringIO()
        names: dict[str, Any] = {"__name__": "__main__"}
        for cell in work["cells"]:
            _run_cell(cell, names)
        for values in work["probes"]:
            probe = Probe.from_json(values)
            earlier = dict(names)
            exec(probe.uses, names)
            answer_probe(probe, names)
            names = earlier
        status = 0
    except BaseException:
        traceback.print_exc(file=sys.__stderr__)
    finally:
        os._exit(status)


def _run_cell(source: str, names: dict[str, Any]) -> None:
    try:
        exec(compile(source, "<cell>", "exec"), names)
    except Exception:
        traceback.format_exc()  # as in a notebook, the next cell is run anyway
    pyplot.close("all")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
