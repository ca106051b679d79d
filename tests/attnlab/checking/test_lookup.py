"""The file with an exercise's checks is found, or one sentence says why not."""

from attnlab.checking.lookup import find_exercise, find_lab
from attnlab.checking.visible import FILE_NAME
from tests.helpers.small_lab import write_checks


def test_the_nearest_file_comes_first(tmp_path):
    near, far = tmp_path / "near", tmp_path / "far"
    near.mkdir()
    far.mkdir()
    write_checks(far)
    assert find_exercise("softmax", [near, far]).exercise.name == "softmax"
    (near / FILE_NAME).write_bytes(b"damaged")
    said = find_exercise("softmax", [near, far])
    assert said.startswith(f"{near / FILE_NAME} is not a checks file, or is damaged: ")
    assert said.endswith(".")


def test_a_given_file_is_the_only_one(tmp_path):
    write_checks(tmp_path)
    said = find_exercise("softmax", [tmp_path], given=str(tmp_path / "other"))
    assert said == f"The checks file {tmp_path / 'other'} cannot be read: does it exist, " + (
        "and may you read it?"
    )


def test_a_name_that_is_not_text_gets_an_example(tmp_path):
    assert find_exercise(len, [tmp_path]) == (
        'check() needs the name of an exercise as text: check("softmax").'
    )


def test_the_nearest_lab(tmp_path, monkeypatch):
    monkeypatch.setattr("attnlab.checking.lookup._checkout", lambda: None)
    assert find_lab([tmp_path]).startswith(f"There is no {FILE_NAME} next to this notebook")
    write_checks(tmp_path)
    assert find_lab([tmp_path / "empty", tmp_path]).lab == "lab01"
    (tmp_path / FILE_NAME).write_bytes(b"damaged")
    assert "is not a checks file, or is damaged" in find_lab([tmp_path])
