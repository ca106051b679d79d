"""shift_matrix: one matrix that moves every position's encoding by the same distance."""

from __future__ import annotations

import math

import torch

from attnlab.checking.dtypes import under_default_dtype
from attnlab.checking.judges import Close
from attnlab.checking.observation import dtype_of
from attnlab.positions import shift_matrix, sinusoidal_pe
from gradekit.exercise import Exercise

exercise = Exercise(
    shift_matrix,
    uses=[sinusoidal_pe],
)


@exercise.check(points=1)
def shape_and_dtype(lab, draw):
    """Is a (d, d) tensor of torch's default dtype."""
    matrix = lab.shift_matrix(3, 8)
    wide = under_default_dtype(torch.float64, lab.shift_matrix, 3, 8)
    return {
        "shape": list(matrix.shape),
        "dtype": dtype_of(matrix),
        "dtype, if the default is float64": dtype_of(wide),
    }


@exercise.check(points=3, judge=Close(atol=1e-5))
def three_positions(lab, draw):
    """One matrix for k = 3 takes PE(p + 3) to PE(p) at three positions p."""
    matrix, pe = lab.shift_matrix(3, 8), lab.sinusoidal_pe(60, 8)
    return {
        **{f"from {p + 3} to {p}": pe[p + 3] @ matrix.T for p in draw.integers(0, 50, 3).tolist()},
        "the matrix": matrix,
    }


@exercise.check(points=1.5, judge=Close(atol=1e-6))
def other_distances(lab, draw):
    """k may be 0 or negative."""
    return {f"k = {k}": lab.shift_matrix(k, 6) for k in (0, -3, -int(draw.integers(4, 9)))}


@exercise.check(points=2, hidden=True, judge=Close(atol=1e-6))
def other_sizes(lab, draw):
    """Is right for any even number of columns, two included."""
    k = int(draw.integers(2, 30))
    return {f"d = {d}": lab.shift_matrix(k, d) for d in (2, 4, 10, 64)}


@exercise.check(points=1, hidden=True, judge=Close(atol=1e-6))
def given_bases(lab, draw):
    """Uses the given base."""
    return {f"base {base}": lab.shift_matrix(4, 6, base) for base in (1000.0, 50.0)}


@exercise.check(points=1, hidden=True)
def precise(lab, draw):
    """The angles are computed in float64, so a shift by 5000 is exact in float64, too."""
    k = int(draw.integers(4000, 5000))
    narrow, wide = (
        lab.shift_matrix(k, 16),
        under_default_dtype(torch.float64, lab.shift_matrix, k, 16),
    )
    angle = k / 10000.0 ** (torch.arange(0, 16, 2).double() / 16)
    blocks = torch.stack([angle.cos(), -angle.sin(), angle.sin(), angle.cos()], -1)
    right = torch.block_diag(*blocks.unflatten(-1, (2, 2)))
    # Rounded angles are wrong in as many ways as there are orders of operations.
    return {
        "float64, right to 1e-9": bool((wide - right).abs().max() < 1e-9),
        "float64, right to 1e-2": bool((wide - right).abs().max() < 1e-2),
        "float32, right to 1e-6": bool((narrow - right).abs().max() < 1e-6),
    }


@exercise.check(points=0.5, hidden=True)
def odd_d(lab, draw):
    """Raises ValueError if d is odd."""
    return {f"d = {d}": draw.raises(lab.shift_matrix, 3, d) for d in (1, 7, 8)}


exercise.promises(
    {
        "takes the encoding of any position p + k back to that of position p": "three_positions",
        "M PE(p + k) = PE(p) for every p": "three_positions",
        "it is `pe[p + k] @ M.T == pe[p]`": "three_positions",
        "M turns each pair of columns (2i, 2i + 1) by the angle of k in that pair": (
            "three_positions other_distances other_sizes"
        ),
        "k: how many positions back; may be 0 or negative (then forward).": "other_distances",
        "d: the number of columns, even.": "other_sizes",
        "base: as in `sinusoidal_pe`.": "given_bases",
        "(d, d), of torch's default dtype.": "shape_and_dtype",
        "The angles are computed in float64 and rounded at the end.": "precise",
        "ValueError: d is odd": "odd_d",
    },
    explained=["(Many texts define the other direction, from p to p + k.)"],
)


@exercise.also_right
def block_by_block(k, d, base=10000.0):
    if d % 2:
        raise ValueError("d must be even")
    blocks = []
    for i in range(d // 2):
        angle = k / base ** (2 * i / d)
        c, s = math.cos(angle), math.sin(angle)
        blocks.append(torch.tensor([[c, -s], [s, c]], dtype=torch.float64))
    return torch.block_diag(*blocks).to(torch.get_default_dtype())


@exercise.also_right
def entry_by_entry(k, d, base=10000.0):
    if d % 2 != 0:
        raise ValueError(f"odd d: {d}")
    m = torch.zeros(d, d, dtype=torch.float64)
    for j in range(0, d, 2):
        angle = torch.tensor(k / base ** (j / d), dtype=torch.float64)
        m[j, j] = m[j + 1, j + 1] = torch.cos(angle)
        m[j, j + 1], m[j + 1, j] = torch.sin(-angle), torch.sin(angle)
    return m.type(torch.get_default_dtype())


@exercise.also_right
def as_an_exponential(k, d, base=10000.0):
    if d % 2:
        raise ValueError("d must be even")
    generator = torch.zeros(d, d, dtype=torch.float64)
    for i in range(d // 2):
        rate = base ** (-2 * i / d)
        generator[2 * i, 2 * i + 1], generator[2 * i + 1, 2 * i] = -rate, rate
    one = torch.linalg.matrix_exp(generator)
    return torch.linalg.matrix_power(one, k).to(torch.get_default_dtype())


wrong = exercise.edits(block_by_block)

wrong(
    "the_other_direction",
    "[[c, -s], [s, c]]",
    "[[c, s], [-s, c]]",
    "Your matrix turns the other way: it takes position p to p + k (or is meant for row vectors). "
    "Which of the two encodings stands on the right of the equals sign in the task?",
)
wrong(
    "not_a_rotation",
    "[[c, -s], [s, c]]",
    "[[c, s], [s, c]]",
    "Your blocks are symmetric, so they change the length of a vector. What are sin(a - b) and "
    "cos(a - b), and which signs do they have?",
)
wrong(
    "sine_and_cosine_swapped",
    "[[c, -s], [s, c]]",
    "[[s, -c], [c, s]]",
    "For k = 0 your matrix should leave every vector as it is. What are the sine and the cosine "
    "of 0?",
)
wrong(
    "half_split",
    "return torch.block_diag(*blocks).to(torch.get_default_dtype())",
    "order = [*range(0, d, 2), *range(1, d, 2)]\n"
    "    whole = torch.block_diag(*blocks)[order][:, order]\n"
    "    return whole.to(torch.get_default_dtype())",
    "Your blocks connect column i with column i + d/2. In the encoding of 6.1, where is the cosine "
    "that belongs to the sine in column 0?",
)
wrong(
    "one_frequency",
    "2 * i / d",
    "0 * i / d",
    "All your blocks turn by the same angle. Each pair of columns is another wave: how far does it "
    "turn in k positions?",
)
wrong(
    "two_forgotten",
    "2 * i / d",
    "i / d",
    "From the second block on, your angles are too large. What is the exponent of pair i in 6.1?",
)
wrong(
    "base_ignored",
    "k / base **",
    "k / 10000.0 **",
    "The argument `base` has no effect. Where is it in your angles?",
)
wrong(
    "forward_only",
    "angle = k /",
    "angle = abs(k) /",
    "A negative k gives the same matrix as a positive one. In which direction should it turn?",
)
wrong(
    "one_step_only",
    "angle = k /",
    "angle = (k != 0) /",
    "Your matrix moves by one position, whatever k is. Where is k in your angles?",
)
wrong.several(
    "odd_accepted",
    {"if d % 2:": "if d < 2:"},
    "An odd d does not raise an error. What should happen with a sine that has no cosine?",
)
wrong(
    "angles_in_float32",
    "math.cos(angle), math.sin(angle)",
    "*(f(torch.tensor(angle, dtype=torch.float32)) for f in (torch.cos, torch.sin)),",
    "For a shift by thousands of positions, your matrix is less exact than the task asks, as if "
    "its angles were float32: few digits of such an angle are left after its whole turns. In which "
    "dtype should angles be computed?",
)
wrong(
    "odd_asserted",
    'raise ValueError("d must be even")',
    "raise AssertionError",
    "An odd d raises an AssertionError in your code. Which error does the task ask for? (`assert` "
    "is for what cannot happen; a caller's mistake can.)",
)
wrong(
    "blocks_in_a_stack",
    "torch.block_diag(*blocks)",
    "torch.stack(blocks)",
    "You return the blocks one behind the other, (d/2, 2, 2). How do they become one matrix that "
    "takes a whole row of the encoding?",
)
wrong.several(
    "one_step_repeated",
    {
        "angle = k /": "angle = 1 /",
        "torch.block_diag(*blocks).to(torch.get_default_dtype())": (
            "torch.linalg.matrix_power(torch.block_diag(*blocks).to(torch.get_default_dtype()), "
            "max(k, 0))"
        ),
    },
    "You repeat the step by one position k times, so nothing happens for a negative k, and the "
    "rounding errors of thousands of products add up. Where could k enter the angle at once?",
)
wrong(
    "always_float64",
    ".to(torch.get_default_dtype())",
    "",
    "Your matrix is float64 in any case. Which dtype does the task ask for?",
)
wrong(
    "always_float32",
    ".to(torch.get_default_dtype())",
    ".float()",
    "Your matrix is float32 in any case. Which dtype does the task ask for?",
)


@exercise.mistake(
    "Your matrix fits the positions from which you solved for it, but it is not the rotation: with "
    "few positions or many columns, many matrices fit. Which entries must be 0 according to the "
    "task?"
)
def solved_for(k, d, base=10000.0):
    if d % 2:
        raise ValueError("d must be even")
    pe = sinusoidal_pe(abs(k) + d, d, base).double()
    after, before = (pe[k:], pe[: len(pe) - k]) if k >= 0 else (pe[:k], pe[-k:])
    return torch.linalg.lstsq(after, before, driver="gelsd").solution.T.to(
        torch.get_default_dtype()
    )
