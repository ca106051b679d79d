"""Files that are small on the disk and large in memory, or slow to look at."""

from __future__ import annotations

import pytest

from gradekit.errors import NotebookError
from gradekit.submissions.notebook import MOST_METADATA, MOST_PARTS, checked_exercise, open_notebook
from tests.helpers.cpu_time import takes_less_than
from tests.helpers.submissions import as_bytes, done, markdown


def test_a_notebook_of_too_many_lists_is_not_read() -> None:
    few = as_bytes(done(), extra=[[]] * (MOST_PARTS // 2))
    assert open_notebook(few)[0].cells
    with pytest.raises(NotebookError, match="lists and objects"):
        open_notebook(as_bytes(done(), extra=[[]] * MOST_PARTS))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-8-sig"])
def test_brackets_in_texts_are_not_lists(encoding: str) -> None:
    raw = as_bytes(done(lambda cells: cells.append(markdown('[{"\\' * MOST_PARTS))))
    assert open_notebook(raw.decode().encode(encoding))[0].cells[-1].source.startswith("[{")


def test_metadata_beyond_what_editors_write_is_left_out() -> None:
    raw = as_bytes(done(), metadata={"a": {"kept": 1}, "b": [[]] * 10 * MOST_METADATA})
    metadata = open_notebook(raw)[0].metadata
    assert metadata.a.kept == 1
    assert len(metadata.b) <= MOST_METADATA


def test_a_text_that_only_looks_like_a_check_is_rejected_quickly() -> None:
    def read() -> None:
        for _ in range(500):
            assert checked_exercise("check(" + "-" * 1980 + "1)") is None

    assert takes_less_than(0.5, read)
    assert checked_exercise("# mine (really)\ncheck( 'softmax', )  # go") == "softmax"
