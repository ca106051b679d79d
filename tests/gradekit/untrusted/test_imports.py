"""The garbage collector during imports."""

from __future__ import annotations

import gc

import pytest

from gradekit.untrusted.imports import gc_disabled


def test_the_collector_is_off_in_the_block_and_on_after_an_error():
    def fail():
        with gc_disabled():
            assert not gc.isenabled()
            raise ImportError

    assert gc.isenabled()
    with pytest.raises(ImportError):
        fail()
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off():
    gc.disable()
    try:
        with gc_disabled():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
