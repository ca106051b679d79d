"""mixed_precision: a loss scaler, an update that may be skipped, and a step in 16 and 32 bits."""

from __future__ import annotations

import math
import warnings

import torch
from torch import nn

from attnlab.checking.judges import Close
from attnlab.checking.raised import raised_by
from attnlab.optimizers import clip_global_norm
from attnlab.pretend_gpu import PretendGPU
from attnlab.train_step import mixed_step, scaler_for, update
from gradekit.exercise import Exercise

exercise = Exercise(scaler_for, update, mixed_step, uses=[clip_global_norm])

CPU = torch.device("cpu")
# torch's clipping adds 1e-6 to the norm; clipping by hand need not.
ROUGHLY = Close(atol=1e-5, rtol=1e-5)
# Products in 16 bits are rounded by each processor in its own way.
IN_16_BITS = Close(atol=2e-2, rtol=2e-2)


def about(scaler):
    return {
        "type": type(scaler).__name__,
        "enabled": scaler.is_enabled(),
        "a loss of 3 becomes": float(scaler.scale(torch.tensor(3.0))),
        "scale": scaler.get_scale(),
    }


@exercise.check(points=1)
def scalers(lab, draw):
    """`scaler_for`: a loss is scaled in fp16, and in no other precision."""
    return {
        precision: about(lab.scaler_for(precision, CPU)) for precision in ("fp32", "bf16", "fp16")
    }


@exercise.check(points=0.5, hidden=True)
def scalers_for_many_tokens(lab, draw):
    """`scaler_for`: a sum over many tokens has a smaller first scale; a GPU's is on the GPU."""
    seen = {
        f"{tokens} tokens": about(lab.scaler_for("fp16", CPU, tokens)) for tokens in (1, 2, 2048)
    }
    odd = lab.scaler_for("fp16", CPU, 3000).get_scale()
    seen["3000 tokens"] = {
        "a power of 2": math.frexp(odd)[0] == 0.5,
        "about 65,536 / 3,000": 0.5 < odd * 3000 / 65536 < 2,
    }
    seen["tokens, in bf16"] = about(lab.scaler_for("bf16", CPU, tokens=64))
    with PretendGPU():
        scaled = lab.scaler_for("fp16", torch.device("cuda")).scale(torch.ones((), device="cuda"))
        seen["on a GPU"] = [scaled.device.type, float(scaled)]
    return seen


class Case:
    """Two parameters with gradients of a known true size, from a scaled loss."""

    def __init__(self, draw, kind=torch.optim.SGD, scale=65536.0, enabled=True, interval=2000):
        self.parameters = [nn.Parameter(draw.normal(*shape).float()) for shape in ((3, 4), (5,))]
        self.optimizer = kind(self.parameters, lr=1.0)
        self.scaler = torch.amp.GradScaler("cpu", scale, growth_interval=interval, enabled=enabled)

    def backward(self, draw, norm, spoil=None, where=0):
        """Fill `.grad`: gradients of this common length; one of them may be inf or nan."""
        self.optimizer.zero_grad()
        true = [draw.normal(*parameter.shape).float() for parameter in self.parameters]
        length = torch.cat([grad.flatten() for grad in true]).norm()
        pairs = zip(self.parameters, true, strict=True)
        loss = sum((parameter * grad * norm / length).sum() for parameter, grad in pairs)
        self.scaler.scale(loss).backward()
        if spoil is not None:
            self.parameters[where].grad.view(-1)[-1] = spoil

    def weights(self):
        return [parameter.detach().clone() for parameter in self.parameters]

    def update(self, lab, *limit):
        """One update: how far the weights moved, and what came back."""
        before, error = self.weights(), None
        try:
            norm, updated = lab.update(self.optimizer, self.scaler, iter(self.parameters), *limit)
        except NotImplementedError:
            raise
        except Exception as raised:  # each update has its own, so that later ones are seen, too
            norm, updated, error = None, None, raised_by(raised)
        moved = [now - then for now, then in zip(self.weights(), before, strict=True)]
        return {
            "error": error,
            "the weights stand still": not any(bool(change.any()) for change in moved),
            "moved": torch.cat([change.flatten() for change in moved]).nan_to_num(nan=1e9),
            "length of the gradients": norm,
            "updated": updated if isinstance(updated, bool) else type(updated).__name__,
            "scale afterwards": self.scaler.get_scale(),
        }


def skipped(found):
    """The report on an update that should be skipped: its gradients have no true length."""
    return {key: value for key, value in found.items() if key not in ("moved", NORM)}


NORM = "length of the gradients"


@exercise.check(points=3, judge=ROUGHLY)
def after_an_infinite_gradient(lab, draw):
    """`update`: after an inf gradient, the weights stand still and the scale has halved."""
    case = Case(draw)
    case.backward(draw, 3.0, spoil=math.inf)
    first = skipped(case.update(lab, 4.0))
    case.backward(draw, 3.0)
    return {"with inf": first, "the next one, finite": case.update(lab, 4.0)}


@exercise.check(points=2, judge=ROUGHLY)
def gradients_at_their_true_size(lab, draw):
    """`update`: gradients are measured and limited at their true size."""
    seen = {}
    for limit in (4.0, 1.5):
        case = Case(draw)
        case.backward(draw, 3.0)
        seen[f"gradients of length 3, limit {limit:g}"] = case.update(lab, limit)
    return seen


@exercise.check(points=1, hidden=True, judge=ROUGHLY)
def not_finite(lab, draw):
    """`update`: inf and nan in any parameter, several times; Adam's averages do not see them."""
    seen = {}
    for name, spoil in (("inf", math.inf), ("-inf", -math.inf), ("nan", math.nan)):
        case = Case(draw, lambda p, lr: torch.optim.Adam(p, lr=lr, betas=(0.8, 0.9)))
        case.backward(draw, 2.0)
        first = case.update(lab, 1.0)
        bad = []
        for where in (1, 0):
            case.backward(draw, 2.0, spoil, where)
            bad.append(skipped(case.update(lab, 1.0)))
        case.backward(draw, 2.0)
        seen[name] = [first, bad, case.update(lab, 1.0)]
    return seen


@exercise.check(points=1, hidden=True, judge=ROUGHLY)
def scale_grows_again(lab, draw):
    """`update`: the scale doubles after many finite updates, which are updates like all others."""
    case = Case(draw, scale=256.0, interval=2)
    seen = []
    for spoil in (None, None, None, math.inf, None, None):
        case.backward(draw, 2.0, spoil)
        found = case.update(lab, 1.0)
        seen.append(found if spoil is None else skipped(found))
    return seen


@exercise.check(points=1, hidden=True, judge=ROUGHLY)
def without_a_scaler(lab, draw):
    """`update`: with a disabled scaler, gradients are limited and applied, finite or not."""
    seen = {}
    for name, limit in (("limit 1.5", [1.5]), ("no limit", [None]), ("limit not given", [])):
        case = Case(draw, enabled=False)
        case.backward(draw, 3.0)
        seen[name] = case.update(lab, *limit)
    case = Case(draw, enabled=False)
    case.backward(draw, 3.0, math.inf)
    seen["with inf: the weights stand still"] = case.update(lab, 1.5)["the weights stand still"]
    case = Case(draw)
    case.backward(draw, 7.0)
    seen["scaled, no limit"] = case.update(lab)
    return seen


@exercise.check(points=0.5, hidden=True, judge=ROUGHLY)
def some_parameters(lab, draw):
    """`update`: parameters without a gradient are left alone, and only the given ones count."""
    case = Case(draw)
    case.backward(draw, 3.0)
    rest = case.parameters.pop()
    kept = rest.detach().clone()
    found = case.update(lab, 0.5)
    other = Case(draw)
    other.backward(draw, 3.0)
    other.parameters[0].grad = None
    return {
        "of the first alone": found,
        "the second moved by": rest.detach() - kept,
        "one without a gradient": other.update(lab, 0.5),
    }


class Model(nn.Module):
    """Logits of a few words; it notes in which dtypes it computes."""

    def __init__(self, draw):
        super().__init__()
        self.weight = nn.Parameter(draw.choice([-1.0, -0.5, 0.5, 1.0], 6, 5).float())
        self.calls, self.arriving = [], []
        self.weight.register_hook(self.note)

    def note(self, grad):
        self.arriving.append([str(grad.dtype), float(grad.abs().max())])

    def forward(self, words):
        out = words @ self.weight
        self.calls.append([str(self.weight.dtype), str(out.dtype)])
        return out


def scaled_loss(model, batch):
    words, labels, factor = batch
    found = nn.functional.cross_entropy(model(words), labels) * factor
    model.calls.append(str(found.dtype))
    return found


def a_batch(draw, factor=1.0):
    words = draw.choice([-1.0, 0.0, 1.0, 2.0], 4, 6).float()
    return words, draw.integers(0, 5, 4), torch.tensor(factor)


class Run:
    """A model, its optimizer, a scaler and a schedule that halves the rate."""

    def __init__(self, lab, draw, precision, kind=torch.optim.SGD, scale=1024.0):
        self.lab, self.precision, self.model = lab, precision, Model(draw)
        self.optimizer = kind(self.model.parameters(), lr=0.5)
        self.scaler = torch.amp.GradScaler("cpu", scale, enabled=precision == "fp16")
        self.scheduler = torch.optim.lr_scheduler.ExponentialLR(self.optimizer, 0.5)

    def step(self, batch, *limit):
        """One step; torch's own warning about a scheduler that steps first is not shown."""
        with warnings.catch_warnings(action="ignore"):
            loss, updated = self.lab.mixed_step(
                self.model, scaled_loss, batch, self.optimizer, self.scaler, self.scheduler,
                self.precision, *limit,
            )  # fmt: skip
        return {
            "loss": loss,
            "updated": updated if isinstance(updated, bool) else type(updated).__name__,
            "the next rate": self.optimizer.param_groups[0]["lr"],
            "scale": self.scaler.get_scale(),
        }


@exercise.check(points=1.5, judge=IN_16_BITS)
def sixteen_and_thirty_two_bits(lab, draw):
    """`mixed_step`: products in bf16; the loss, the weights and their gradients in float32."""
    run = Run(lab, draw, "bf16")
    found = run.step(a_batch(draw))
    grad = run.model.weight.grad
    return {
        "weight and product, loss": run.model.calls,
        "weight afterwards": str(run.model.weight.dtype),
        "gradient": None if grad is None else str(grad.dtype),
        "loss that is returned": [str(found["loss"].dtype), found["loss"].requires_grad],
        "gradients as they arrive": run.model.arriving,
    }


@exercise.check(points=1, judge=IN_16_BITS)
def schedule_waits(lab, draw):
    """`mixed_step`: if an update is skipped, the learning rate stays where it is."""
    run = Run(lab, draw, "fp16")
    return [run.step(a_batch(draw, factor)) for factor in (1.0, 1e37, 1.0)]


@exercise.check(points=1, hidden=True, judge=IN_16_BITS)
def every_precision(lab, draw):
    """`mixed_step`: in each precision, the loss, the weights and the gradients are right."""
    seen = {}
    for precision in ("fp32", "bf16", "fp16"):
        run = Run(lab, draw, precision)
        run.model.weight.grad = torch.ones_like(run.model.weight)
        steps = [run.step(a_batch(draw)) for _ in range(2)]
        seen[precision] = {
            "steps": steps,
            "weight": run.model.weight.detach(),
            "dtypes": run.model.calls,
            "gradients as they arrive": run.model.arriving,
        }
    return seen


@exercise.check(points=0.5, hidden=True, judge=IN_16_BITS)
def limits_and_averages(lab, draw):
    """`mixed_step`: the limit is used; the optimizer's averages are float32."""
    seen = {}
    for name, limit in (("limit 0.1", [0.1]), ("no limit", [None]), ("limit not given", [])):
        run = Run(lab, draw, "fp32")
        before = run.model.weight.detach().clone()
        run.step(a_batch(draw, 8.0), *limit)
        seen[name] = (run.model.weight.detach() - before) / 0.5
    run = Run(lab, draw, "bf16", torch.optim.Adam)
    run.step(a_batch(draw))
    state = run.optimizer.state[run.model.weight]
    seen["averages"] = str(state["exp_avg"].dtype) if "exp_avg" in state else "none"
    return seen
