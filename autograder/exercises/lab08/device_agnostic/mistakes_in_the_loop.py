"""Known mistakes in `train_on`: edits of a right version."""

from __future__ import annotations

from . import exercise
from .also_right import plain_loop

WAITS = (
    "Each update waits for the GPU: a line of your loop needs a number of a tensor (`.item()`, "
    "`float`, `print`, `if`, `assert`), or asks to wait. When are these numbers needed?"
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
    WAITS,
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
    WAITS,
)
loop(
    "waits_for_the_gpu",
    "        optimizer.step()\n",
    '        optimizer.step()\n        if device.type == "cuda":\n'
    "            torch.cuda.synchronize()\n",
    WAITS,
)
loop(
    "loss_checked_in_every_step",
    "        now.backward()\n",
    "        assert now.isfinite()\n        now.backward()\n",
    WAITS,
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
        "        optimizer.step()\n": (
            "        optimizer.step()\n        now = loss(model, batch)\n"
        ),
    },
    "The loss of each batch is computed again after the update. Which loss should be returned?",
)
