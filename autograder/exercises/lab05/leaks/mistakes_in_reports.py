"""Wrong versions of `leaks` that see which outputs change, and report others."""

from . import exercise
from .also_right import one_change_at_a_time

wrong = exercise.edits(one_change_at_a_time, of="leaks")

TURNED_ROUND = (
    "You report outputs that did not change, and not those that did. On which side of your "
    "comparison is a leak?"
)
CHANGED = {"for i in range(j) if not same[i]": "for i in range(j) if same[i]"}
EVERY_TOKEN = {
    "for step in range(1, vocab)": "for token in range(vocab)",
    "(ids[:, j] + step) % vocab": "token",
}
wrong.several("unchanged_reported", CHANGED, TURNED_ROUND)
wrong.several("unchanged_reported_for_every_token", CHANGED | EVERY_TOKEN, TURNED_ROUND)
wrong.several(
    "unchanged_in_some_sequence_reported",
    {
        ".amax((0, 2)) <= 1e-9": ".amax(2) <= 1e-9",
        "for i in range(j) if not same[i]": "for i in range(j) if same[:, i].any()",
    },
    TURNED_ROUND,
)

REPEATED = {
    "found = set()": "found = []",
    "found |= {(i, j) for i in range(j) if not same[i]}": (
        "found += [(i, j) for i in range(j) if not same[i]]"
    ),
}
REPEATEDLY = (
    "You report the same pair once for each new token. Which container holds each pair once?"
)
wrong.several("reported_repeatedly", REPEATED, REPEATEDLY)
wrong.several("reported_repeatedly_for_every_token", REPEATED | EVERY_TOKEN, REPEATEDLY)

ONE_PLACE = (
    "Your maximum does not leave one difference for each place: it runs over the axis of the "
    "places, or over too few axes. Which axis of (B, T, k) has to stay?"
)
for name, axes in {
    "for_each_number": "(0, 1)",
    "over_the_numbers": "-1",
    "over_the_sequences": "0",
    "over_the_places": "1",
}.items():
    wrong(f"maximum_{name}", "amax((0, 2))", f"amax({axes})", ONE_PLACE)
