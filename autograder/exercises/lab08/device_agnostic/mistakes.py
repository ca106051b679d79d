"""Known mistakes with devices: most are edits of a right version."""

from __future__ import annotations

from copy import deepcopy

import torch

from attnlab.devices import map_tensors, move

from . import exercise
from .also_right import Written, by_hand, plain_loop

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

loop = exercise.edits(plain_loop, of="train_on")
MOVED = "        batch = map_tensors(batch, lambda tensor: tensor.to(device))\n"
APPEND = "losses.append(now.detach())"
RETURN = "return torch.stack(losses).cpu().tolist()"

loop(
    "batch_left_behind",
    MOVED,
    "",
    "The model is on the GPU and the batch is still on the CPU. Which line should bring it there?",
)
loop.several(
    "item_in_every_step",
    {APPEND: "losses.append(now.item())", RETURN: "return losses"},
    "`.item()` in the loop makes Python wait for the GPU in every update. When do you need these "
    "numbers?",
)
loop.several(
    "item_of_each_at_the_end",
    {RETURN: "return [value.item() for value in losses]"},
    "The program waits once for each loss at the end. How can all of them come in one copy?",
)
loop(
    "cpu_in_the_loop",
    APPEND,
    "losses.append(now.detach().cpu())",
    "`.cpu()` in the loop copies the loss back in every update, and waits for it. When do you need "
    "these numbers?",
)
loop.several(
    "numpy_on_the_gpu",
    {
        APPEND: "losses.append(float(now.detach().numpy()))",
        RETURN: "return losses",
    },
    "numpy cannot read the memory of a GPU. What does torch's message tell you to do first, and "
    "when is the time for it?",
)
loop(
    "text_of_each_loss",
    APPEND,
    'losses.append(now.detach())\n        line = f"loss {now:.3f}"  # noqa: F841',
    "A line of text about each loss needs its number, so each update waits for the GPU. How often "
    "is such a line needed?",
)
loop(
    "waits_for_the_gpu",
    "        optimizer.step()\n",
    '        optimizer.step()\n        if device.type == "cuda":\n'
    "            torch.cuda.synchronize()\n",
    "`synchronize` makes Python wait until the GPU is idle, in each update. Which result needs it?",
)
loop(
    "loss_checked_in_every_step",
    "        now.backward()\n",
    "        assert now.isfinite()\n        now.backward()\n",
    "The loss is checked in Python in every update, which needs its number and waits for it. How "
    "could you look less often?",
)
loop.several(
    "trains_on_cuda_only",
    {
        "model.to(device)": 'model.to("cuda")',
        "lambda tensor: tensor.to(device)": 'lambda tensor: tensor.to("cuda")',
    },
    'The word "cuda" is written down in your loop, so it never trains on a CPU. Which argument '
    "says where to train?",
)
loop.several(
    "best_device",
    {
        "    model.to(device)\n": (
            '    device = "cuda" if torch.cuda.is_available() else "cpu"\n    model.to(device)\n'
        )
    },
    "Your loop chooses a device by itself, and takes a GPU even if it is told to use the CPU. "
    "Which argument says where to train?",
)
loop(
    "moved_back_and_forth",
    APPEND,
    'losses.append(now.detach())\n        model.to("cpu").to(device)',
    "Your model travels to the CPU and back in every update. How often does it have to be moved?",
)
loop.several(
    "only_there_for_a_batch",
    {
        "    model.to(device)\n": "",
        MOVED: "        model.to(device)\n" + MOVED,
        APPEND: 'losses.append(now.detach())\n        model.to("cpu")',
    },
    "Your model is brought to the device for each batch and back again. How often does it have to "
    "be moved, and where should it be at the end?",
)
loop(
    "model_copied",
    "    model.to(device)\n",
    "    model = deepcopy(model).to(device)\n",
    "You train a copy, and the caller's model stays as it was. Which model should have learned?",
)
loop.several(
    "optimizer_of_the_model_before_the_copy",
    {
        "    model.to(device)\n": "",
        "    losses = []\n": "    model = deepcopy(model).to(device)\n    losses = []\n",
    },
    "The optimizer was made for the parameters of one model, and another one, its copy, gets the "
    "gradients. Which parameters does the optimizer hold?",
)
loop.several(
    "model_copied_in_every_step",
    {
        MOVED: MOVED + "        there = deepcopy(model).to(device)\n",
        "    model.to(device)\n": "",
        "loss(model, batch)": "loss(there, batch)",
    },
    "A new copy of the model is made for each batch, so what it learns is lost. How often does a "
    "model have to be moved?",
)
loop.several(
    "state_loaded_before_the_move",
    {
        "    model.to(device)\n": "",
        "    losses = []\n": "    model.to(device)\n    losses = []\n",
    },
    "The optimizer's state was loaded while the model was on the CPU, so its averages stayed "
    "there when the model moved. Where does `load_state_dict` put the averages?",
)
loop(
    "state_forgotten",
    "    if state is not None:\n        optimizer.load_state_dict(state)\n",
    "",
    "An earlier optimizer's state has no effect on your training. What is the last argument for?",
)
loop(
    "gradients_not_cleared",
    "        optimizer.zero_grad()\n",
    "",
    "Each update also uses the gradients of earlier ones. What does `backward()` do with a "
    "gradient that is there already?",
)
loop(
    "cleared_only_afterwards",
    "        optimizer.zero_grad()\n        now = loss(model, batch)\n        now.backward()\n"
    "        optimizer.step()\n",
    "        now = loss(model, batch)\n        now.backward()\n"
    "        optimizer.step()\n        optimizer.zero_grad()\n",
    "Gradients that the model came with are used in the first update. From which gradients should "
    "each update start?",
)
loop(
    "all_batches_moved_first",
    "    for batch in batches:\n",
    "    for batch in [map_tensors(b, lambda t: t.to(device)) for b in batches]:\n",
    "All batches are on the device before the first update, and a GPU has less memory than a hard "
    "disk. When does a batch have to be there?",
)
loop.several(
    "tensors_returned",
    {RETURN: "return losses"},
    "You return tensors, which are still on the GPU. What should the caller get?",
)
loop.several(
    "model_left_on_the_cpu",
    {RETURN: 'model.to("cpu")\n    return torch.stack(losses).cpu().tolist()'},
    "Your model is back on the CPU at the end. Where should it be afterwards, according to the "
    "task?",
)
loop.several(
    "one_step_late",
    {
        "        optimizer.step()\n": "        optimizer.step()\n        now = loss(model, batch)\n",
    },
    "The loss of each batch is computed again after the update. Which loss should be returned?",
)
