"""Known mistakes in `make_batch`, as edits of right versions."""

from __future__ import annotations

from . import exercise, mistakes_in_the_shift  # noqa: F401 - to register
from .also_right import by_hand, torchs_padding

batched = exercise.edits(by_hand, of="make_batch")

batched(
    "labels_as_inputs",
    "torch.tensor([BOS, *write])",
    "torch.tensor([*write, EOS])",
    "The decoder reads the very symbols that it must write, at the same positions. What does it "
    "know when it must write the first one?",
)
batched(
    "no_eos",
    "labels[row, : len(write) + 1] = torch.tensor([*write, EOS])",
    "labels[row, : len(write)] = torch.tensor(write)",
    "Your labels never ask for EOS, so the model never learns to stop. Where does a target end?",
)
batched.several(
    "nothing_after_the_longest",
    {
        "for _, target in pairs) + 1": "for _, target in pairs)",
        "inputs[row, : len(write) + 1] = torch.tensor([BOS, *write])": (
            "inputs[row, : len(write) + 1] = torch.tensor([BOS, *write])[:T]"
        ),
        "torch.tensor([*write, EOS])": "torch.tensor([*write, EOS])[:T]",
    },
    "The longest target has no place left for its EOS. How many columns do its symbols and EOS "
    "need?",
)
batched.several(
    "neither_eos_nor_its_place",
    {
        "for _, target in pairs) + 1": "for _, target in pairs)",
        "inputs[row, : len(write) + 1] = torch.tensor([BOS, *write])": (
            "inputs[row, : len(write) + 1] = torch.tensor([BOS, *write])[:T]"
        ),
        "labels[row, : len(write) + 1] = torch.tensor([*write, EOS])": (
            "labels[row, : len(write)] = torch.tensor(write)"
        ),
    },
    "Your labels have no EOS, and the longest target leaves no place for it, so the model never "
    "learns to stop. Where does a target end?",
)
batched(
    "eos_after_the_padding",
    "    return Batch",
    "    labels[labels == EOS] = PAD\n    labels[:, -1] = EOS\n    return Batch",
    "You add EOS after the padding, in the last column of all rows. Directly after which symbol "
    "does the model have to stop?",
)
batched(
    "shifted_twice",
    "return Batch(source, source != PAD, inputs, labels)",
    "return Batch(source, source != PAD, inputs[:, :-1], labels[:, 1:])",
    "You shift twice: the inputs start with BOS already, and then you also cut the first label and "
    "the last input. Which symbol is then two positions ahead of what is read?",
)
batched(
    "lengths_instead_of_a_mask",
    "source != PAD",
    "(source != PAD).sum(1)",
    "Your `source_valid` holds lengths. Which shape and dtype does the task ask for?",
)
batched(
    "eos_instead_of_the_last_symbol",
    "torch.tensor([*write, EOS])",
    "torch.tensor([*write[:-1], EOS, PAD])",
    "The last symbol of your targets is missing in the labels. How many symbols must the model "
    "write?",
)
batched.several(
    "bos_in_the_labels",
    {
        "for _, target in pairs) + 1": "for _, target in pairs) + 2",
        "labels[row, : len(write) + 1] = torch.tensor([*write, EOS])": (
            "labels[row, : len(write) + 2] = torch.tensor([BOS, *write, EOS])"
        ),
    },
    "Your labels start with BOS, which the model would have to write although it has just read "
    "it. Which is the first symbol that it must write?",
)
batched.several(
    "not_shifted",
    {
        "for _, target in pairs) + 1": "for _, target in pairs) + 2",
        "labels[row, : len(write) + 1] = torch.tensor([*write, EOS])": (
            "labels[row, : len(write) + 2] = torch.tensor([BOS, *write, EOS])"
        ),
        "inputs[row, : len(write) + 1] = torch.tensor([BOS, *write])": (
            "inputs[row, : len(write) + 2] = torch.tensor([BOS, *write, EOS])"
        ),
    },
    "Inputs and labels are the same rows, from BOS to EOS. By how many positions must they differ?",
)
batched(
    "starts_with_eos",
    "torch.tensor([BOS, *write])",
    "torch.tensor([EOS, *write])",
    "Your inputs start with EOS (one library does this). Which symbol starts a sentence here?",
)
batched(
    "starts_with_padding",
    "torch.tensor([BOS, *write])",
    "torch.tensor([PAD, *write])",
    "Your inputs start with PAD. Which symbol starts a sentence?",
)
batched(
    "no_bos",
    "inputs[row, : len(write) + 1] = torch.tensor([BOS, *write])",
    "inputs[row, : len(write)] = torch.tensor(write)",
    "Your inputs have no BOS: the decoder reads the first symbol where it must write it. What does "
    "it read at position 0?",
)
batched(
    "bos_at_the_end_too",
    "torch.tensor([BOS, *write])",
    "torch.tensor([BOS, *write[:-1], BOS])",
    "Your inputs have BOS at the end as well. How many times does a sentence start?",
)
batched.several(
    "padded_on_the_left",
    {
        "source[row, : len(read)]": "source[row, S - len(read) :]",
        "inputs[row, : len(write) + 1]": "inputs[row, T - len(write) - 1 :]",
        "labels[row, : len(write) + 1]": "labels[row, T - len(write) - 1 :]",
    },
    "Your padding comes before the symbols, so a short row does not start with BOS. On which side "
    "does the task want it?",
)
batched(
    "source_padded_on_the_left",
    "source[row, : len(read)]",
    "source[row, S - len(read) :]",
    "The padding of your sources comes before their symbols. On which side does the task want it?",
)
batched.several(
    "source_shifted",
    {
        "len(source) for source, _ in pairs)": "len(source) for source, _ in pairs) + 1",
        "source[row, : len(read)] = torch.tensor(read)": (
            "source[row, : len(read) + 1] = torch.tensor([BOS, *read])"
        ),
    },
    "Your sources start with BOS. Which of the two networks writes, and so needs a symbol to start "
    "from?",
)
batched.several(
    "source_cut",
    {"torch.tensor(read)": "torch.tensor([BOS, *read[:-1]])"},
    "You shift the source as well, and its last symbol is lost. Which of the two networks must "
    "not see what comes next?",
)
batched.several(
    "source_with_eos",
    {
        "len(source) for source, _ in pairs)": "len(source) for source, _ in pairs) + 1",
        "source[row, : len(read)] = torch.tensor(read)": (
            "source[row, : len(read) + 1] = torch.tensor([*read, EOS])"
        ),
    },
    "Your sources end with EOS, which the task does not ask for. Which network has to say that it "
    "has finished?",
)
batched(
    "mask_inverted",
    "source != PAD",
    "source == PAD",
    "Your `source_valid` is True at padding. (torch's own modules want it this way.) What does "
    "True mean here?",
)
batched(
    "mask_of_numbers",
    "source != PAD",
    "(source != PAD).long()",
    "Your `source_valid` holds numbers. Which dtype do masks have in this course?",
)
batched(
    "mask_of_floats",
    "source != PAD",
    "(source != PAD).float()",
    "Your `source_valid` holds fractions, 1.0 and 0.0. Which dtype do masks have in this course?",
)
batched(
    "mask_of_the_target",
    "source != PAD",
    "labels != PAD",
    "Your `source_valid` has the shape of the target. Which tensor does it describe?",
)
batched(
    "everything_valid",
    "source != PAD",
    "torch.ones_like(source).bool()",
    "Your `source_valid` is True everywhere, at padding as well. What would the encoder attend to?",
)
batched(
    "one_width_for_both",
    "    source = torch.full",
    "    S = T = max(S, T)\n    source = torch.full",
    "Sources and targets have the same width in your batch. Which of the lengths does each of them "
    "need?",
)
batched(
    "fields_exchanged",
    "source != PAD, inputs, labels)",
    "source != PAD, labels, inputs)",
    "Inputs and labels are exchanged. In which order does `Batch` name its fields?",
)
of_torch = exercise.edits(torchs_padding, of="make_batch")
of_torch(
    "eos_appended",
    "torch.tensor([*t, EOS])",
    "torch.tensor(t.append(EOS) or t if isinstance(t, list) else [*t, EOS])",
    "Your code adds EOS to the caller's own lists (`append`, `+=`), so a second batch of the same "
    "pairs is wrong. What makes a new list?",
)
of_torch(
    "fields_exchanged_after_the_shift",
    "shift_right(labels, BOS), labels)",
    "labels, shift_right(labels, BOS))",
    "Inputs and labels are exchanged. In which order does `Batch` name its fields?",
)
batched(
    "plain_tuple",
    "return Batch(source, source != PAD, inputs, labels)",
    "return source, source != PAD, inputs, labels",
    "You return a plain tuple, whose entries have no names. What makes a `Batch` of four tensors?",
)
batched(
    "labels_padded_for_torch",
    "labels = torch.full((len(pairs), T), PAD)",
    "labels = torch.full((len(pairs), T), -100)",
    "Your labels are padded with -100, which torch's loss ignores by default. Which number does "
    "the task want there?",
)
batched(
    "labels_padded_with_eos",
    "labels = torch.full((len(pairs), T), PAD)",
    "labels = torch.full((len(pairs), T), EOS)",
    "Short rows of your labels ask for EOS again and again. How many times does a sentence end?",
)
batched(
    "eos_added_to_the_pairs",
    "torch.tensor([*write, EOS])",
    "torch.tensor((write.append(EOS) if isinstance(write, list) else None) or [*write, EOS])[: "
    "len(write) + 1 - isinstance(write, list)]",
    "Your code adds EOS to the caller's own lists (`append`, `+=`), so a second batch of the same "
    "pairs is wrong. What makes a new list?",
)
batched(
    "lists_only",
    "torch.tensor([*write, EOS])",
    "torch.tensor(write + [EOS])",
    "A list plus a tuple is an error in Python. What makes a new list of the symbols of either "
    "one, and EOS?",
)
batched(
    "sorted_by_length",
    "    source = torch.full",
    "    pairs = sorted(pairs, key=lambda pair: -len(pair[0]))\n    source = torch.full",
    "Your rows are sorted by length, so they are no longer in the order of the pairs. Does a "
    "Transformer need that?",
)
batched.several(
    "as_wide_as_the_first",
    {
        "max(len(source) for source, _ in pairs)": "len(pairs[0][0])",
        "torch.tensor(read)": "torch.tensor(read)[:S]",
    },
    "Your sources are as wide as the first one. Which source decides the width?",
)
batched(
    "time_first",
    "return Batch(source, source != PAD, inputs, labels)",
    "return Batch(source.T, (source != PAD).T, inputs.T, labels.T)",
    "Your tensors are (time, batch), the layout of older code. Which axis comes first here?",
)
batched.several(
    "bos_and_eos_around_the_source",
    {
        "len(source) for source, _ in pairs)": "len(source) for source, _ in pairs) + 2",
        "source[row, : len(read)] = torch.tensor(read)": (
            "source[row, : len(read) + 2] = torch.tensor([BOS, *read, EOS])"
        ),
    },
    "Your sources start with BOS and end with EOS. Which of the two networks writes, and so needs "
    "them?",
)
batched(
    "labels_hold_the_inputs",
    "torch.tensor([*write, EOS])",
    "torch.tensor([BOS, *write])",
    "Your labels are the inputs: the model would have to write what it reads. By how many "
    "positions must the two differ?",
)
batched(
    "mask_ready_for_attention",
    "source != PAD",
    "(source != PAD)[:, None, None, :]",
    "Your `source_valid` has four axes. That is the shape for attention, and the model makes it. "
    "Which shape does the task ask for?",
)
