"""A notebook reads the gradebook, or the journal that it is written from."""

from __future__ import annotations

import pytest

from tests.helpers.attack import assert_unreadable

SECRET = "ada: 12 points"


@pytest.mark.parametrize("name", ["gradebook.db", "results/lab01.jsonl", "results/secret"])
def test_the_gradebook_cannot_be_read(sandbox, unconfined, tmp_path, name):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(SECRET)
    assert_unreadable(sandbox, unconfined, path, SECRET)
