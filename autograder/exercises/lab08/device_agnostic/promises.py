"""Which checks hold each sentence of the task."""

from __future__ import annotations

from . import exercise

exercise.promises(
    {
        "The batch on `device`; what is there already is not copied.": (
            "batch_on_the_gpu any_structure"
        ),
        "The copy to a GPU does not make the program wait: tensors are brought into pinned memory "
        "first, which a GPU can read by itself.": "copies_in_the_background",
        "A copy to the CPU does wait, because Python could read it before it is complete.": (
            "copies_in_the_background"
        ),
        "batch: a tensor; or a tuple, a NamedTuple, a list, a dict or a dataclass of such things, "
        "in any depth.": "any_structure",
        "Whatever else is in it stays as it is.": "any_structure batch_on_the_gpu",
        "It is not changed itself.": "any_structure batch_on_the_gpu",
        "device: where its tensors are wanted.": "any_structure",
        "The same structure with every tensor on `device`, in its own dtype.": "any_structure",
        "then each word attends to itself and to earlier words.": "module_computes",
        "The module runs wherever `x` and its parameters are, in their dtype: after `.to(device)` "
        "and `.to(dtype)` in any order, before or after the first call.": (
            "module_on_the_gpu module_moved_later"
        ),
        "A call makes no copy from one device to another and does not wait for the device.": (
            "module_on_the_gpu module_moved_later"
        ),
        "the only parameters that are trained.": "module_computes",
        "Stays unchanged.": "module_computes",
        "(B, T, d_model), on the device and in the dtype of `x`.": (
            "module_on_the_gpu module_moved_later"
        ),
        "Train a model on a device: one update for each batch, each from gradients of zero.": (
            "loop_trains one_batch_at_a_time"
        ),
        "The caller's own model is trained, not a copy, and it is on the device afterwards.": (
            "loop_trains"
        ),
        "A batch is moved to the device once, when it is needed, and nothing else is copied for "
        "it.": "loop_on_the_gpu one_batch_at_a_time",
        "How often the program waits for the device, or copies something from it, does not depend "
        "on the number of batches.": "loop_on_the_gpu",
        "device: where to train. Only this device is used.": "loop_on_the_cpu",
        "model: on the CPU, or anywhere else.": "loop_trains",
        "loss: called once for each batch, as ``loss(model, batch)``, with both on the device": (
            "loop_trains"
        ),
        "An iterator is enough.": "loop_trains",
        "training goes on with it. None: it starts without.": "loop_goes_on loop_trains",
        "The loss of each batch before the update on it: Python floats.": "loop_trains",
    },
    explained=[
        "Positions are added to the words;",
        "Causal self-attention of one head, over words with positions, on any device.",
        "d_model: features of a word, even.",
        "max_len: the most words.",
        "query, key, value: `nn.Linear(d_model, d_model, bias=False)`",
        "Mix each word with earlier ones.",
        "x: (B, T, d_model), with T up to max_len.",
        "a tensor without dimensions.",
        "batches: at least one; structures of tensors on the CPU, as for `move`.",
        "make_optimizer: called once, with parameters.",
        "state: an earlier optimizer's `state_dict()`, with its tensors on the CPU",
    ],
)
