"""Known mistakes in `move` and in the module: most are edits of a right version."""

from __future__ import annotations

import torch

from attnlab.device_agnostic import move
from attnlab.devices import map_tensors

from . import exercise, mistakes_in_the_loop  # noqa: F401 - to register them
from .also_right import Written, by_hand

moved = exercise.edits(by_hand, of="move")

moved(
    "tuples_without_names",
    "return type(batch)(*[by_hand(part, device) for part in batch])",
    "return tuple(by_hand(part, device) for part in batch)",
    "You return a plain tuple for a NamedTuple. How will the loss find `batch.labels`?",
)
moved(
    "only_tuples",
    "    if isinstance(batch, dict):\n"
    "        return {key: by_hand(part, device) for key, part in batch.items()}\n",
    "",
    "The tensors in a dict stay behind. Which structures does the task name?",
)
moved(
    "dataclasses_stay",
    "    if is_dataclass(batch):\n"
    "        parts = {f.name: by_hand(getattr(batch, f.name), device) for f in fields(batch)}\n"
    "        return replace(batch, **parts)\n",
    "",
    "The tensors in a dataclass stay behind. Which structures does the task name?",
)
moved(
    "waits_for_the_copy",
    "batch.pin_memory().to(device, non_blocking=True)",
    "batch.to(device)",
    "The program waits until each tensor has arrived on the GPU. Which two things does a copy in "
    "the background need?",
)
moved(
    "not_pinned",
    "batch.pin_memory().to(",
    "batch.to(",
    "You ask for a copy that does not wait, but the tensor is in ordinary memory, which a GPU "
    "cannot read by itself. What does the task say about memory?",
)
moved(
    "never_waits",
    "        return batch.to(device)\n",
    "        return batch.to(device, non_blocking=True)\n",
    "A copy to the CPU does not wait either, so Python may read numbers that have not arrived. In "
    "which direction is it safe to go on?",
)
moved(
    "device_as_a_word",
    "batch.pin_memory().to(device, non_blocking=True)\n        return batch.to(device)",
    'batch.pin_memory().to(device, non_blocking=True)\n        return batch.to("cuda")',
    'The word "cuda" is written down in your code, so tensors go to the GPU even if the CPU is '
    "asked for. Which argument says where they should go?",
)
moved(
    "always_a_copy",
    "        return batch.to(device)\n",
    "        return batch.to(device, copy=True)\n",
    "A tensor that is there already is copied once more. What does the task say about it?",
)
moved.several(
    "floats_everywhere",
    {
        "        return batch.to(device)\n": "        return batch.to(device, torch.float32)\n",
        "to(device, non_blocking=True)": "to(device, torch.float32, non_blocking=True)",
    },
    "The dtype of your tensors changes on the way. What should change in a move?",
)


@exercise.mistake(
    "The caller's own dict or list is changed. What makes a new structure?", of="move"
)
def in_place(batch, device):
    if isinstance(batch, dict):
        for key in batch:
            batch[key] = move(batch[key], device)
        return batch
    return move(batch, device)


@exercise.mistake(
    "Only the outer structure is opened, and tensors deeper inside stay behind. What should happen "
    "with a tuple in a dict?",
    of="move",
)
def one_level(batch, device):
    def one(part):
        return move(part, device) if isinstance(part, torch.Tensor) else part

    if isinstance(batch, dict):
        return {key: one(part) for key, part in batch.items()}
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*map(one, batch))
    return map_tensors(batch, one)


LEFT_BEHIND = (
    "Your table stayed on the CPU when the module moved: to torch, it is an attribute like any "
    "other. How does a module keep a tensor that is not trained?"
)
COPIED_TABLE = (
    "Each call copies a table of positions to the GPU again. What stays the same from call to "
    "call, and how does a module keep it?"
)
module = exercise.edits(Written, of="PositionalAttention")
TABLE, MASK = 'self.register_buffer("table", table)', "dtype=torch.bool, device=x.device).tril()"

module(
    "plain_attribute",
    TABLE,
    "self.table = table",
    LEFT_BEHIND,
)
module.several(
    "table_moved_in_every_call",
    {TABLE: "self.table = table", "self.table[:T]": "self.table[:T].to(x)"},
    COPIED_TABLE,
)
module.several(
    "table_computed_in_every_call",
    {
        TABLE: "self.max_len = max_len",
        "self.table[:T]": "sinusoidal_pe(T, x.size(2)).to(x)",
    },
    COPIED_TABLE,
)
module(
    "table_trained",
    TABLE,
    "self.table = nn.Parameter(table)",
    "Your table is a parameter, so an optimiser changes it. What does the task say about training "
    "it?",
)
module(
    "table_in_a_list",
    TABLE,
    "self.tables = [table]\n        self.table = self.tables[0]",
    LEFT_BEHIND,
)
module(
    "mask_on_the_cpu",
    MASK,
    "dtype=torch.bool).tril()",
    "Your mask is made on the CPU, and the scores are on the GPU. Which argument of the function "
    "that makes it says where?",
)
module(
    "mask_copied_in_every_call",
    MASK,
    "dtype=torch.bool).tril().to(x.device)",
    "Your mask is made on the CPU and copied to the GPU in each call. Where could it be made "
    "instead?",
)
module(
    "mask_on_cuda",
    "device=x.device",
    'device="cuda"',
    'Your mask is made on "cuda", wherever the words are. Who knows where they are?',
)
module(
    "mask_where_a_gpu_is",
    "device=x.device",
    'device="cuda" if torch.cuda.is_available() else "cpu"',
    "Your mask is on the GPU of any machine that has one, even if the words are on the CPU. Who "
    "knows where they are?",
)
module(
    "mask_kept_from_the_first_call",
    "        mask = torch.ones(T, T, dtype=torch.bool, device=x.device).tril()\n",
    '        if not hasattr(self, "mask"):\n'
    "            self.mask = torch.ones(T, T, dtype=torch.bool, device=x.device).tril()\n"
    "        mask = self.mask\n",
    "Your mask is made in the first call and kept: later calls may be on another device, or have "
    "another length. What do later calls find?",
)
module(
    "words_brought_to_the_cpu",
    "        x = x + self.table[:T]\n",
    '        self.to("cpu")\n        x = x.cpu() + self.table[:T]\n',
    "Your module brings everything back to the CPU and computes there. Where are `x` and the "
    "parameters?",
)
module(
    "through_numpy",
    "        x = x + self.table[:T]\n",
    "        x = x + torch.from_numpy(self.table[:T].numpy())\n",
    "numpy cannot read the memory of a GPU. Which step needs numpy here?",
)
module(
    "waits_for_a_number",
    "        x = x + self.table[:T]\n",
    "        x = x + self.table[:T] if bool(x.isfinite().any()) else x\n",
    "Python asks for a number of a tensor in each call, so it waits for the GPU. Which line needs "
    "a Python number or a Python truth value?",
)
module(
    "moves_itself",
    "        x = x + self.table[:T]\n",
    '        self.to("cuda")\n        x = x.to("cuda") + self.table[:T]\n',
    "Your module moves itself to the GPU. Who decides where a module runs?",
)
module(
    "positions_forgotten",
    "        x = x + self.table[:T]\n",
    "",
    "The order of the words has no effect but through the mask. Where is the table used?",
)
module(
    "table_changed_to_float32",
    "        x = x + self.table[:T]\n",
    "        x = x + self.table[:T].float()\n",
    "In bfloat16 or float64, your table is still in float32. What should follow the module besides "
    "the device?",
)
module(
    "x_changed",
    "        x = x + self.table[:T]\n",
    "        x += self.table[:T]\n",
    "Your forward pass changes the caller's `x`. Which operator makes a new tensor?",
)
