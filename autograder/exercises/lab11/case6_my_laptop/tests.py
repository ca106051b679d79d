"""Tests of it as students write them: the model test, other right ones, and wrong ones."""

from __future__ import annotations

import torch

from . import case


@case.model_test
def test_placed_attention(impl):
    """Raise an AssertionError if `impl`, called as impl(d_model), does not run on a GPU."""
    from attnlab.pretend_gpu import PretendGPU

    x = torch.randn(2, 5, 6)
    with PretendGPU() as gpu:
        module, there = impl(6).to("cuda"), x.to("cuda")
        before = gpu.counts
        try:
            out = module(there)
        except RuntimeError as error:
            raise AssertionError(f"on the GPU: {error}") from error
        assert out.device.type == "cuda"
        assert (gpu.counts - before).to_gpu == 0, "a call copies something to the GPU"


@case.find.also_right
def any_error(impl):
    from attnlab.pretend_gpu import PretendGPU

    with PretendGPU():
        impl(4).to("cuda")(torch.zeros(1, 3, 4, device="cuda"))


@case.find.also_right
def there_and_back(impl):
    from attnlab.pretend_gpu import PretendGPU

    module, x = impl(8), torch.randn(2, 4, 8)
    on_cpu = module(x)
    with PretendGPU():
        there = module.to(torch.device("cuda"))(x.cuda()).cpu()
        back = module.cpu()(x)
    torch.testing.assert_close(there, on_cpu)
    torch.testing.assert_close(back, on_cpu)


PASSES = (
    "Your test passes on the broken version. It runs on the CPU alone, where everything is always "
    "in the right place, or asks only where parameters are. What must be moved, and then called?"
)


@case.find.mistake(PASSES)
def on_the_cpu(impl):
    out = impl(6)(torch.randn(2, 5, 6))
    assert out.shape == (2, 5, 6)
    assert out.device.type == "cpu"


@case.find.mistake(PASSES)
def parameters_only(impl):
    from attnlab.pretend_gpu import PretendGPU

    with PretendGPU():
        module = impl(6).to("cuda")
        assert all(p.device.type == "cuda" for p in module.parameters())


@case.find.mistake(
    "Your test fails on right versions. Does it ask for something that the docstring does not "
    "name, such as how the table is kept?"
)
def table_by_its_name(impl):
    from attnlab.pretend_gpu import PretendGPU

    with PretendGPU():
        module = impl(6).to("cuda")
        assert module.table.device.type == "cuda"


@case.find.mistake(
    "Your test fails on right versions. If it counts copies: those of the move and of its own "
    "input count as well, so from which moment should it count? If it compares devices: which one "
    "does a tensor in the block have?"
)
def no_copy_at_all(impl):
    from attnlab.pretend_gpu import PretendGPU

    with PretendGPU() as gpu:
        impl(6).to("cuda")(torch.randn(2, 5, 6).to("cuda"))
        assert gpu.counts.to_gpu <= 5
