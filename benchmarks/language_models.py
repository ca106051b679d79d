"""GPT and BERT beside Hugging Face's transformers and x-transformers: a part of models.py.

A row is one training step (forward, cross-entropy, backward, AdamW), or 96 tokens that are written
after a prompt of 16, greedily, with a cache, one text at a time. All contenders have the same
sizes; Hugging Face's have the same number of parameters, x-transformers' a few fewer, because its
projections have no biases. They take turns in one process with one thread. The two packages are
installed in build/models by the first run; a package that is missing is left out, and said so.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import torch
from torch import Tensor, nn

HERE = Path(__file__).resolve().parent
PACKAGES = HERE.parent / "build" / "models"
OURS, HF, X = "ours", "transformers", "x-transformers"
PROMPT, NEW = 16, 96
DROPOUT = 0.1

Step = Callable[[], None]


@dataclass(frozen=True)
class Size:
    """A model and a batch."""

    name: str
    d_model: int
    num_heads: int
    layers: int
    vocab: int
    batch: int
    length: int

    @property
    def context(self) -> int:
        """The longest text: a training text, or a prompt with what is written after it."""
        return max(self.length, PROMPT + NEW)


SIZES = (
    Size("2 layers, d=96, 16 x 64", 96, 4, 2, 768, 16, 64),
    Size("4 layers, d=128, 8 x 128", 128, 4, 4, 1000, 8, 128),
    Size("4 layers, d=256, 4 x 128", 256, 8, 4, 4000, 4, 128),
)


def our_gpt(size: Size) -> nn.Module:
    """attnlab's GPT."""
    from attnlab.gpt import GPT, GPTConfig

    return GPT(
        GPTConfig(size.vocab, size.context, size.d_model, size.num_heads, size.layers, DROPOUT)
    )


def our_bert(size: Size) -> nn.Module:
    """attnlab's BERT."""
    from attnlab.bert import Bert, BertConfig

    return Bert(
        BertConfig(
            size.vocab, size.d_model, size.num_heads, 4 * size.d_model, size.layers, size.length,
            dropout=DROPOUT,
        )
    )  # fmt: skip


def hf_gpt(size: Size) -> nn.Module:
    """Hugging Face's GPT-2."""
    from transformers import GPT2Config, GPT2LMHeadModel

    return GPT2LMHeadModel(
        GPT2Config(
            vocab_size=size.vocab, n_positions=size.context, n_embd=size.d_model,
            n_layer=size.layers, n_head=size.num_heads, resid_pdrop=DROPOUT, embd_pdrop=DROPOUT,
            attn_pdrop=DROPOUT, attn_implementation="sdpa", bos_token_id=None, eos_token_id=None,
        )
    )  # fmt: skip


def hf_bert(size: Size) -> nn.Module:
    """Hugging Face's BERT with both heads."""
    from transformers import BertConfig, BertForPreTraining

    return BertForPreTraining(
        BertConfig(
            vocab_size=size.vocab, hidden_size=size.d_model, num_hidden_layers=size.layers,
            num_attention_heads=size.num_heads, intermediate_size=4 * size.d_model,
            max_position_embeddings=size.length, hidden_dropout_prob=DROPOUT,
            attention_probs_dropout_prob=DROPOUT, attn_implementation="sdpa",
        )
    )  # fmt: skip


def x_gpt(size: Size) -> nn.Module:
    """x-transformers' decoder."""
    from x_transformers import Decoder

    return _x_model(size, size.context, Decoder)


def x_bert(size: Size) -> nn.Module:
    """x-transformers' encoder, normalised after each sum as BERT is; it has no second head."""
    from x_transformers import Encoder

    return _x_model(size, size.length, Encoder, pre_norm=False)


def _x_model(size: Size, context: int, layers: Any, **options: Any) -> nn.Module:
    from x_transformers import TransformerWrapper

    return TransformerWrapper(
        num_tokens=size.vocab, max_seq_len=context, emb_dropout=DROPOUT, tie_embedding=True,
        attn_layers=layers(
            dim=size.d_model, depth=size.layers, heads=size.num_heads, attn_flash=True,
            attn_dim_head=size.d_model // size.num_heads, attn_dropout=DROPOUT, ff_dropout=DROPOUT,
            **options,
        ),
    )  # fmt: skip


GPTS = {OURS: our_gpt, HF: hf_gpt, X: x_gpt}
BERTS = {OURS: our_bert, HF: hf_bert, X: x_bert}
GPT_LOGITS: Mapping[str, Callable[[Any, Tensor], Tensor]] = {
    OURS: lambda model, ids: model(ids).logits,
    HF: lambda model, ids: model(ids, use_cache=False).logits,
    X: lambda model, ids: model(ids),
}
BERT_LOGITS: Mapping[str, Callable[[Any, Tensor], Tensor]] = {
    OURS: lambda model, ids: model(ids).mlm_logits,
    HF: lambda model, ids: model(ids).prediction_logits,
    X: lambda model, ids: model(ids),
}


def training_step(model: nn.Module, logits: Callable[[Any, Tensor], Tensor], size: Size) -> Step:
    """One step on a batch of random tokens; each token predicts another random one."""
    optimizer = torch.optim.AdamW(model.train().parameters(), lr=1e-4)
    ids, labels = (torch.randint(0, size.vocab, (size.batch, size.length)) for _ in range(2))

    def step() -> None:
        loss = nn.functional.cross_entropy(logits(model, ids).flatten(0, 1), labels.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


def writing(name: str, model: Any, size: Size) -> Step:
    """96 tokens after a prompt of 16, greedily, with a cache."""
    prompt = torch.randint(0, size.vocab, (1, PROMPT))
    model.eval()
    match name:
        case "ours":
            from attnlab.kv_cache import generate

            return lambda: _counted(generate(model, prompt, NEW, temperature=0.0), NEW)
        case "transformers":
            ones = torch.ones_like(prompt)
            return lambda: _counted(
                model.generate(
                    prompt, attention_mask=ones, max_new_tokens=NEW, do_sample=False, pad_token_id=0
                ),
                PROMPT + NEW,
            )
        case "x-transformers":
            from x_transformers import AutoregressiveWrapper

            writer = AutoregressiveWrapper(model).eval()
            return lambda: _counted(
                writer.generate(prompt, NEW, temperature=0.0, cache_kv=True), NEW
            )
    raise ValueError(name)


def _counted(written: Tensor, length: int) -> None:
    """Refuse a text that ended early: then less was measured."""
    if written.shape != (1, length):
        raise SystemExit(f"{tuple(written.shape)} tokens were written, not {length}")


def measure(rounds: int) -> list[dict[str, Any]]:
    """For every size and task, the median processor seconds of each contender, in turns."""
    torch.set_num_threads(1)
    rows = []
    present = [name for name in (OURS, HF, X) if name == OURS or _is_there(name)]
    for size in SIZES:
        torch.manual_seed(0)
        gpts = {name: GPTS[name](size) for name in present}
        berts = {name: BERTS[name](size) for name in present}
        tasks: dict[str, dict[str, Step]] = {
            "GPT step": {n: training_step(m, GPT_LOGITS[n], size) for n, m in gpts.items()},
            "BERT step": {n: training_step(m, BERT_LOGITS[n], size) for n, m in berts.items()},
        }
        for task, steps in tasks.items():
            rows.append({"task": task, "size": size.name, "seconds": _in_turns(steps, rounds)})
        writers = {name: writing(name, model, size) for name, model in gpts.items()}
        seconds = _in_turns(writers, max(rounds // 3, 3))
        rows.append({"task": "GPT writes", "size": size.name, "seconds": seconds})
        for row, models in zip(rows[-3:], (gpts, berts, gpts), strict=True):
            row["parameters"] = {
                name: sum(p.numel() for p in model.parameters()) for name, model in models.items()
            }
    return rows


def _is_there(package: str) -> bool:
    try:
        __import__(package.replace("-", "_"))
    except ImportError as error:
        print(f"{package} is left out: {error}", file=sys.stderr)
        return False
    return True


def _in_turns(steps: Mapping[str, Step], rounds: int) -> dict[str, float]:
    """Processor seconds, the median of the rounds; the first two of each are not counted."""
    seconds: dict[str, list[float]] = {name: [] for name in steps}
    for number in range(2 + rounds):
        for name, step in steps.items():
            start = time.process_time()
            step()
            if number >= 2:
                seconds[name].append(time.process_time() - start)
    return {name: median(found) for name, found in seconds.items()}


def measured(rounds: int) -> list[dict[str, Any]]:
    """`measure` in a process of its own, with the two packages; rows without them if they fail."""
    if not (PACKAGES / "ready").exists():
        print("installing transformers and x-transformers, the first time", file=sys.stderr)
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--quiet", "--no-deps"]
        wanted = ["--target", str(PACKAGES), "-r", str(HERE / "models.txt")]
        if subprocess.run([*pip, *wanted], check=False).returncode == 0:
            (PACKAGES / "ready").touch()
    paths = [str(HERE.parent / "lib"), str(PACKAGES)]
    variables = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "OMP_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
    }
    line = [sys.executable, str(Path(__file__)), str(rounds)]
    done = subprocess.run(line, env=variables, stdout=subprocess.PIPE, text=True, check=True)
    rows: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return rows


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # about settings that are meant
    print(json.dumps(measure(int(sys.argv[1]))))
