"""Wrong versions of `next_token_loss`: logits and tokens in rows of a wrong layout."""

from .also_right import shifted_and_flattened
from .mistakes_in_is_possible import exercise  # that module has the mistakes in `is_possible`

wrong = exercise.edits(shifted_and_flattened, of="next_token_loss")

MORE_AXES = (
    "You call `cross_entropy` with more axes than it takes, or flatten only one of its two "
    "tensors. Which shapes does it ask for?"
)
FLAT = {"[:, :-1].flatten(0, 1)": "[:, :-1]", "[:, 1:].flatten()": "[:, 1:]"}
BY_TORCH = {"return cross": "return nn.functional.cross"}
for name, edits in {
    "nothing_flattened": FLAT,
    "tokens_flattened_only": dict([*FLAT.items()][:1]),
    "scores_flattened_only": dict([*FLAT.items()][1:]),
    "scores_flattened_to_one_axis": {"(0, 1)": "()"},
}.items():
    wrong.several(name, edits, MORE_AXES)
    wrong.several(f"{name}_for_torch", edits | BY_TORCH, MORE_AXES)
TOKENS_UNFLATTENED = {"[:, 1:].flatten()": "[:, 1:]"}
for name, tokens in (("", TOKENS_UNFLATTENED), ("_tokens_flattened", {})):
    wrong.several(
        f"classes_in_the_middle{name}",
        {"[:, :-1].flatten(0, 1)": "[:, :-1].mT"} | tokens,
        "The axis of your logits that has length V is in the middle, where torch's "
        "`cross_entropy` expects the classes. Which shapes does the function of lab 1 take?",
    )
AN_ENTRY_FOR_EACH_PLACE = (
    "Your rows of logits have as many entries as there are places. What does the softmax of one "
    "place run over, and which axis has that length?"
)
for name, logits in {
    "rows_as_long_as_a_sequence": "[:, :-1].mT.flatten(0, 1)",
    "rows_as_long_as_the_batch": "[:, :-1].flatten(0, 1).T",
}.items():
    rows = {"[:, :-1].flatten(0, 1)": logits}
    wrong.several(name, rows, AN_ENTRY_FOR_EACH_PLACE)
    wrong.several(f"{name}_for_torch", rows | BY_TORCH, AN_ENTRY_FOR_EACH_PLACE)
    wrong.several(f"{name}_tokens_unflattened", rows | TOKENS_UNFLATTENED, AN_ENTRY_FOR_EACH_PLACE)
# `reshape(-1, T)`, of the logits with all places and without the last one.
LONG_ROWS = {
    "_of_all": {
        "[:, :-1].flatten(0, 1)": ".reshape(-1, logits.shape[1])",
        "ids[:, 1:]": "ids",
    },
    "_of_the_cut": {"[:, :-1].flatten(0, 1)": "[:, :-1].reshape(-1, logits.shape[1])"},
}
for name, rows in LONG_ROWS.items():
    wrong.several(f"reshaped_to_places{name}", rows, AN_ENTRY_FOR_EACH_PLACE)
wrong.several(
    "reshaped_to_places_of_all_for_torch", LONG_ROWS["_of_all"] | BY_TORCH, AN_ENTRY_FOR_EACH_PLACE
)
for name, by in (("", {}), ("_for_torch", BY_TORCH)):
    wrong.several(
        f"reshaped_to_sequences{name}",
        {"[:, :-1].flatten(0, 1)": "[:, :-1].reshape(-1, len(ids))"} | by,
        "Your rows of logits have as many entries as there are sequences. What does the softmax of "
        "one place run over, and which axis has that length?",
    )
wrong(
    "rows_for_all_places",
    "[:, :-1].flatten(0, 1)",
    "[:, :-1].reshape(ids.numel(), logits.shape[-1])",
    "You ask for B · T rows of logits, but one place of each sequence was cut before. How many "
    "places of a sequence are left?",
)
TRANSPOSED_FIRST = (
    "The logits were transposed before they were laid out in rows, so a row holds numbers of "
    "several places. Which axis must stay the last one?"
)
for order in ((0, 2, 1), (2, 0, 1), (2, 1, 0), (1, 2, 0)):
    rows = f".permute{order}.reshape(-1, logits.shape[-1])"
    name = "laid_out_as_" + "_".join("BTV"[axis] for axis in order).lower()
    wrong(name, "[:, :-1].flatten(0, 1)", f"[:, :-1]{rows}", TRANSPOSED_FIRST)
    wrong.several(
        f"{name}_not_shifted",
        {"[:, :-1].flatten(0, 1)": rows, "[:, 1:]": ""},
        TRANSPOSED_FIRST,
    )
wrong.several(
    "classes_moved_by_reshape",
    {"[:, :-1].flatten(0, 1)": "[:, :-1].reshape(len(ids), logits.shape[-1], -1)"}
    | TOKENS_UNFLATTENED
    | BY_TORCH,
    "A `view` or `reshape` moved numbers from one place's row into another's. Which axis of the "
    "logits holds the classes, and where do torch's losses expect it?",
)
