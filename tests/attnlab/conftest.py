"""What tests of figures share, and tests of the pretended GPU."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from attnlab.pretend_gpu import PretendGPU


@pytest.fixture
def no_windows() -> Iterator[None]:
    """Figures are drawn without a screen and closed afterwards."""
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    mpl.use("Agg")
    yield
    plt.close("all")


@pytest.fixture(
    params=["pretended", pytest.param("real", marks=[pytest.mark.gpu, pytest.mark.needs("gpu")])]
)
def anywhere(request: pytest.FixtureRequest) -> Iterator[PretendGPU | None]:
    """A pretended GPU, or this machine's."""
    if request.param == "real":
        yield None
    else:
        with PretendGPU() as gpu:
            yield gpu
