"""A replaced function is used by the other references of its exercise, as in a notebook."""

from __future__ import annotations

from gradekit.exercise.edits import source_text
from gradekit.exercise.one_namespace import in_one_namespace


def price(count):
    return 3 * count


class Order:
    def __init__(self, count):
        self.count = count

    def total(self):
        return price(self.count) + 1


class Express(Order):
    def total(self):
        return super().total() * 10


def free(count):
    return 0


def test_a_reference_uses_the_version_in_place_of_the_one_it_was_written_for():
    assert Order(5).total() == 16
    assert in_one_namespace([price, Order], {"price": free})["Order"](5).total() == 1


def test_so_does_one_that_uses_it_through_another_in_any_order():
    for references in ([price, Order, Express], [Express, Order, price]):
        made = in_one_namespace(references, {"price": free})
        assert made["Express"](5).total() == 10
        assert issubclass(made["Express"], made["Order"])


def test_a_reference_that_does_not_use_it_stays_the_same_object():
    assert in_one_namespace([price, Order], {"Order": Express}) == {"Order": Express}
    assert in_one_namespace([price, Order], {}) == {}


def test_the_module_of_the_reference_is_unchanged():
    made = in_one_namespace([price, Order], {"price": free})
    assert made["Order"] is not Order
    assert Order(5).total() == 16
    assert source_text(made["Order"]) == source_text(Order)
