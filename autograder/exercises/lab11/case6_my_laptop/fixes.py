"""Other ways to fix it, and ways that do not."""

from __future__ import annotations

from . import case

PLAIN = "self.table = torch.cat([angles.sin(), angles.cos()], dim=1)"
BUFFER = 'self.register_buffer("table", torch.cat([angles.sin(), angles.cos()], dim=1))'
MADE = "dtype=torch.bool)"
MADE_THERE = "dtype=torch.bool, device=x.device)"

case.other_fix(
    "not_persistent",
    {
        PLAIN: BUFFER.replace("dim=1))", "dim=1), persistent=False)"),
        MADE: MADE_THERE,
    },
)
case.other_fix(
    "from_the_input",
    {PLAIN: BUFFER, "torch.ones(T, T, dtype=torch.bool)": ("x.new_ones(T, T, dtype=torch.bool)")},
)
case.other_fix("causal_by_torch", {PLAIN: BUFFER, "attn_mask=past": "is_causal=True"})
case.other_fix(
    "a_frozen_parameter",
    {
        PLAIN: ("self.table = nn.Parameter(torch.cat([angles.sin(), angles.cos()], dim=1), False)"),
        MADE: MADE_THERE,
    },
)

case.wrong_fix(
    "mask_only",
    {MADE: MADE_THERE},
    "The mask is made in the right place now. But the table is still left behind when the module "
    "moves: which tensors of a module does `.to` know?",
)
case.wrong_fix(
    "table_only",
    {PLAIN: BUFFER},
    "The table follows the module now. But `forward` makes a tensor of its own: where?",
)
MOVED = (
    "The module runs now, but every call copies something to the GPU again, the same each time. "
    "What does the docstring say of copies, and where could that tensor be made or kept?"
)

case.wrong_fix(
    "moved_in_each_call",
    {"self.table[:T]": "self.table[:T].to(x)", MADE: MADE_THERE},
    MOVED,
)
case.wrong_fix(
    "both_moved_in_each_call",
    {"self.table[:T]": "self.table[:T].to(x)", "attn_mask=past": "attn_mask=past.to(x.device)"},
    MOVED,
)
case.wrong_fix(
    "mask_moved_in_each_call",
    {PLAIN: BUFFER, "attn_mask=past": "attn_mask=past.to(x.device)"},
    MOVED,
)
case.wrong_fix(
    "cuda_written_down",
    {PLAIN: BUFFER, MADE: 'dtype=torch.bool, device="cuda")'},
    "The module runs on the GPU now. And on a laptop? Does your test also move it back?",
)
case.wrong_fix(
    "cuda_if_there_is_one",
    {
        PLAIN: BUFFER,
        MADE: 'dtype=torch.bool, device="cuda" if torch.cuda.is_available() else "cpu")',
    },
    "The module runs on both machines now. But on one with a GPU it may be moved back to the CPU: "
    "where is its mask made then?",
)
case.wrong_fix(
    "no_mask",
    {PLAIN: BUFFER, "attn_mask=past": "attn_mask=None"},
    "No error is left, because the mask is gone. Which positions does a word read now?",
)
case.wrong_fix(
    "the_input_moved",
    {
        "self.qkv(x + self.table[:T])": "self.qkv((x.cpu() + self.table[:T]).to(x))",
        MADE: MADE_THERE,
    },
    "The module runs now, but every call carries its input to the CPU and back. Which of the two "
    "tensors should move, and how often?",
)
case.wrong_fix(
    "a_trained_table",
    {
        PLAIN: "self.table = nn.Parameter(torch.cat([angles.sin(), angles.cos()], dim=1))",
        MADE: MADE_THERE,
    },
    "Everything is in its place now, but training would change the table. What does the docstring "
    "say of it?",
)
