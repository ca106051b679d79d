"""findings: six models, and what is wrong with each."""

from __future__ import annotations

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


@exercise.check(points=1, judge=Close(words=WORDS))
def all_six(lab, draw):
    """Says one of the six things about each of the six models."""
    if not isinstance(lab.findings, dict):
        return lab.findings
    said = {name: finding(lab, name) for name in NAMES if name in lab.findings}
    return {name: "one of the six" if words in WORDS else words for name, words in said.items()}


@exercise.check(points=0.5, hidden=True, judge=Close(words=WORDS))
def model_a(lab, draw):
    """What is wrong with model A."""
    return finding(lab, "A")


@exercise.check(points=0.5, hidden=True, judge=Close(words=WORDS))
def model_b(lab, draw):
    """What is wrong with model B."""
    return finding(lab, "B")


@exercise.check(points=0.5, hidden=True, judge=Close(words=WORDS))
def model_c(lab, draw):
    """What is wrong with model C."""
    return finding(lab, "C")


@exercise.check(points=0.5, hidden=True, judge=Close(words=WORDS))
def model_d(lab, draw):
    """What is wrong with model D."""
    return finding(lab, "D")


@exercise.check(points=0.5, hidden=True, judge=Close(words=WORDS))
def model_e(lab, draw):
    """What is wrong with model E."""
    return finding(lab, "E")


@exercise.check(points=0.5, hidden=True, judge=Close(words=WORDS))
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
    """The right findings, but for these."""
    return {"findings": {**RIGHT, **wrong}}


@exercise.mistake(
    "Model A: `leaks` finds pairs there. If your list is empty: does your probe tolerate too much, "
    "or change only the last token?"
)
def a_is_fine():
    return but(A="nothing")


@exercise.mistake(
    "Model A: with an inverted mask, a query sees everything that comes later. How far ahead do "
    "the pairs of A reach?"
)
def a_inverted():
    return but(A="mask inverted")


@exercise.mistake(
    "Model A: a triangle can only be in the wrong corner if there are not as many queries as keys, "
    "and A never cuts its keys. Which diagonal does its mask start from?"
)
def a_wrong_corner():
    return but(A="wrong corner")


@exercise.mistake(
    "Model A: something with the statistics of a batch leaks at every distance. How far ahead do "
    "the pairs of A reach?"
)
def a_statistics():
    return but(A="batch statistics")


@exercise.mistake(
    "Model A: padding is masked there, but `leaks` finds pairs. What did that probe change, and "
    "which outputs moved?"
)
def a_padding():
    return but(A="padding")


@exercise.mistake(
    "Model B: it is right that no output depends on a later token. What does `pad_invariant` say "
    "with padding in front?"
)
def b_is_fine():
    return but(B="nothing")


B_IS_CAUSAL = "Model B: `leaks` finds nothing there. Which other probe do you have?"


@exercise.mistake(B_IS_CAUSAL)
def b_looks_ahead():
    return but(B="one token ahead")


@exercise.mistake(B_IS_CAUSAL)
def b_inverted():
    return but(B="mask inverted")


@exercise.mistake(B_IS_CAUSAL)
def b_wrong_corner():
    return but(B="wrong corner")


@exercise.mistake(B_IS_CAUSAL)
def b_statistics():
    return but(B="batch statistics")


C_KEEPS_ITS_PROMISE = (
    "Model C: which of your two probes found something there? Two runs of `leaks` need the same "
    "random numbers; and does `pad_invariant` compare outputs at real tokens only?"
)


@exercise.mistake(C_KEEPS_ITS_PROMISE)
def c_leaks():
    return but(C="one token ahead")


@exercise.mistake(C_KEEPS_ITS_PROMISE)
def c_inverted():
    return but(C="mask inverted")


@exercise.mistake(C_KEEPS_ITS_PROMISE)
def c_wrong_corner():
    return but(C="wrong corner")


@exercise.mistake(C_KEEPS_ITS_PROMISE)
def c_statistics():
    return but(C="batch statistics")


@exercise.mistake(
    "Model C: padding is masked there. If your probe says otherwise: does it compare each real "
    "token with itself, and nothing else?"
)
def c_attends_to_padding():
    return but(C="padding")


@exercise.mistake(
    "Model D: every output moves with every later token. If you saw none of this: did something "
    "switch the model to `eval()`?"
)
def d_is_fine():
    return but(D="nothing")


@exercise.mistake(
    "Model D: every pair leaks, as with an inverted mask. Test it again after `eval()`: which "
    "layer behaves differently then?"
)
def d_inverted():
    return but(D="mask inverted")


@exercise.mistake(
    "Model D: padding does change its outputs, but later tokens do, too. What could pass both on "
    "to every place?"
)
def d_padding():
    return but(D="padding")


@exercise.mistake(
    "Model D: some of the pairs that leak are far more than one token apart. Does `eval()` change "
    "your list of pairs?"
)
def d_one_ahead():
    return but(D="one token ahead")


@exercise.mistake(
    "Model D: with a triangle in the wrong corner, short sequences do not leak. What does your "
    "probe say about D with T = 3, and after `eval()`?"
)
def d_wrong_corner():
    return but(D="wrong corner")


@exercise.mistake(
    "Model E: with a triangle in the wrong corner, short sequences do not leak, and a query still "
    "sees the past. What do T = 3 and the cells below the diagonal show?"
)
def e_wrong_corner():
    return but(E="wrong corner")


@exercise.mistake(
    "Model E: `leaks` finds pairs there. If your list is empty: does your probe tolerate too much, "
    "or change only one token?"
)
def e_is_fine():
    return but(E="nothing")


@exercise.mistake(
    "Model E: every pair leaks, but nothing in E takes a mean over the batch. What does True mean "
    "in the `attn_mask` of `scaled_dot_product_attention`?"
)
def e_statistics():
    return but(E="batch statistics")


@exercise.mistake(
    "Model E: it attends to padding, and to later tokens as well. Which single line causes both?"
)
def e_padding():
    return but(E="padding")


@exercise.mistake(
    "Model E: some of the pairs that leak are far more than one token apart. How far apart are "
    "they?"
)
def e_one_ahead():
    return but(E="one token ahead")


@exercise.mistake(
    "Model F: its pairs reach further than one token, and short sequences (T up to 5) do not leak "
    "at all. What happens to the keys of longer sequences?"
)
def f_one_ahead():
    return but(F="one token ahead")


@exercise.mistake(
    "Model F: with an inverted mask, it would see every later token, but some pairs are missing "
    "from your list. Which keys does the first query see, and why those?"
)
def f_inverted():
    return but(F="mask inverted")


@exercise.mistake(
    "Model F: padding does matter there, because it changes which keys are kept. But `leaks` finds "
    "something even without padding: at which key does the last query stand, and at which row of "
    "the triangle?"
)
def f_padding():
    return but(F="padding")


@exercise.mistake(
    "Model F: statistics of a batch leak at every length, and not in evaluation mode. What does "
    "your probe say about F with T = 3, and after `eval()`?"
)
def f_statistics():
    return but(F="batch statistics")


@exercise.mistake("Model F: `leaks` finds pairs in sequences of eight tokens. How long were yours?")
def f_is_fine():
    return but(F="nothing")


@exercise.mistake(
    "Model E: that is two findings. Both can have one cause: which of the six names the cause, and "
    "not what it leads to?"
)
def e_two_findings():
    return but(E="mask inverted, padding")


@exercise.mistake(
    "You say that nothing is wrong with any of the six. For which models do your probes report a "
    "leak, or outputs that padding changes?"
)
def nothing_anywhere():
    return {"findings": dict.fromkeys(NAMES, "nothing")}


@exercise.mistake(
    "You give the six words to the models in the order of the list. What do your probes report "
    "about each of them?"
)
def in_the_order_of_the_list():
    words = "nothing,one token ahead,mask inverted,wrong corner,batch statistics,padding"
    return {"findings": dict(zip(NAMES, words.split(","), strict=True))}


@exercise.also_right
def in_capitals():
    return {"findings": {name: said.upper() for name, said in RIGHT.items()}}


@exercise.also_right
def with_more_models():
    return {"findings": {"G": "never seen", **dict(reversed(RIGHT.items()))}}
