"""The figure of the filters: its data."""

from __future__ import annotations

from attnlab import plots
from attnlab.sampling import sample


def test_shares_are_those_of_the_students_draws() -> None:
    drawn = plots.sampling.filters(sample)
    kept = {name: int((shares > 0).sum()) for name, shares in drawn.data.items()}
    assert kept["nearly certain, top_k=4"] == kept["many possible tokens, top_k=4"] == 4
    assert kept["nearly certain, top_p=0.9"] == 2
    assert kept["many possible tokens, top_p=0.9"] == 10
    assert all(abs(float(shares.sum()) - 1) < 1e-9 for shares in drawn.data.values())


def test_no_picture_without_the_step() -> None:
    def blank(*args: object, **named: object) -> None:
        raise NotImplementedError

    assert plots.sampling.filters(blank).missing
