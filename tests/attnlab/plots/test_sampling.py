"""The figure of the filters: its data."""

from __future__ import annotations

from attnlab import plots
from attnlab.sampling import sample
from attnlab.speculative import accept


def test_shares_are_those_of_the_students_draws() -> None:
    drawn = plots.sampling.filters(sample)
    kept = {name: int((shares > 0).sum()) for name, shares in drawn.data.items()}
    assert kept["nearly certain, top_k=4"] == kept["many possible tokens, top_k=4"] == 4
    assert kept["nearly certain, top_p=0.9"] == 2
    assert kept["many possible tokens, top_p=0.9"] == 10
    assert all(abs(float(shares.sum()) - 1) < 1e-9 for shares in drawn.data.values())


def test_speculation_draws_from_the_large_model() -> None:
    drawn = plots.sampling.speculation(accept)
    gap = (drawn.data["written"] - drawn.data["large model"]).abs().max()
    assert float(gap) < 0.05
    same, other = drawn.data["the same model"], drawn.data["another one"]
    assert same.tolist() == [2, 3, 4, 5, 6, 7]
    assert bool((other[1:] < same[1:] - 0.5).all())


def test_no_picture_without_the_step() -> None:
    def blank(*args: object, **named: object) -> None:
        raise NotImplementedError

    assert plots.sampling.filters(blank).missing
