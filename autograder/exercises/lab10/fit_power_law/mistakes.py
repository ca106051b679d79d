"""Known mistakes in the three functions: edits of right versions."""

from __future__ import annotations

from . import exercise
from .also_right import by_polyfit, by_sums, divided, in_a_loop

NOT_ABOVE = (
    "A loss at or below the floor gets through, and what comes back is NaN or bent by that point. "
    "What does the task ask for?"
)

# Starts at the right answer, and goes on to the least squares of another distance.
SQUARES_OF_LOSSES = """\
    xm, ym = x.mean(), y.mean()
    slope = ((x - xm) * (y - ym)).sum() / ((x - xm) ** 2).sum()
    found = torch.stack((ym - slope * xm, -slope))
    for _ in range(50):
        curve = torch.exp(found[0] - found[1] * x)
        tangent = torch.stack((curve, -x * curve), 1)
        found = found + torch.linalg.lstsq(tangent, (above - curve)[:, None]).solution[:, 0]
    return float(found[0].exp()), float(found[1])"""

wrong = exercise.edits(in_a_loop, of="num_parameters")

wrong(
    "tied_table_twice",
    "    for parameter in model.parameters():\n        if parameter.requires_grad:\n",
    "    frozen = {name for name, p in model.named_parameters() if not p.requires_grad}\n"
    "    buffers = dict(model.named_buffers())\n"
    "    for name, parameter in model.state_dict().items():\n"
    "        if name not in frozen and name not in buffers:\n",
    "A table that the model uses twice counts twice. How many numbers of it are trained?",
)
wrong(
    "embeddings_left_out",
    "    for parameter in model.parameters():\n        if parameter.requires_grad:\n",
    "    tables = {id(m.weight) for m in model.modules() if isinstance(m, torch.nn.Embedding)}\n"
    "    for parameter in model.parameters():\n"
    "        if parameter.requires_grad and id(parameter) not in tables:\n",
    "Your number leaves out the embeddings. Some papers count so, others do not, and their curves "
    "cannot be compared. What does this task count?",
)
wrong(
    "buffers_counted",
    "    return total",
    "    return total + sum(buffer.numel() for buffer in model.buffers())",
    "Your number includes buffers. Are they trained?",
)
wrong(
    "frozen_counted",
    "if parameter.requires_grad:",
    "if parameter is not None:",
    "Your number includes parameters that take no gradient. Are they trained?",
)
wrong(
    "everything_saved_counted",
    "    for parameter in model.parameters():\n        if parameter.requires_grad:\n"
    "            total += parameter.numel()\n",
    "    for tensor in model.state_dict().values():\n        total += tensor.numel()\n",
    "You count all that the model saves: buffers, parameters that are not trained, and a table "
    "once for each of its names. Which of these numbers are trained?",
)
wrong(
    "tensors_counted",
    "parameter.numel()",
    "1",
    "You count tensors. How many numbers does each of them hold?",
)
wrong(
    "first_axis_counted",
    "parameter.numel()",
    "len(parameter)",
    "You count the rows of each tensor. How many numbers does it hold?",
)

wrong = exercise.edits(divided, of="power_law")

wrong(
    "rising",
    "A / n",
    "A * n",
    "Your loss rises with n. Which sign does the exponent have?",
)
wrong(
    "floor_forgotten",
    " + floor",
    "",
    "Your loss goes to 0 for large n. Where does the floor come in?",
)
wrong(
    "exponential",
    "A / n.to(torch.float64) ** alpha",
    "A * torch.exp(-alpha * n.to(torch.float64))",
    "Your loss falls exponentially in n. Which of the two is in the exponent of a power law?",
)
wrong(
    "floor_inside",
    "A / n.to(torch.float64) ** alpha + floor",
    "(A + floor) / n.to(torch.float64) ** alpha",
    "Your floor is multiplied by the power, too, so it is none. What is left for a very large n?",
)
wrong(
    "curve_in_float32",
    "n.to(torch.float64)",
    "n.to(torch.float32)",
    "Your curve is float32. Which dtype does the task ask for?",
)
wrong(
    "A_in_the_power",
    "A / n.to(torch.float64) ** alpha",
    "(A / n.to(torch.float64)) ** alpha",
    "Your A is raised to the power, too. To what does the exponent belong?",
)

wrong = exercise.edits(by_sums, of="fit_power_law")

wrong(
    "loss_itself",
    "above.log()",
    "above",
    "You fit a line to the losses and not to their logarithms. Which quantity is a straight line "
    "in log n?",
)
wrong(
    "size_itself",
    "n.double().log()",
    "n.double()",
    "You fit a line in n and not in log n. Then the law is an exponential. Which axes are "
    "logarithmic?",
)
wrong(
    "floor_not_subtracted",
    "above.log()",
    "loss.double().log()",
    "You check the floor, but fit the losses above 0. Which distance falls like a power?",
)
wrong(
    "logarithms_mixed",
    "above.log()",
    "above.log10()",
    "Your two logarithms have different bases, so the slope is not the exponent. Which base does "
    "`exp` undo?",
)
wrong.several(
    "base_ten_undone_by_e",
    {"n.double().log(), above.log()": "n.double().log10(), above.log10()"},
    "You take logarithms to base 10, and `exp` at the end. Which function undoes log₁₀?",
)
wrong(
    "sign_of_alpha",
    "float(-slope)",
    "float(slope)",
    "Your alpha is below 0 for a loss that falls. What is the slope of n^(-alpha) on logarithmic "
    "axes?",
)
wrong(
    "height_not_undone",
    "math.exp(ym - slope * xm)",
    "float(ym - slope * xm)",
    "You return the logarithm of A. What turns the height of the line into A?",
)
wrong(
    "height_at_the_middle",
    "math.exp(ym - slope * xm)",
    "math.exp(ym)",
    "Your A is the height of the line at the mean of log n. At which n does the loss lie A above "
    "the floor?",
)
wrong(
    "floor_added_to_A",
    "math.exp(ym - slope * xm)",
    "floor + math.exp(ym - slope * xm)",
    "Your A includes the floor. From where is A measured?",
)
wrong(
    "exchanged",
    "return math.exp(ym - slope * xm), float(-slope)",
    "return float(-slope), math.exp(ym - slope * xm)",
    "A and alpha are exchanged. In which order does the task name them?",
)
wrong(
    "size_from_loss",
    "/ ((x - xm) ** 2).sum()",
    "/ (((x - xm) * (y - ym)).sum() ** 2 / ((y - ym) ** 2).sum())",
    "Your squares are those of log n around a line in the loss. Which of the two is predicted from "
    "which?",
)
wrong.several(
    "axes_exchanged",
    {"n.double().log(), above.log()": "above.log(), n.double().log()"},
    "Your line says log n for a given loss. Which of the two is on which axis?",
)
wrong(
    "sign_thrown_away",
    "float(-slope)",
    "abs(float(slope))",
    "Your alpha is above 0 even if the loss rises. What does `abs` throw away?",
)
wrong(
    "squares_of_losses",
    "    xm, ym = x.mean(), y.mean()\n"
    "    slope = ((x - xm) * (y - ym)).sum() / ((x - xm) ** 2).sum()\n"
    "    return math.exp(ym - slope * xm), float(-slope)",
    SQUARES_OF_LOSSES,
    "You minimise the squared distances of the losses, so the largest loss decides. Of what should "
    "the squares be the least?",
)
wrong(
    "first_and_last_only",
    "    xm, ym = x.mean(), y.mean()\n",
    "    x, y = x[[0, -1]], y[[0, -1]]\n    xm, ym = x.mean(), y.mean()\n",
    "Your line goes through the first and the last point, whatever the others are. Which points "
    "count in least squares?",
)
wrong(
    "below_the_floor_is_nan",
    '    if not (above > 0).all():\n        raise ValueError("a loss is not above the floor")\n',
    "",
    NOT_ABOVE,
)
wrong(
    "at_the_floor_allowed",
    "if not (above > 0).all():",
    "if not (above >= 0).all():",
    "A loss exactly at the floor gets through. What is the logarithm of 0?",
)
wrong(
    "nan_allowed",
    "if not (above > 0).all():",
    "if (above <= 0).any():",
    "A loss of NaN gets through: no comparison with it is true. How do you ask for what must hold?",
)
wrong(
    "clamped",
    '    if not (above > 0).all():\n        raise ValueError("a loss is not above the floor")\n',
    "    above = above.clamp(min=1e-6)\n",
    NOT_ABOVE,
)
wrong(
    "dropped",
    '    if not (above > 0).all():\n        raise ValueError("a loss is not above the floor")\n',
    "    n, above = n[above > 0], above[above > 0]\n",
    "You leave out points that are not above the floor, and nobody notices. What do they say about "
    "the floor, or about the loss?",
)
wrong(
    "one_size_allowed",
    '    if len(set(n.tolist())) < 2:\n        raise ValueError("two sizes are needed")\n',
    "",
    "With one size alone you divide by 0. What does the task ask for?",
)
wrong(
    "points_counted",
    "len(set(n.tolist())) < 2",
    "len(n) < 2",
    "Four points of one size get through. What does a line need two of?",
)
wrong(
    "tensors_returned",
    "return math.exp(ym - slope * xm), float(-slope)",
    "return (ym - slope * xm).exp(), -slope",
    "You return tensors. What does the task ask for?",
)
wrong.several(
    "fitted_in_float32",
    {"n.double().log(), above.log()": "n.float().log(), above.float().log()"},
    "You fit in float32, where a handful of digits is right. Which dtype does the task ask for?",
)
wrong(
    "weighted_by_size",
    "    xm, ym = x.mean(), y.mean()\n",
    "    w = n.double() / n.sum()\n    xm, ym = (w * x).sum(), (w * y).sum()\n",
    "Your means give large models more weight. How much does each point count?",
)

poly = exercise.edits(by_polyfit, of="fit_power_law")

poly(
    "line_through_zero",
    "slope, height = np.polyfit(np.log10(sizes), np.log10(above), 1)",
    "slope, height = float(np.log10(above) @ np.log10(sizes) / (np.log10(sizes) ** 2).sum()), 0.0",
    "Your line goes through 0, so A is always 1. Which two numbers does a line have?",
)
