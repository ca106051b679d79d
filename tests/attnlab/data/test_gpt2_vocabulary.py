"""GPT-2's tokens are read where they are; without them, nothing is fetched and nothing deleted."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

import pytest

from attnlab.data import gpt2_vocabulary

NAME = "0ea1e91bbb3a60f729a8dc8f777fd2fc07cd8df4"  # as tiktoken names it in its cache


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    return tmp_path / NAME


def test_no_file_is_no_error(cache: Path) -> None:
    assert gpt2_vocabulary.load() is None


def test_another_file_is_left_alone(cache: Path) -> None:
    cache.write_bytes(b"IQ== 0\n")
    assert gpt2_vocabulary.load() is None
    assert cache.read_bytes() == b"IQ== 0\n"


def test_the_file_becomes_an_encoding(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = [*(bytes([byte]) for byte in range(255, -1, -1)), b"lo", b" lo"]
    lines = (base64.b64encode(token) + f" {i}".encode() for i, token in enumerate(tokens))
    cache.write_bytes(b"\n".join(lines) + b"\n")
    digest = hashlib.sha256(cache.read_bytes()).hexdigest()
    monkeypatch.setattr(gpt2_vocabulary, "SHA256", digest)
    encoding = gpt2_vocabulary.load()
    assert encoding is not None
    assert encoding.encode("lo<|endoftext|>", allowed_special="all") == [256, 258]
