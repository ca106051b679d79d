"""A class of any size: the demo's students over and over, no two hand-ins alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import cycle, islice

from demo.hand_in import HandIn
from demo.notebook import Notebook, code


def crowd(hand_ins: Sequence[HandIn], count: int, notebook: str) -> Iterator[HandIn]:
    """`count` students who hand in what these do, in turns.

    Args:
        notebook: the notebook's file name. Each gets a cell of its own at its end, so that no
            result stands for two; a file that is no notebook stays as it is.
    """
    for number, hand_in in enumerate(islice(cycle(_mixed(hand_ins)), count)):
        yield replace(_unlike(hand_in, notebook, number), student=f"student{number:04}")


def _mixed(hand_ins: Sequence[HandIn]) -> list[HandIn]:
    """In steps, so that any first few are a fair sample: as they come, mistakes stand together."""
    step = next(step for step in (7, 5, 3, 2, 1) if len(hand_ins) % step or step == 1)
    return [hand_ins[place * step % len(hand_ins)] for place in range(len(hand_ins))]


def _unlike(hand_in: HandIn, name: str, number: int) -> HandIn:
    try:
        notebook = Notebook.parse(hand_in.files[name])
    except (KeyError, ValueError, TypeError):
        return hand_in
    own = code(f"# hand-in {number}", f"number-{number}")
    return replace(hand_in, files={**hand_in.files, name: notebook.appended(own).bytes()})
