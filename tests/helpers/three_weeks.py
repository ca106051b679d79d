"""A course of three labs, a week each, on functions of attnlab; the third has no exercise yet."""

from __future__ import annotations

from pathlib import Path

from gradekit.course import Course, load_course

COURSE = """\
[course]
name = "Three weeks"

[late]
last_day = 0

[[lab]]
id = "lab01"
title = "One"
release = 2026-09-14T08:00:00
due = 2026-09-20T23:59:00

[[lab]]
id = "lab02"
title = "Two"
release = 2026-09-21T08:00:00
due = 2026-09-27T23:59:00

[[lab]]
id = "lab03"
title = "Not yet written"
release = 2026-09-28T08:00:00
due = 2026-10-04T23:59:00
"""

EXERCISE = '''\
"""{name}: a step."""
from {module} import {name}
from gradekit.exercise import Exercise

exercise = Exercise({name})


@exercise.check(points=1)
def shape_of_it(lab, draw):
    """Has a shape."""
    return lab.{name}


@exercise.check(points=1, hidden=True)
def nobody_knows(lab, draw):
    """Looks at a secret."""
    return lab.{name}(draw.normal(7, 11))
'''


def write_three_weeks(root: Path) -> Course:
    """Write the course's files into `root` and load it."""
    (root / "course.toml").write_text(COURSE)
    (root / "solutions").mkdir()
    steps = {
        "lab01": [("attnlab.softmax", "softmax"), ("attnlab.softmax", "logsumexp")],
        "lab02": [("attnlab.softmax", "entropy"), ("attnlab.attention", "basic_self_attention")],
    }
    for lab, names in steps.items():
        folder = root / "autograder" / "exercises" / lab
        folder.mkdir(parents=True)
        cells = ""
        for module, name in names:
            (folder / f"{name}.py").write_text(EXERCISE.format(module=module, name=name))
            cells += f'# %% exercise="{name}"\nfrom {module} import {name}\n'
            cells += f'\n# %%\ncheck("{name}")\n\n'
        (root / "solutions" / f"{lab}_x.py").write_text(cells)
    return load_course(root)
