"""Wrong versions of `is_possible`, each an edit of a right one."""

from . import exercise
from .also_right import in_one_comparison

wrong = exercise.edits(in_one_comparison, of="is_possible")

wrong(
    "no_tolerance",
    "floor - tolerance",
    "floor",
    "A lucky sample may bring a loss a little below the floor, but your function calls that "
    "impossible. What is the tolerance for?",
)
wrong(
    "no_tolerance_and_no_edge",
    ">= floor - tolerance",
    "> floor",
    "A lucky sample may bring a loss a little below the floor, but your function calls that "
    "impossible. What is the tolerance for?",
)
wrong(
    "on_the_edge",
    ">=",
    ">",
    "A loss of exactly floor - tolerance is impossible for you. Which losses does the task rule "
    "out: those below, or also that one?",
)
wrong(
    "tolerance_above",
    "floor - tolerance",
    "floor + tolerance",
    "Your tolerance raises the floor, so honest losses close to the floor are called impossible. "
    "On which side of the floor should the tolerance be?",
)
wrong(
    "close_to_the_floor",
    "loss >= floor - tolerance",
    "abs(loss - floor) <= tolerance",
    "Your function rules out a loss far above the floor, but every untrained model has one. Which "
    "side of the floor is out of reach?",
)
wrong(
    "the_other_way_round",
    ">=",
    "<",
    "Your True and False are swapped. Which of them means that the loss is possible?",
)
wrong(
    "relative_tolerance",
    "floor - tolerance",
    "floor * (1 - tolerance)",
    "You take the tolerance for a share of the floor. In which unit is it given?",
)
wrong(
    "nan_gets_through",
    "loss >= floor",
    "not loss < floor",
    "Your function allows NaN: no comparison with NaN is true, so `not (loss < …)` is True. How "
    "can you ask for what must hold?",
)
wrong(
    "infinity_ruled_out",
    "loss >=",
    "math.isfinite(loss) and loss >=",
    "Your function rules out an infinite loss. That is bad luck for a model that was too sure, but "
    "honest: which losses does the task rule out?",
)
wrong(
    "fixed_floor",
    "floor - tolerance",
    "1.373 - tolerance",
    "The floor is fixed in your function. Another source has another entropy: which argument gives "
    "it?",
)
wrong(
    "bounded_from_above",
    "loss >= floor - tolerance",
    "loss - floor <= tolerance",
    "Your function rules out high losses and allows low ones. Which side of the floor is out of "
    "reach?",
)
wrong(
    "nothing_returned",
    "return loss >= floor - tolerance",
    "if loss >= floor - tolerance:\n        return True",
    "Your function returns None for an impossible loss. What should it return there?",
)
