"""Checkpoints: written whole or not at all, read without running code, averaged name by name."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import pytest
import torch
from torch import nn

from attnlab import checkpoints
from attnlab.checkpoints import (
    MODEL,
    STATE,
    TRAINING,
    Checkpoint,
    CheckpointError,
    average_checkpoints,
    kept,
    load_weights,
    read,
    write,
    write_weights,
)


def made(step: int) -> Checkpoint:
    weights = {"a": torch.full((3, 2), float(step)), "b": torch.tensor(step)}
    return Checkpoint(weights, {"random": torch.arange(4)}, {"step": step, "about": "x"})


def steps(folder: Path) -> list[int]:
    return [json.loads((place / STATE).read_text())["step"] for place in kept(folder)]


def test_what_was_written_is_read(tmp_path: Path) -> None:
    assert read(tmp_path) is None
    place = write(tmp_path / "out", made(5))
    assert place == tmp_path / "out" / "last"
    assert sorted(file.name for file in place.iterdir()) == sorted([MODEL, TRAINING, STATE])
    found = read(tmp_path / "out")
    assert found is not None
    torch.testing.assert_close(found.weights, made(5).weights)
    torch.testing.assert_close(found.tensors, made(5).tensors)
    assert found.state == made(5).state


def test_tied_weights_and_views_can_be_written(tmp_path: Path) -> None:
    table = torch.arange(6.0).reshape(2, 3)
    write(tmp_path, Checkpoint({"x": table, "y": table, "z": table.T}, {}, {"step": 1}))
    found = read(tmp_path)
    assert found is not None
    torch.testing.assert_close(found.weights, {"x": table, "y": table, "z": table.T})


@pytest.mark.parametrize("keep", [1, 2, 3])
def test_the_last_k_are_kept(tmp_path: Path, keep: int) -> None:
    for step in (2, 10, 9000000, 9000001):
        write(tmp_path, made(step), keep)
    assert steps(tmp_path) == [2, 10, 9000000, 9000001][-keep:]


def test_the_same_step_can_be_written_again(tmp_path: Path) -> None:
    for step in (4, 5, 5, 5):
        write(tmp_path, made(step), keep=3)
    assert steps(tmp_path) == [4, 5, 5]


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch):
    """A disk with room for so many more bytes: what fits is written, then the write fails."""

    def set_up(room: int) -> None:
        def write_what_fits(path: Path, data: bytes) -> None:
            nonlocal room
            path.write_bytes(data[:room])
            if len(data) > room:
                raise OSError(errno.ENOSPC, "No space left on device")
            room -= len(data)

        monkeypatch.setattr(checkpoints, "_write_to_disk", write_what_fits)

    return set_up


def test_without_a_part_folder_a_full_disk_would_spoil_the_last_checkpoint(
    tmp_path: Path, full_disk
) -> None:
    last = write(tmp_path, made(5))
    full_disk(room=100)
    files = checkpoints._files(made(6))
    with pytest.raises(OSError, match="No space"):
        checkpoints._write_to_disk(last / MODEL, files[MODEL])
    with pytest.raises(CheckpointError, match="damaged"):
        read(tmp_path)


@pytest.mark.parametrize("room", [0, 100, 200, 280])
def test_a_full_disk_leaves_the_last_checkpoint(tmp_path: Path, full_disk, room: int) -> None:
    write(tmp_path, made(4), keep=2)
    write(tmp_path, made(5), keep=2)
    assert sum(map(len, checkpoints._files(made(6)).values())) > 280
    full_disk(room)
    with pytest.raises(CheckpointError) as caught:
        write(tmp_path, made(6), keep=2)
    assert str(caught.value) == (
        f"the checkpoint of step 6 could not be written to {tmp_path} (No space left on device); "
        "earlier checkpoints are intact, so correct that, for example by freeing space, and run "
        "the command again"
    )
    assert sorted(place.name for place in tmp_path.iterdir()) == ["last", "step-000004"]
    assert steps(tmp_path) == [4, 5]
    torch.testing.assert_close(read(tmp_path).weights, made(5).weights)


def test_a_program_that_was_killed_between_two_moves_goes_on_from_the_checkpoint_before(
    tmp_path: Path,
) -> None:
    write(tmp_path, made(4))
    write(tmp_path, made(5), keep=2)
    (tmp_path / "last").rename(tmp_path / "step-000005")
    (tmp_path / ".part").mkdir()
    (tmp_path / ".part" / MODEL).write_bytes(b"half")
    assert read(tmp_path).state["step"] == 5
    write(tmp_path, made(6))
    assert sorted(place.name for place in tmp_path.iterdir()) == ["last"]


@pytest.mark.parametrize("name", [MODEL, TRAINING, STATE])
@pytest.mark.parametrize("damage", ["missing", "half", "other"])
def test_a_damaged_checkpoint_is_one_sentence(tmp_path: Path, name: str, damage: str) -> None:
    path = write(tmp_path, made(5)) / name
    data = path.read_bytes()
    path.unlink()
    if damage != "missing":
        path.write_bytes(data[: len(data) // 2] if damage == "half" else b"[1, 2]")
    with pytest.raises(CheckpointError, match=f"{name} cannot be read .*; delete the folder"):
        read(tmp_path)


def test_a_pickle_is_not_unpickled(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self):
            return (Path.touch, (tmp_path / "ran",))

    path = write(tmp_path, made(5)) / MODEL
    torch.save(Evil(), path)
    with pytest.raises(CheckpointError, match="damaged"):
        read(tmp_path)
    assert not (tmp_path / "ran").exists()


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CheckpointError, match="step 5 could not be written"):
        write(tmp_path / "file" / "out", made(5))


def test_weights_of_another_model_change_nothing(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = nn.Linear(2, 3)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    for weights, difference in (
        ({"weight": torch.ones(3, 4), "bias": torch.ones(3)}, r"'weight' .* \(3, 4\) .* \(3, 2\)"),
        ({"weight": torch.ones(3, 2)}, "this model has 'bias', which out does not"),
        ({**before, "more": torch.ones(1)}, "out has 'more', which this model does not"),
    ):
        with pytest.raises(CheckpointError, match=difference):
            load_weights(model, weights, Path("out"))
        torch.testing.assert_close(dict(model.state_dict()), before)
    load_weights(model, {"weight": torch.ones(3, 2), "bias": torch.zeros(3)}, Path("out"))
    assert model.weight.sum() == 6


def test_the_mean_of_three_is_no_mean_of_means() -> None:
    states = [{"w": torch.full((2,), value)} for value in (1.0, 2.0, 6.0)]
    averaged = average_checkpoints(states)
    assert averaged["w"].tolist() == [3, 3]
    averaged["w"] += 1
    assert [state["w"][0].item() for state in states] == [1, 2, 6]
    assert average_checkpoints(states[:1])["w"].data_ptr() != states[0]["w"].data_ptr()


def test_whole_numbers_are_the_last_and_floats_keep_their_dtype() -> None:
    def state(value: float) -> dict[str, torch.Tensor]:
        dtypes = {"half": torch.float16, "double": torch.float64, "int": torch.int64}
        floats = {name: torch.tensor(value).to(dtype) for name, dtype in dtypes.items()}
        return {**floats, "bool": torch.tensor(value > 50000)}

    averaged = average_checkpoints([state(60000), state(60000), state(59904)])
    assert averaged["half"].item() == pytest.approx(59968)
    assert [tensor.dtype for tensor in averaged.values()] == [
        torch.float16, torch.float64, torch.int64, torch.bool,
    ]  # fmt: skip
    assert averaged["int"] == 59904
    small = [{"x": torch.tensor(1 + k * 2**-40, dtype=torch.float64)} for k in (0, 2)]
    assert average_checkpoints(small)["x"].item() == 1 + 2**-40


def test_a_tied_table_has_its_mean_under_both_names() -> None:
    tables = [torch.full((2,), value) for value in (1.0, 5.0)]
    averaged = average_checkpoints([{"in": table, "out": table} for table in tables])
    assert averaged["in"].tolist() == averaged["out"].tolist() == [3, 3]


def test_states_that_cannot_be_averaged() -> None:
    with pytest.raises(ValueError, match="no checkpoints"):
        average_checkpoints([])
    one = {"x": torch.ones(2)}
    for other in ({"y": torch.ones(2)}, {"x": torch.ones(3)}, {}):
        with pytest.raises(ValueError, match="different names or shapes"):
            average_checkpoints([one, other])


def test_weights_alone_are_written_whole_or_not_at_all(tmp_path: Path, full_disk) -> None:
    path = write_weights(tmp_path / "averaged", {"a": torch.ones(2)})
    full_disk(room=3)
    with pytest.raises(CheckpointError, match="averaged"):
        write_weights(tmp_path / "averaged", {"a": torch.zeros(2)})
    assert [file.name for file in path.parent.iterdir()] == [MODEL]
    assert checkpoints.read_weights(path.parent)["a"].tolist() == [1, 1]
