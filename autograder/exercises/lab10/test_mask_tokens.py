"""test_mask_tokens: a test that finds wrong maskings, although right ones differ in every draw."""

from __future__ import annotations

import torch

from attnlab.pretraining import mask_tokens
from gradekit.exercise import write_a_test

VERSIONS = [
    "special_tokens_chosen",
    "only_the_first_special_token",
    "labels_everywhere",
    "labels_at_the_others",
    "padding_as_no_label",
    "kept_tokens_without_a_label",
    "label_only_under_mask",
    "labels_after_the_change",
    "changes_the_ids",
    "float_labels",
    "only_mask",
    "always_mask",
    "never_kept",
    "tenth_of_a_fifth",
    "hidden_and_chosen_apart",
    "random_tokens_anywhere",
    "all_tokens_are_words",
    "special_tokens_come_first",
    "drawn_from_the_batch",
    "one_random_token",
    "same_places_in_each_row",
    "fixed_number_per_row",
    "generator_ignored",
    "seeded_inside",
    "p_ignored",
    "mask_and_random_exchanged",
]

exercise = write_a_test(
    "test_mask_tokens",
    of=mask_tokens,
    points=3.5,
    title="Rejects wrong versions of mask_tokens, and accepts right ones.",
    versions=VERSIONS,
)


@exercise.check(points=2.5)
def openly_wrong(lab, draw):
    """Accepts your own mask_tokens; rejects it once it is obviously wrong."""

    def hides_nothing(ids, special, vocab_size, mask_id, p=0.15, *, generator=None):
        return ids.clone(), torch.full_like(ids, -100)

    def hides_everything(ids, special, vocab_size, mask_id, p=0.15, *, generator=None):
        return torch.full_like(ids, mask_id), ids.clone()

    def no_labels(ids, special, vocab_size, mask_id, p=0.15, *, generator=None):
        x, y = lab.mask_tokens(ids, special, vocab_size, mask_id, p, generator=generator)
        return x, torch.full_like(y, -100)

    def forgets_to_hide(ids, special, vocab_size, mask_id, p=0.15, *, generator=None):
        _, y = lab.mask_tokens(ids, special, vocab_size, mask_id, p, generator=generator)
        return ids.clone(), y

    accepted = draw.accepted(lab.test_mask_tokens, lab.mask_tokens)
    broken = {
        "rejects one that hides nothing": hides_nothing,
        "rejects one that hides everything": hides_everything,
        "rejects one without labels": no_labels,
        "rejects one whose chosen tokens all stay": forgets_to_hide,
    }
    rejected = {name: draw.rejects(lab.test_mask_tokens, f) for name, f in broken.items()}
    raised = draw.raises(lab.test_mask_tokens, forgets_to_hide)
    return {"accepts your own": accepted, **rejected, "what it raises": raised}


SPECIAL = torch.tensor([0, 1, 2, 3])


def some_rows(vocab_size=1000, rows=1000):
    """Random words between [CLS] and [SEP], and padding at the end of some rows."""
    ids = torch.randint(4, vocab_size, (rows, 100))
    ids[:, 0], ids[:, 80] = 1, 2
    ids[::2, 81:] = 0
    return ids


def within(count, n, p):
    """Whether a share of n draws is within six standard deviations."""
    return abs(count / n - p) <= 6 * (p * (1 - p) / n) ** 0.5


def shares_are_right(impl):
    ids = some_rows()
    x, labels = impl(ids, SPECIAL, 1000, 3, generator=torch.Generator().manual_seed(5))
    chosen, special = labels != -100, torch.isin(ids, SPECIAL)
    n = int(chosen.sum())
    assert within(n, int((~special).sum()), 0.15)
    assert within(int((x == 3)[chosen].sum()), n, 0.8)
    assert within(int((x == ids)[chosen].sum()), n, 0.1 + 0.1 / 996)


def labels_are_right(impl):
    ids = some_rows()
    before = ids.clone()
    x, labels = impl(ids, SPECIAL, 1000, 3, generator=torch.Generator().manual_seed(5))
    assert ids.equal(before)
    assert x.dtype == labels.dtype == torch.int64
    chosen = labels != -100
    assert labels[chosen].equal(ids[chosen])
    assert x[~chosen].equal(ids[~chosen])
    assert not chosen[torch.isin(ids, SPECIAL)].any()


def words_are_right(impl):
    special = torch.tensor([7, 0, 4])
    ids = torch.full((200, 50), 5)
    x, _ = impl(ids, special, 9, 4, 1.0, generator=torch.Generator().manual_seed(5))
    assert set(x.unique().tolist()) == {1, 2, 3, 4, 5, 6, 8}


def draws_are_random(impl):
    ids = some_rows(rows=400)
    a, b = (torch.Generator().manual_seed(5) for _ in range(2))
    first, again, second = (impl(ids, SPECIAL, 1000, 3, generator=g) for g in (a, b, a))
    assert first[0].equal(again[0])
    assert first[1].equal(again[1])
    assert not first[1].equal(second[1])
    chosen = first[1] != -100
    counts = chosen[:, 1:80].sum(1).double()
    assert 0.5 < float(counts.var()) / (79 * 0.15 * 0.85) < 2
    columns = chosen[:, 1:80].sum(0)
    assert columns.min() > 0
    assert columns.max() < 400


@exercise.mistake(
    "Your test lets everything pass. Does it test `impl`, its argument, and does it reach an "
    "`assert` whose condition can be false?"
)
def asserts_nothing(impl):
    impl(some_rows(rows=10), SPECIAL, 1000, 3)


@exercise.mistake(
    "Your test returns its verdict, True or False, but nothing reads it. Which statement turns a "
    "False into an error?"
)
def returns_its_verdict(impl):
    ids = some_rows()
    x, labels = impl(ids, SPECIAL, 1000, 3)
    chosen = labels != -100
    return bool((labels == ids)[chosen].all() and (x == ids)[~chosen].all() and chosen.any())


@exercise.mistake(
    "Your test looks at shapes and types alone. Which numbers can be wrong although both are right?"
)
def shapes_only(impl):
    ids = some_rows(rows=20)
    x, labels = impl(ids, SPECIAL, 1000, 3)
    assert x.shape == labels.shape == ids.shape
    assert x.dtype == labels.dtype == torch.int64


@exercise.mistake(
    "Your test looks at labels and never counts. A version that hides every word would pass: which "
    "four shares does 10.1 name?"
)
def never_counts(impl):
    labels_are_right(impl)
    words_are_right(impl)
    draws_are_random(impl)


@exercise.mistake(
    "Your test counts, and never compares a label with the old token. What can be wrong with a "
    "label?"
)
def counts_only(impl):
    shares_are_right(impl)
    draws_are_random(impl)


@exercise.mistake(
    "Your test has no input in which special tokens are between the words, so a version that takes "
    "the first numbers for special ones passes. What does 10.1 say about their order?"
)
def special_tokens_first(impl):
    labels_are_right(impl)
    shares_are_right(impl)
    draws_are_random(impl)


@exercise.mistake(
    "Your test makes a single call. What can only be seen if the same generator is used twice, or "
    "two equal ones once each?"
)
def one_call(impl):
    labels_are_right(impl)
    shares_are_right(impl)


@exercise.mistake(
    "Your test has no special tokens in its rows. Which wrong versions does it let pass?"
)
def words_only(impl):
    ids = torch.randint(4, 1000, (800, 100))
    x, labels = impl(ids, SPECIAL, 1000, 3, generator=torch.Generator().manual_seed(5))
    chosen = labels != -100
    assert labels[chosen].equal(ids[chosen])
    assert within(int(chosen.sum()), ids.numel(), 0.15)
    assert within(int((x == 3)[chosen].sum()), int(chosen.sum()), 0.8)
    draws_are_random(impl)


@exercise.mistake(
    "Your test has few tokens, so its bounds must be wide, and wrong shares fit into them. How "
    "many tokens does a share need to be known to one percent?"
)
def too_few_tokens(impl):
    ids = torch.randint(4, 1000, (10, 20))
    x, labels = impl(ids, SPECIAL, 1000, 3, generator=torch.Generator().manual_seed(5))
    chosen = labels != -100
    n = int(chosen.sum())
    assert within(n, ids.numel(), 0.15)
    assert within(int((x == 3)[chosen].sum()), max(n, 1), 0.8)


@exercise.mistake(
    "Your test rejects right versions: it compares draws with those of one version. Do equal seeds "
    "give equal draws if two versions call the generator in another order?"
)
def compares_draws(impl):
    ids = some_rows(rows=50)
    generator = torch.Generator().manual_seed(5)
    chosen = torch.rand(ids.shape, generator=generator) < 0.15
    chosen &= ~torch.isin(ids, SPECIAL)
    _, labels = impl(ids, SPECIAL, 1000, 3, generator=torch.Generator().manual_seed(5))
    assert labels.equal(torch.where(chosen, ids, -100))


@exercise.mistake(
    "Your test rejects right versions: its bounds are narrower than chance. How far does a share "
    "of n draws usually lie from its probability?"
)
def bounds_too_narrow(impl):
    ids = torch.randint(4, 1000, (100, 100))
    _, labels = impl(ids, SPECIAL, 1000, 3, generator=torch.Generator().manual_seed(5))
    assert abs((labels != -100).double().mean() - 0.15) < 1e-4


@exercise.mistake(
    "Your test rejects right versions: it wants every chosen token to change. What happens to one "
    "chosen token in ten?"
)
def all_must_change(impl):
    ids = some_rows(rows=50)
    x, labels = impl(ids, SPECIAL, 1000, 3)
    assert (x != ids)[labels != -100].all()


@exercise.mistake(
    "Your test rejects right versions: it wants [MASK] wherever there is a label. Which two other "
    "things can be there?"
)
def all_must_be_hidden(impl):
    ids = some_rows(rows=50)
    x, labels = impl(ids, SPECIAL, 1000, 3)
    assert (x == 3).equal(labels != -100)


@exercise.mistake(
    "Your test rejects wrong versions with another error than AssertionError. Which error does the "
    "task ask for?"
)
def another_error(impl):
    try:
        four_parts(impl)
    except AssertionError:
        raise ValueError("a wrong version") from None


@exercise.also_right
def four_parts(impl):
    shares_are_right(impl)
    labels_are_right(impl)
    words_are_right(impl)
    draws_are_random(impl)
    ids = torch.randint(4, 1000, (300, 100))
    for p in (0.0, 0.5, 1.0):
        chosen = impl(ids, SPECIAL, 1000, 3, p, generator=torch.Generator().manual_seed(5))[1] > 0
        assert within(int(chosen.sum()), ids.numel(), p)
    x, _ = impl(ids, SPECIAL, 1000, 3, 1.0, generator=torch.Generator().manual_seed(5))
    for row in x:
        assert len(row.unique()) > 4


@exercise.also_right
def with_five_words(impl):
    """Everything from one small vocabulary, by counting what each word became."""
    special, words = torch.tensor([5, 0, 7]), torch.tensor([1, 2, 3, 4, 6])
    ids = words[torch.randint(5, (3000, 40))]
    ids[:, 7], ids[:, 20], ids[::3, 30:] = 0, 7, 5
    before, generator = ids.clone(), torch.Generator().manual_seed(5)
    torch.manual_seed(11)
    x, y = impl(ids, special, 8, 7, 0.3, generator=generator)
    _, y2 = impl(ids, special, 8, 7, 0.3, generator=generator)
    torch.manual_seed(12)
    x3, y3 = impl(ids, special, 8, 7, 0.3, generator=torch.Generator().manual_seed(5))
    assert x3.equal(x)
    assert y3.equal(y)
    assert not y.equal(y2)
    assert ids.equal(before)
    assert not y.is_floating_point()
    is_special = torch.isin(before, special)
    chosen = y != -100
    assert not (chosen & is_special).any()
    assert (y == before)[chosen].all()
    assert (x == before)[~chosen].all()
    for word in words.tolist():
        here = before == word
        n = int((here & chosen).sum())
        assert within(n, int(here.sum()), 0.3)
        assert within(int((x == 7)[here & chosen].sum()), n, 0.8)
        for other in words.tolist():
            expected = 0.02 + 0.1 * (other == word)
            assert within(int((x == other)[here & chosen].sum()), n, expected)
    per_row = (chosen & ~is_special)[1::3].sum(1).double()
    assert 0.5 < float(per_row.var()) / (38 * 0.3 * 0.7) < 2
    per_column = (chosen & ~is_special)[:, 1].double().mean()
    assert 0.05 < float(per_column) < 0.8
    alone = torch.full((200, 50), 3)
    x, _ = impl(alone, special, 8, 7, 1.0, generator=generator)
    assert set(x.flatten().tolist()) == {1, 2, 3, 4, 6, 7}
