"""What was found, in words and as plain values. The words say what agrees, and never why.

Tested in tests/gradekit/similarity/test_commands.py and test_page.py.
"""

from __future__ import annotations

from typing import Any

from gradekit.similarity.compare import LINE, Pair, Similarity

NOT_A_PROOF = (
    "This is not proof of anything: students may have worked together as allowed, or used the same "
    "source. Read both answers and ask both before you decide."
)


def by_chance(expected: float) -> str:
    """How often a pair would agree as much by chance."""
    if expected >= 1:
        return f"about {expected:.0f} such in a class like this"
    if expected < 1e-6:
        return "once in over a million classes"
    return f"once in about {_round(1 / expected):,} classes"


def _round(number: float) -> int:
    """Two digits are as much as anyone can use."""
    digits = max(0, len(str(int(number))) - 2)
    return int(round(number, -digits))


def groups_in_words(found: Similarity) -> list[str]:
    """Each group of three or more in one line; a group of two is a pair."""
    return [", ".join(one.label for one in group) for group in found.groups if len(group) > 2]


def pair_json(pair: Pair) -> dict[str, Any]:
    """A pair as plain values."""
    return {
        "students": [
            {"student": one.student, "earlier": one.earlier or None}
            for one in (pair.first, pair.second)
        ],
        "above_line": pair.is_above_line,
        "expected_by_chance": pair.expected,
        "share": round(pair.share, 3),
        "steps": [
            {
                "step": agreement.step,
                "score": round(agreement.score, 1),
                "same_text": agreement.same_text,
                "rarest_in": agreement.rarest,
            }
            for agreement in pair.agreements
        ],
    }


def to_json(found: Similarity) -> dict[str, Any]:
    """Everything that was found, as plain values."""
    return {
        "lab": found.texts.lab,
        "compared": len(found.texts.hand_ins),
        "unread": list(found.texts.unread),
        "line": LINE,
        "pairs": [pair_json(pair) for pair in found.pairs],
        "next_pairs": [pair_json(pair) for pair in found.next_pairs],
        "groups": [[hand_in.label for hand_in in group] for group in found.groups],
    }
