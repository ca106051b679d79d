"""What code can reach in the library, read from the library's own files."""

from __future__ import annotations

import pytest

from gradekit.build.needs import needed_by

SOFTMAX = ("attnlab.softmax", "softmax")
ATTENTION = ("attnlab.attention", "scaled_dot_product_attention")


@pytest.mark.parametrize(
    "text",
    [
        "from attnlab.softmax import softmax\nsoftmax(x)",
        "from attnlab.softmax import softmax as s\ns(x)",
        "import attnlab.softmax\nattnlab.softmax.softmax(x)",
        "import attnlab.softmax as a\na.softmax(x)",
        "from attnlab import softmax\nsoftmax.softmax(x)",
        "def later():\n    from attnlab.softmax import softmax\n    return softmax(x)",
    ],
)
def test_every_way_to_import_is_followed(text: str) -> None:
    assert SOFTMAX in needed_by([text])


def test_an_import_alone_needs_nothing() -> None:
    assert SOFTMAX not in needed_by(["from attnlab.softmax import softmax, entropy\nentropy(x)"])


def test_what_a_definition_uses_is_needed_too() -> None:
    found = needed_by(["from attnlab.multihead import MultiHeadAttention as M\nM(4, 2)"])
    assert {("attnlab.multihead", "MultiHeadAttention"), ATTENTION} <= found
    assert ATTENTION in needed_by([], [("attnlab.multihead", "MultiHeadAttention")])


def test_a_figure_is_found_through_the_packages_of_the_library() -> None:
    found = needed_by(["from attnlab import plots\nplots.heatmap.attention_map(x)"])
    assert ("attnlab.plots.heatmap", "attention_map") in found
    assert ("attnlab.plots.positions", "rope_scores") not in found


def test_other_packages_and_names_that_do_not_exist_need_nothing() -> None:
    text = "import torch\nfrom attnlab.softmax import nothing\ntorch.softmax(nothing(x))"
    assert not {name for _, name in needed_by([text])} & {"softmax", "nothing"}
