"""The picture of two tensors that differ: small, for any shape and dtype, always the same bytes."""

import io

import matplotlib as mpl
import matplotlib.axes
import pytest
import torch
from PIL import Image

from attnlab.checking.judges import Close
from attnlab.checking.observation import Raised
from attnlab.checking.picture import picture


def drawn(expected, seen):
    return picture(Close().compare(expected, seen))


def test_the_caption_and_the_description():
    seen = torch.zeros(3, 5, 7)
    seen[1, 2, 3] = 0.25
    words = drawn(torch.zeros(3, 5, 7), seen)
    assert words.caption == "slice [1] of a tensor of shape (3, 5, 7)"
    assert words.alt == (
        "Heat maps of the expected tensor, yours and their difference "
        "(slice [1] of a tensor of shape (3, 5, 7)): here 1 of 35 entries differ, by up to 0.25."
    )


@pytest.mark.parametrize(
    "shape", [(2,), (11,), (3, 5), (2, 3, 4), (2, 2, 3, 4), (100, 200), (1, 500)]
)
@pytest.mark.parametrize("fill", [0.5, float("nan"), float("inf")])
def test_any_shape_is_a_small_picture(shape, fill):
    seen = torch.zeros(shape)
    seen[-1] = fill
    words = drawn(torch.zeros(shape), seen)
    with Image.open(io.BytesIO(words.png)) as image:
        assert image.width == pytest.approx(2 * words.width, abs=1), "sharp on any screen"
        assert words.width <= 800, "numbers are not scaled down by the page"
        assert image.height <= 2 * 420
    assert len(words.png) < 80_000


@pytest.mark.parametrize("dtype", [torch.bool, torch.int64, torch.float16, torch.bfloat16])
def test_any_dtype(dtype):
    assert drawn(torch.tensor([0, 1, 1]).to(dtype), torch.tensor([0, 1, 0]).to(dtype)) is not None


@pytest.fixture
def written(monkeypatch):
    """The texts that are written into the cells of a picture."""
    texts = []
    write = mpl.axes.Axes.text
    monkeypatch.setattr(
        mpl.axes.Axes,
        "text",
        lambda axes, x, y, s, **o: texts.append(s) or write(axes, x, y, s, **o),
    )
    return texts


def test_masks_are_written_as_true_and_false_and_crossed_where_they_differ(written):
    mask = torch.tensor([[True, False]])
    words = drawn(mask, torch.tensor([[True, True]]))
    assert written == ["True", "False", "True", "True", "✗"]
    assert words.alt.endswith("here 1 of 2 entries differ.")
    written.clear()
    drawn(mask, torch.tensor([[True, False], [False, False]]))
    assert written == ["True", "False", "True", "False", "False", "False"]
    written.clear()
    drawn(mask, torch.ones(1, 2))
    assert written == ["True", "False", "1.00", "1.00", "0", "1.00"]


def test_whole_numbers_have_no_decimals(written):
    drawn(torch.tensor([3, -12]), torch.tensor([3, 20000]))
    assert written == ["3", "−12", "3", "2e4", "0", "2e4"]


def test_tensors_of_nan_alone():
    nan = float("nan")
    assert drawn(torch.tensor([1.0, 2.0]), torch.tensor([nan, nan])) is not None
    assert drawn(torch.tensor([nan, nan]), torch.tensor([nan, 0.0])) is not None


def test_two_shapes_are_drawn_side_by_side():
    words = drawn(torch.zeros(3, 5), torch.zeros(5))
    assert "expected shape (3, 5), yours (5,)" in words.alt


@pytest.mark.parametrize(
    ("expected", "seen"),
    [
        (1.0, 2.0),
        (torch.tensor(1.0), torch.tensor(2.0)),
        (torch.zeros(2), Raised("KeyError")),
        (torch.zeros(2), None),
        (torch.zeros(2, 3), torch.zeros(0, 3)),
        (torch.zeros(2), torch.tensor(0.0)),
    ],
)
def test_nothing_to_draw(expected, seen):
    assert drawn(expected, seen) is None


def test_equal_pictures_have_equal_bytes_and_pyplot_stays_unchanged():
    import matplotlib.pyplot as plt

    before = plt.get_fignums(), mpl.get_backend()
    assert drawn(torch.zeros(3), torch.ones(3)) == drawn(torch.zeros(3), torch.ones(3))
    assert (plt.get_fignums(), mpl.get_backend()) == before
