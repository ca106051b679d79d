"""GPT-2's own tokens, if this machine has them: nothing is downloaded.

The package tiktoken keeps the file after `tiktoken.get_encoding("r50k_base")`, which needs a
network once. The package openai-whisper brings the same file along. It is read where it is.

Source: Language Models are Unsupervised Multitask Learners (Radford et al. 2019), section 2.2; the
file is published by OpenAI (MIT).
"""

from __future__ import annotations

import base64
import hashlib
import os
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from attnlab.tokenizer import GPT2_PATTERN

if TYPE_CHECKING:
    import tiktoken

SHA256 = "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930"
_ADDRESS = "https://openaipublic.blob.core.windows.net/encodings/r50k_base.tiktoken"
END_OF_TEXT = "<|endoftext|>"


def load() -> tiktoken.Encoding | None:
    """GPT-2's encoding of 50,257 tokens; None if no file of it is on this machine."""
    for path in _places():
        try:
            data = path.read_bytes()
        except OSError:
            continue
        # tiktoken deletes a file with another digest and asks the network; this leaves it alone.
        if hashlib.sha256(data).hexdigest() == SHA256:
            return _encoding(data)
    return None


def _places() -> Iterator[Path]:
    """Where the file may be: tiktoken's cache, by its rules, and the package openai-whisper."""
    name = hashlib.sha1(_ADDRESS.encode(), usedforsecurity=False).hexdigest()
    default = Path(tempfile.gettempdir(), "data-gym-cache")
    folder = os.environ.get("TIKTOKEN_CACHE_DIR", os.environ.get("DATA_GYM_CACHE_DIR"))
    yield (default if folder is None else Path(folder)) / name
    yield Path(sysconfig.get_path("purelib"), "whisper", "assets", "gpt2.tiktoken")


def _encoding(data: bytes) -> tiktoken.Encoding:
    """The encoding in a file with a line for each token: its bytes in base 64, and its number."""
    import tiktoken

    lines = (line.split() for line in data.splitlines())
    ranks = {base64.b64decode(token): int(number) for token, number in lines}
    return tiktoken.Encoding(
        "gpt2",
        pat_str=GPT2_PATTERN,
        mergeable_ranks=ranks,
        special_tokens={END_OF_TEXT: len(ranks)},
    )
