"""The sizes at which code fails that is right for usual ones: an axis of 1, equal axes, one more.

A check that draws one size per axis does not see a `.squeeze()` too many, two axes that were
swapped, or code for one rank alone. :func:`special_sizes` lists the sizes that show them, and
:meth:`attnlab.checking.draw.Draw.each_size` asks a question at each of them. Tested in
``test_draw.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

# One axis, or several: a tuple stands for the "..." of a shape, any number of axes.
Size = int | tuple[int, ...]
EQUAL = 3


def special_sizes(
    axes: Mapping[str, Size], may_be_empty: Sequence[str] = ()
) -> Iterator[tuple[str, dict[str, Size]]]:
    """The usual sizes and the special ones, each with a name for people to read.

    The special sizes: each axis has length 1; every axis has; all axes are equally long; the axes
    of a tuple are one more, and one fewer; an axis in `may_be_empty` has length 0.

    Args:
        axes: the usual size of each axis, 2 or more. A tuple stands for any number of axes.
        may_be_empty: axes that may have length 0.

    Raises:
        ValueError: a usual size is below 2, or `may_be_empty` names no axis.
    """
    if any(length < 2 for size in axes.values() for length in _lengths(size)):
        raise ValueError(f"usual sizes are 2 or more, so that 1 is special: {dict(axes)}")
    if unknown := [name for name in may_be_empty if name not in axes]:
        raise ValueError(f"may_be_empty names {unknown[0]!r}; the axes are {', '.join(axes)}")
    yield "usual sizes", dict(axes)
    for name, size in axes.items():
        yield from _one(axes, name, size, 1)
    yield "every axis of length 1", {name: _all(size, 1) for name, size in axes.items()}
    yield "all axes equally long", {name: _all(size, EQUAL) for name, size in axes.items()}
    for name, size in axes.items():
        if isinstance(size, tuple):
            yield _named(axes, name, (_unlike(axes), *size))
            yield _named(axes, name, size[1:])
    for name in may_be_empty:
        yield from _one(axes, name, axes[name], 0)


def _one(
    axes: Mapping[str, Size], name: str, size: Size, length: int
) -> Iterator[tuple[str, dict[str, Size]]]:
    """The sizes with one axis of this length; several if the name stands for several axes."""
    if isinstance(size, int):
        yield _named(axes, name, length)
        return
    for place in range(len(size)):
        yield _named(axes, name, (*size[:place], length, *size[place + 1 :]))


def _named(axes: Mapping[str, Size], name: str, size: Size) -> tuple[str, dict[str, Size]]:
    return f"{name} = {size}", {**axes, name: size}


def _all(size: Size, length: int) -> Size:
    return length if isinstance(size, int) else (length,) * len(size)


def _unlike(axes: Mapping[str, Size]) -> int:
    """The smallest length above 1 that no axis has."""
    taken = {length for size in axes.values() for length in _lengths(size)}
    return next(length for length in range(2, len(taken) + 3) if length not in taken)


def _lengths(size: Size) -> tuple[int, ...]:
    return (size,) if isinstance(size, int) else size
