"""What a test earns that asks nothing and looks only at how long the code of a version is.

docs/trust.md states the largest share, that of lab 1.
"""

from __future__ import annotations

from types import CodeType

import pytest

from gradekit.exercise.variants import Variants
from tests.helpers.our_labs import LABS

MOST = 0.85


def size(code: CodeType) -> int:
    return len(code.co_code) + sum(size(c) for c in code.co_consts if isinstance(c, CodeType))


@pytest.mark.parametrize("lab", ["lab01", "lab02", "lab03", "lab05"])
def test_the_length_of_a_version_says_little(lab):
    variants = Variants(LABS[lab])
    for exercise in LABS[lab].exercises:
        for check in filter(lambda check: check.versions_of, exercise.checks):
            (probe,) = [p for p in variants.probes(exercise, 0) if p.check == check.name]
            sizes = []
            for text in probe.versions:
                space = {"__name__": __name__}
                exec(text, space)
                sizes.append(size(space["version"].__code__))
            judge = variants.prepared_checks(exercise, 0)[exercise.checks.index(check)].judge
            best = max(judge.credit(None, [s >= least for s in sizes]) for least in set(sizes))
            assert best <= MOST
