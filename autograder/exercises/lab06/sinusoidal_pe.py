"""sinusoidal_pe: a vector of waves for each position."""

from __future__ import annotations

import math

import torch
from torch import nn  # noqa: F401 - a mistake uses it

from attnlab.checking.dtypes import under_default_dtype
from attnlab.checking.judges import Close
from attnlab.checking.observation import dtype_of
from attnlab.positions import sinusoidal_pe
from gradekit.exercise import Exercise

exercise = Exercise(
    sinusoidal_pe,
    equivalent={
        "sinusoidal_pe: `torch.arange(n, dtype=torch.float64)` → `torch.arange(n)` in "
        "`position = torch.arange(n, dtype=torch.float64)[:, None]`": (
            "whole numbers become float64 in the division"
        ),
    },
)


@exercise.check(points=1.5)
def shape_and_dtype(lab, draw):
    """Is a (n, d) tensor of torch's default dtype, without a gradient."""
    pe = lab.sinusoidal_pe(5, 8)
    return {
        "shape": list(pe.shape),
        "dtype": dtype_of(pe),
        "wants a gradient": pe.requires_grad,
    }


@exercise.check(points=4, judge=Close(atol=1e-6))
def first_positions(lab, draw):
    """The first rows, with 8 columns: from the second pair of columns on, the waves get longer."""
    return lab.sinusoidal_pe(int(draw.integers(4, 12)), 8)


@exercise.check(points=1, judge=Close(atol=1e-5))
def properties(lab, draw):
    """For even d: every row has the length √(d/2); equal distances give equal dot products."""
    n, d = int(draw.integers(9, 14)), 2 * int(draw.integers(3, 9))
    pe = lab.sinusoidal_pe(n, d)
    return {"squared lengths of the rows": pe.square().sum(-1), "dot products": pe @ pe.T}


@exercise.check(points=1.5, judge=Close(atol=1e-6))
def given_bases(lab, draw):
    """Uses the given base; 10000 is only the default."""
    n = int(draw.integers(3, 9))
    return {f"base {base}": lab.sinusoidal_pe(n, 6, base) for base in (1000.0, 50.0, 10000.0)}


@exercise.check(points=2.5, hidden=True, judge=Close(atol=1e-6))
def other_sizes(lab, draw):
    """Is right for one position, for one column, and for any odd or even number of columns."""
    found = draw.each_size(lambda n, d: lab.sinusoidal_pe(n, d), n=6, d=10)
    return {**found, **{f"d = {d}": lab.sinusoidal_pe(4, d) for d in (2, 5, 7, 12, 33)}}


@exercise.check(points=1.5, hidden=True, judge=Close(atol=1e-6))
def far_positions(lab, draw):
    """Is right to 1e-6 at position 5000, too."""
    pe, pair = lab.sinusoidal_pe(5001, 64), torch.arange(64) // 2
    off = {}
    for p in (257, 2049, 4097, 5000):
        angle = p / 10000.0 ** (2 * pair.double() / 64)
        right = torch.where(torch.arange(64) % 2 == 0, angle.sin(), angle.cos())
        off[p] = (pe[p] - right).abs().max()
    # Rounded angles are wrong in as many ways as there are orders of operations, so only whether
    # they are near is looked at.
    near = {f"position {p}, right to 1e-2": bool(most < 1e-2) for p, most in off.items()}
    return {**near, "position 5000, right to 1e-6": bool(off[5000] < 1e-6)}


@exercise.check(points=2, hidden=True)
def other_default_dtypes(lab, draw):
    """If torch's default dtype is float64, so is the result, and it is that precise."""
    n = int(draw.integers(40, 60))
    pe = under_default_dtype(torch.float64, lab.sinusoidal_pe, n, 10)
    half = under_default_dtype(torch.float16, lab.sinusoidal_pe, 3, 4)
    return {
        "dtype": dtype_of(pe),
        "values": pe,
        "dtype, float16": dtype_of(half),
    }


exercise.promises(
    {
        "Columns come in pairs. Pair i holds the sine (column 2i) and the cosine (column 2i + 1)": (
            "first_positions"
        ),
        "same angle, position / base^(2i/d)": "first_positions properties",
        "If d is odd, the last column is a sine without its cosine.": "other_sizes",
        "the number of positions, counted from 0": "first_positions other_sizes",
        "d: the number of columns.": "other_sizes",
        "base: the slowest wave is almost 2π · base positions long.": "given_bases",
        "(n, d), of torch's default dtype, and without a gradient.": (
            "shape_and_dtype other_default_dtypes"
        ),
        "computed in float64 and the result is rounded once": "far_positions other_default_dtypes",
        "right to 1e-6 at position 5000, too": "far_positions",
    },
    explained=["a vector of sines and cosines for each position"],
)


@exercise.also_right
def column_by_column(n, d, base=10000.0):
    position = torch.arange(n, dtype=torch.float64)
    pe = torch.zeros(n, d, dtype=torch.float64)
    for column in range(d):
        pair = column // 2
        angle = position / base ** (2 * pair / d)
        pe[:, column] = angle.cos() if column % 2 else angle.sin()
    return pe.to(torch.get_default_dtype())


@exercise.also_right
def with_exponentials(n, d, base=10000.0):
    pe = torch.zeros(n, d, dtype=torch.float64)
    position = torch.arange(0, n, dtype=torch.float64).unsqueeze(1)
    factor = torch.exp(torch.arange(0, d, 2, dtype=torch.float64) * -(math.log(base) / d))
    pe[:, 0::2] = torch.sin(position * factor)
    pe[:, 1::2] = torch.cos(position * factor)[:, : d // 2]
    return pe.to(dtype=torch.get_default_dtype())


@exercise.also_right
def stacked(n, d, base=10000.0):
    pairs = (d + 1) // 2
    frequency = base ** (-2 * torch.arange(pairs).double() / d)
    angle = torch.outer(torch.arange(n).double(), frequency)
    pe = torch.stack([angle.sin(), angle.cos()], dim=-1).reshape(n, 2 * pairs)
    return pe[:, :d].to(torch.get_default_dtype())


@exercise.also_right
def with_loops(n, d, base=10000.0):
    rows = [
        [(math.cos if c % 2 else math.sin)(p / base ** ((c - c % 2) / d)) for c in range(d)]
        for p in range(n)
    ]
    return torch.tensor(rows).reshape(n, d)


wrong = exercise.edits(column_by_column)

wrong(
    "base_1000",
    "base=10000.0",
    "base=1000.0",
    "Columns 0 and 1 are right and the later ones turn too fast. Those two columns are the same "
    "for every base: which number do the lectures divide by, and which does the slide of one of "
    "them?",
)
wrong(
    "base_ignored",
    "position / base **",
    "position / 10000.0 **",
    "The argument `base` has no effect. Where is it in your formula?",
)
wrong(
    "twice_too_fast",
    "(2 * pair / d)",
    "(4 * pair / d)",
    "From column 2 on, your waves get longer too soon: the exponent is twice as large as it should "
    "be. Does your i count columns, or pairs of columns?",
)
wrong(
    "two_forgotten",
    "(2 * pair / d)",
    "(pair / d)",
    "From column 2 on, your waves get longer too slowly: the exponent is half as large as it "
    "should be. What is it in the last pair of columns, and what does the formula say?",
)
wrong(
    "columns_counted_as_pairs",
    "(2 * pair / d)",
    "(2 * column / d)",
    "You double the number of the column, so each column has an exponent of its own. In the "
    "formula, i is doubled: does it count columns, or pairs of columns?",
)
wrong(
    "divided_as_whole_numbers",
    "(2 * pair / d)",
    "(2 * pair // d)",
    "All your waves turn equally fast: `//` cuts a fraction down to a whole number. Which numbers "
    "are 2i/d?",
)
wrong(
    "first_row_of_zeros",
    "    return pe.to",
    "    pe[:1] = 0\n    return pe.to",
    "Your first row is all zeros, as in code that keeps this row for padding. What are the sine "
    "and the cosine of 0?",
)
wrong(
    "positions_as_shares",
    "position / base",
    "position / n / base",
    "You divide the positions by their number, so a position's row depends on how many there are. "
    "What is `position` in the formula?",
)
wrong(
    "rows_instead_of_columns",
    "pe[:, column] = angle.cos() if column % 2 else angle.sin()",
    "pe[:, column] = torch.where(position % 2 == 1, angle.cos(), angle.sin())",
    "In your table, every second *row* holds the cosines. Which axis of (n, d) does `[0::2]` cut, "
    "and which does `[:, 0::2]` cut?",
)
wrong(
    "numpy_array",
    "return pe.to(torch.get_default_dtype())",
    "return pe.numpy()",
    "You return an array of NumPy. What does the task ask for, and which function of torch makes "
    "one from the other?",
)
wrong(
    "exponent_of_its_own_column",
    "(2 * pair / d)",
    "(column / d)",
    "Your cosines have another exponent than the sines next to them, so the rows have different "
    "lengths. Which two columns share one angle?",
)
wrong.several(
    "half_split",
    {"column // 2": "column % ((d + 1) // 2)", "if column % 2": "if column >= (d + 1) // 2"},
    "Your sines are all on the left and the cosines on the right. Some libraries do this, but what "
    "stands next to the first sine in the task?",
)
wrong(
    "sines_and_cosines_swapped",
    "angle.cos() if column % 2 else angle.sin()",
    "angle.sin() if column % 2 else angle.cos()",
    "Sines and cosines are swapped. What are the sine and the cosine of 0, and which of them comes "
    "first in row 0?",
)
wrong(
    "from_one",
    "arange(n, ",
    "arange(1, n + 1, ",
    "Your first row belongs to position 1. From which number are positions counted?",
)
wrong(
    "in_degrees",
    "position / base",
    "torch.pi / 180 * position / base",
    "Your angles are turned from degrees into radians, but they are radians already. How far does "
    "the first wave turn from one position to the next?",
)
wrong(
    "whole_turns",
    "position / base",
    "2 * torch.pi * position / base",
    "Your angles have an extra factor of 2π. What is the sine at position 1 in column 0, according "
    "to the formula?",
)
wrong(
    "multiplied",
    "position / base **",
    "position * base **",
    "You multiply positions by the power of the base, so later columns turn faster. Which columns "
    "should have the longest waves?",
)
wrong(
    "last_pair_at_the_base",
    "(2 * pair / d)",
    "(2 * pair / max(d - 2, 1))",
    "Your exponents go from 0 to 1, so that the last pair reaches the base itself. What does the "
    "formula divide 2i by?",
)
wrong(
    "half_precision_positions",
    "torch.arange(n, dtype=torch.float64)",
    "torch.arange(n).to(torch.float16).double()",
    "Large positions are rounded: in half precision, 2049 becomes 2048, so different positions get "
    "the same row. In which dtype do you count them?",
)
wrong(
    "brain_float_positions",
    "torch.arange(n, dtype=torch.float64)",
    "torch.arange(n).to(torch.bfloat16).double()",
    "Positions from 257 on are rounded: bfloat16 has eight significant bits. In which dtype do you "
    "count them?",
)
wrong(
    "angles_in_float32",
    "position / base ** (2 * pair / d)",
    "(position / base ** (2 * pair / d)).float()",
    "Near position 5000 your numbers are off in the fourth digit: an angle of 5000 radians in "
    "float32 has few digits left after whole turns. In which dtype do you compute angles?",
)
wrong(
    "always_float64",
    "pe.to(torch.get_default_dtype())",
    "pe",
    "Your result is float64 in any case. Which dtype does the task ask for, so that adding it to "
    "word vectors keeps their dtype?",
)
wrong(
    "always_float32",
    "pe.to(torch.get_default_dtype())",
    "pe.float()",
    "Your result is float32 in any case. Which dtype does the task ask for, and how can you find "
    "out what it is at the moment?",
)
wrong(
    "a_parameter",
    "return pe.to(torch.get_default_dtype())",
    "return nn.Parameter(pe.to(torch.get_default_dtype()))",
    "Your result wants a gradient, as if these numbers should be learned. Lecture W says how many "
    "parameters this encoding has: how many?",
)
wrong(
    "columns_first",
    "get_default_dtype())",
    "get_default_dtype()).T",
    "Your result has the shape (d, n). Which axis are the positions on, according to the task?",
)
wrong(
    "squeezed",
    "get_default_dtype())",
    "get_default_dtype()).squeeze()",
    "Axes of length 1 are missing from your result. What is its shape for one position?",
)

wrong.several(
    "powers_in_float32",
    {"2 * pair / d": "torch.tensor(2 * pair / d)", "position / base": "position.float() / base"},
    "Near position 5000 your numbers are off in the fourth digit: you count and divide in float32. "
    "In which dtype are the angles computed, according to the task?",
)


@exercise.mistake(
    "Your sines are all on the left, the cosines on the right, and your exponents go from 0 to 1. "
    "Some libraries do both. Which columns are a pair in the task, and what is 2i divided by?"
)
def two_halves_up_to_the_base(n, d, base=10000.0):
    half = d // 2
    frequency = base ** (-torch.arange(half, dtype=torch.float64) / max(half - 1, 1))
    angle = torch.arange(n, dtype=torch.float64)[:, None] * frequency
    pe = torch.cat([angle.sin(), angle.cos(), torch.zeros(n, d % 2)], 1)
    return pe.to(torch.get_default_dtype())


wrong(
    "logarithm_to_base_ten",
    "base ** (2 * pair / d)",
    "math.exp(math.log10(base) * 2 * pair / d)",
    "Your waves get longer too slowly: you take a logarithm to base 10 and undo it with `exp`. "
    "Which logarithm does `exp` undo?",
)
wrong(
    "an_axis_for_the_batch",
    "get_default_dtype())",
    "get_default_dtype())[None]",
    "Your result has an axis of length 1 in front. Some modules keep their table so, but which "
    "shape does the task ask for?",
)


@exercise.mistake(
    "With an odd number of columns, there is one cosine fewer than there are sines. How many "
    "angles does each of your two halves need?"
)
def odd_crashes(n, d, base=10000.0):
    position = torch.arange(n, dtype=torch.float64)[:, None]
    angle = position / base ** (torch.arange(0, d, 2, dtype=torch.float64) / d)
    pe = torch.zeros(n, d, dtype=torch.float64)
    pe[:, 0::2], pe[:, 1::2] = angle.sin(), angle.cos()
    return pe.to(torch.get_default_dtype())


@exercise.mistake(
    "With an odd number of columns, your last column is left empty or missing. What does the task "
    "say is in it?"
)
def odd_column_left_empty(n, d, base=10000.0):
    pe = sinusoidal_pe(n, d, base)
    if d % 2:
        pe[:, -1] = 0.0
    return pe


@exercise.mistake(
    "If d is odd, your exponents divide by another number than d. What does the formula divide "
    "2i by?"
)
def odd_exponents_of_the_next_even(n, d, base=10000.0):
    return sinusoidal_pe(n, d + d % 2, base)[:, :d]
