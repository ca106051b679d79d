"""What tests of figures share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture
def no_windows() -> Iterator[None]:
    """Figures are drawn without a screen and closed afterwards."""
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    mpl.use("Agg")
    yield
    plt.close("all")
