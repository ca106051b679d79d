"""Wrong tests of attention that ask all there is to ask, but for one promise of the task."""

from __future__ import annotations

from . import exercise
from .also_right import by_loops

wrong = exercise.edits(by_loops)

START = "torch.manual_seed(0)"


wrong(
    "two_and_three_axes",
    "((), (2,), (2, 3))",
    "((), (2,))",
    "A version passes your test that is right for one sentence and for a batch, but for nothing "
    "else. How many axes may the queries have, according to the task?",
)
for name, dtypes in (("one_dtype", "(torch.float32,)"), ("no_dtype", "()")):
    wrong(
        name,
        "(torch.float16, torch.float32, torch.bfloat16)",
        dtypes,
        "A version passes your test that does not keep float16. In which dtypes does your test "
        "call it, and what does the task promise about the dtype of both results?",
    )
wrong(
    "inputs_not_compared",
    START,
    f"{START}\n    impl = on_copies(impl)",
    "Your test accepts a version that writes into what it is given. Which tensors does your test "
    "hand over, and with what does it compare the same tensors afterwards?",
)
wrong(
    "values_not_compared",
    START,
    f"{START}\n    impl = on_copied_values(impl)",
    "Your test accepts a version that writes into the values, where no query may attend to them: "
    "its results are right, even if you compute yours afterwards. With what does your test compare "
    "the tensors that it handed over, and is that another tensor?",
)
wrong.several(
    "gradients_of_queries_with_keys",
    {
        "mask)[0].sum()": "mask | ~mask.any(-1, keepdim=True))[0].sum()",
        "[[True, True, False, True, False], [False] * 5]": "[[True, True, False, True, False]]",
    },
    "A version passes your test whose gradients are NaN if a query may attend to no key. With "
    "which masks does your test call `backward()`, and which gradients does it read?",
)
wrong(
    "weights_without_keys_not_compared",
    START,
    f"{START}\n    impl = weights_mended(impl)",
    "A version passes your test whose weights are not 0 for a query without allowed keys. Which "
    "of the two results does your test look at for such a query?",
)
wrong(
    "dtype_of_outputs_alone",
    START,
    f"{START}\n    impl = with_weights_in_the_dtype(impl)",
    "A version passes your test whose weights have another dtype than the queries. Which of the "
    "two results does your test ask for its dtype?",
)
