"""findings: six models, and what is wrong with each."""

from __future__ import annotations

from itertools import product

from attnlab.checking.answers import UNASKED
from attnlab.checking.judges import Close
from gradekit.exercise import Exercise

exercise = Exercise(answers=["findings"])


NAMES = ("A", "B", "C", "D", "E", "F")
WORDS = (
    "nothing",
    "mask inverted",
    "one token ahead",
    "wrong corner",
    "batch statistics",
    "padding",
)


def finding(lab, name):
    """What the student says about one model, as plain words."""
    said = lab.findings.get(name) if isinstance(lab.findings, dict) else None
    return " ".join(str(said).lower().split())


@exercise.check(points=0.6, judge=Close(words=WORDS))
def all_six(lab, draw):
    """Says one of the six things about each of the six models."""
    if not isinstance(lab.findings, dict):
        return lab.findings
    said = {name: finding(lab, name) for name in NAMES if name in lab.findings}
    seen = {name: "one of the six" if words in WORDS else words for name, words in said.items()}
    others = [name for name in lab.findings if isinstance(name, str) and name not in NAMES]
    # So a name that is spelled in another way is seen.
    return seen | (dict.fromkeys(others[:5], UNASKED) if len(seen) < len(NAMES) else {})


# A wrong word is nearly always another model's, too: this only shows it, and costs little.
@exercise.check(points=0.1)
def each_once(lab, draw):
    """Says each of the six things about one model only."""
    if not isinstance(lab.findings, dict):
        return lab.findings
    if not all(name in lab.findings for name in NAMES):
        return "fewer than six models"
    said = {finding(lab, name) for name in lab.findings}
    return {"six different words": len(said) >= len(NAMES)}


@exercise.check(points=0.55, hidden=True, judge=Close(words=WORDS))
def model_a(lab, draw):
    """What is wrong with model A."""
    return finding(lab, "A")


@exercise.check(points=0.55, hidden=True, judge=Close(words=WORDS))
def model_b(lab, draw):
    """What is wrong with model B."""
    return finding(lab, "B")


@exercise.check(points=0.55, hidden=True, judge=Close(words=WORDS))
def model_c(lab, draw):
    """What is wrong with model C."""
    return finding(lab, "C")


@exercise.check(points=0.55, hidden=True, judge=Close(words=WORDS))
def model_d(lab, draw):
    """What is wrong with model D."""
    return finding(lab, "D")


@exercise.check(points=0.55, hidden=True, judge=Close(words=WORDS))
def model_e(lab, draw):
    """What is wrong with model E."""
    return finding(lab, "E")


@exercise.check(points=0.55, hidden=True, judge=Close(words=WORDS))
def model_f(lab, draw):
    """What is wrong with model F."""
    return finding(lab, "F")


RIGHT = {
    "A": "one token ahead",
    "B": "padding",
    "C": "nothing",
    "D": "batch statistics",
    "E": "mask inverted",
    "F": "wrong corner",
}


def but(**wrong):
    """The right findings, but for these.

    A word that is left out is said of one more model. So all six are used, and a known mistake is
    recognised by what it says of its model, whatever else is wrong.
    """
    said = {**RIGHT, **wrong}
    left_out = [word for word in WORDS if word not in said.values()]
    return {"findings": said | {f"one more, {n}": word for n, word in enumerate(left_out)}}


@exercise.also_right
def right_findings():
    """The right findings."""
    return but()


LEAKS = ("mask inverted", "one token ahead", "wrong corner", "batch statistics")

B_IS_CAUSAL = "Model B: `leaks` finds nothing there. Which other probe do you have?"
C_KEEPS_ITS_PROMISE = (
    "Model C: which of your two probes found something there? Two runs of `leaks` need the same "
    "random numbers; and does `pad_invariant` compare outputs at real tokens only?"
)
# What is said about one wrong word, by model and word.
ONE_WRONG = {
    ("A", "nothing"): (
        "Model A: `leaks` finds pairs there. If your list is empty: does your probe tolerate too "
        "much, or change only the last token?"
    ),
    ("A", "mask inverted"): (
        "Model A: with an inverted mask, a query sees everything that comes later. How far ahead "
        "do the pairs of A reach?"
    ),
    ("A", "wrong corner"): (
        "Model A: a triangle can only be in the wrong corner if there are not as many queries as "
        "keys, and A never cuts its keys. Which diagonal does its mask start from?"
    ),
    ("A", "batch statistics"): (
        "Model A: something with the statistics of a batch leaks at every distance. How far ahead "
        "do the pairs of A reach?"
    ),
    ("A", "padding"): (
        "Model A: padding is masked there, but `leaks` finds pairs. What did that probe change, "
        "and which outputs moved?"
    ),
    ("B", "nothing"): (
        "Model B: it is right that no output depends on a later token. What does `pad_invariant` "
        "say with padding in front?"
    ),
    ("C", "padding"): (
        "Model C: padding is masked there. If your probe says otherwise: does it compare each "
        "real token with itself, and nothing else?"
    ),
    ("D", "nothing"): (
        "Model D: every output moves with every later token. If you saw none of this: did "
        "something switch the model to `eval()`?"
    ),
    ("D", "mask inverted"): (
        "Model D: every pair leaks, as with an inverted mask. Test it again after `eval()`: which "
        "layer behaves differently then?"
    ),
    ("D", "padding"): (
        "Model D: padding does change its outputs, but later tokens do, too. What could pass both "
        "on to every place?"
    ),
    ("D", "one token ahead"): (
        "Model D: some of the pairs that leak are far more than one token apart. Does `eval()` "
        "change your list of pairs?"
    ),
    ("D", "wrong corner"): (
        "Model D: with a triangle in the wrong corner, short sequences do not leak. What does "
        "your probe say about D with T = 3, and after `eval()`?"
    ),
    ("E", "wrong corner"): (
        "Model E: with a triangle in the wrong corner, short sequences do not leak, and a query "
        "still sees the past. What do T = 3 and the cells below the diagonal show?"
    ),
    ("E", "nothing"): (
        "Model E: `leaks` finds pairs there. If your list is empty: does your probe tolerate too "
        "much, or change only one token?"
    ),
    ("E", "batch statistics"): (
        "Model E: every pair leaks, but nothing in E takes a mean over the batch. What does True "
        "mean in the `attn_mask` of `scaled_dot_product_attention`?"
    ),
    ("E", "padding"): (
        "Model E: it attends to padding, and to later tokens as well. Which single line causes "
        "both?"
    ),
    ("E", "one token ahead"): (
        "Model E: some of the pairs that leak are far more than one token apart. How far apart "
        "are they?"
    ),
    ("F", "one token ahead"): (
        "Model F: its pairs reach further than one token, and short sequences (T up to 5) do not "
        "leak at all. What happens to the keys of longer sequences?"
    ),
    ("F", "mask inverted"): (
        "Model F: with an inverted mask, it would see every later token, but some pairs are "
        "missing from your list. Which keys does the first query see, and why those?"
    ),
    ("F", "padding"): (
        "Model F: padding does matter there, because it changes which keys are kept. But `leaks` "
        "finds something even without padding: at which key does the last query stand, and at "
        "which row of the triangle?"
    ),
    ("F", "batch statistics"): (
        "Model F: statistics of a batch leak at every length, and not in evaluation mode. What "
        "does your probe say about F with T = 3, and after `eval()`?"
    ),
    ("F", "nothing"): (
        "Model F: `leaks` finds pairs in sequences of eight tokens. How long were yours?"
    ),
    ("E", "mask inverted, padding"): (
        "Model E: that is two findings. Both can have one cause: which of the six names the "
        "cause, and not what it leads to?"
    ),
}
ONE_WRONG |= {("B", said): B_IS_CAUSAL for said in LEAKS}
ONE_WRONG |= {("C", said): C_KEEPS_ITS_PROMISE for said in LEAKS}


def wrong_words(advice, **words):
    """A known mistake: these words for these models, and the right ones for the others."""
    said = ", ".join(f"{model}={word!r}" for model, word in words.items())
    wrong(
        "_".join(f"{model} {word}" for model, word in words.items()).replace(" ", "_").lower(),
        "return but()",
        f"return but({said})",
        advice,
    )


wrong = exercise.edits(right_findings)

for (model, said), advice in ONE_WRONG.items():
    wrong_words(advice, **{model: said})

# With four wrong words or more, none of these explains more than the others. A word about A or B
# together with a second wrong word does, and the advice on A or B comes first.
for (one, said), (other, also) in product(ONE_WRONG, ONE_WRONG):
    if one + other in ("AB", "AC", "AD", "BC", "BD"):
        wrong_words(ONE_WRONG[one, said], **{one: said, other: also})


@exercise.mistake(
    "You say of several models that nothing is wrong with them. For which of them do your probes "
    "report a leak, or outputs that padding changes?"
)
def nothing_anywhere():
    return but(**dict.fromkeys(NAMES, "nothing"))


# The only one that fails `each_once`: at home, any answer with a word for two models gets this.
@exercise.mistake(
    "You give one word to more than one model. What do your probes show of each of these models?"
)
def one_word_for_all():
    return {"findings": dict.fromkeys(NAMES, "mask inverted")}


@exercise.also_right
def in_capitals():
    return {"findings": {name: said.upper() for name, said in RIGHT.items()}}


@exercise.also_right
def with_more_models():
    return {"findings": {"G": "never seen", **dict(reversed(RIGHT.items()))}}
