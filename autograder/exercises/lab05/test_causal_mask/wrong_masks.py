"""Wrong masks, made of the student's own, that a student's test should reject."""

from __future__ import annotations

import torch


class DeviceAsText(str):
    """The name of a device, which equals the device itself, too."""

    def __new__(cls, device):
        named = super().__new__(cls, device)
        named.type, named.index = device.type, device.index
        return named

    def __eq__(self, other):
        return str(self) == str(other)

    def __ne__(self, other):
        return str(self) != str(other)

    __hash__ = str.__hash__


class MaskWithDeviceAsText(torch.Tensor):
    """A mask whose `device` is a `DeviceAsText`."""

    @property
    def device(self):
        return DeviceAsText(self.as_subclass(torch.Tensor).device)


class WrongMasks:
    """Wrong versions of a right `causal_mask`.

    Args:
        right: the student's own, which may be wrong, too.
    """

    def __init__(self, right):
        self.right = right

    def everything(self, Lq, Lk=None, device=None):
        return torch.ones_like(self.right(Lq, Lk, device))

    def nothing(self, Lq, Lk=None, device=None):
        return torch.zeros_like(self.right(Lq, Lk, device))

    def opposite(self, Lq, Lk=None, device=None):
        return ~self.right(Lq, Lk, device)

    def looks_ahead(self, Lq, Lk=None, device=None):
        return self.right(Lq, Lk, device).flip(0, 1)

    def other_end(self, Lq, Lk=None, device=None):
        return self.right(Lq, Lk, device).flip(1)

    def no_cache(self, Lq, Lk=None, device=None):
        keys = Lq if Lk is None else Lk
        longer = max(Lq, keys)
        return self.right(longer, longer, device)[:Lq, :keys]

    def other_way(self, Lq, Lk=None, device=None):
        keys = Lq if Lk is None else Lk
        longer = 2 * max(Lq, keys)
        return self.right(longer, longer, device)[Lq : 2 * Lq, keys : 2 * keys]

    def top_left_for_fewer(self, Lq, Lk=None, device=None):
        fewer = Lk is not None and Lk < Lq
        return (self.no_cache if fewer else self.right)(Lq, Lk, device)

    def blocked_last(self, Lq, Lk=None, device=None):
        mask = self.right(Lq, Lk, device)
        return mask.roll(min(0, mask.shape[1] - Lq), 0)

    def a_key_for_all(self, Lq, Lk=None, device=None):
        mask = self.right(Lq, Lk, device)
        first = torch.arange(mask.shape[1], device=mask.device) == 0
        return mask | first & ~mask.any(-1, keepdim=True)

    def own_place_only(self, Lq, Lk=None, device=None):
        mask = self.right(Lq, Lk, device)
        last = mask.long().cumsum(-1) == mask.long().sum(-1, keepdim=True)
        return mask & last

    def own_place_hidden(self, Lq, Lk=None, device=None):
        return self.right(Lq, Lk, device) & ~self.own_place_only(Lq, Lk, device)

    def later_and_own_place(self, Lq, Lk=None, device=None):
        return ~self.own_place_hidden(Lq, Lk, device)

    def always_square(self, Lq, Lk=None, device=None):
        return self.right(Lq, Lq, device)

    def of_numbers(self, Lq, Lk=None, device=None):
        return self.right(Lq, Lk, device).float()

    def on_the_cpu(self, Lq, Lk=None, device=None):
        return self.right(Lq, Lk)

    def one_axis_more(self, Lq, Lk=None, device=None):
        return self.right(Lq, Lk, device)[None]

    def other_each_time(self, Lq, Lk=None, device=None):
        return torch.rand(self.right(Lq, Lk).shape, device=device) < 0.5

    def with_device_as_text(self, Lq, Lk=None, device=None):
        """The right mask, whose device also equals its own name."""
        return self.right(Lq, Lk, device).as_subclass(MaskWithDeviceAsText)

    def stops(self, Lq, Lk=None, device=None):
        raise ValueError("this version always stops")
