import sys
import textwrap

import pytest
import torch

from attnlab.softmax import log_softmax, softmax
from gradekit.errors import StandaloneError
from gradekit.exercise.standalone import standalone_source


def module(tmp_path, monkeypatch, text, name="made_for_this_test"):
    (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
    monkeypatch.syspath_prepend(tmp_path)
    sys.modules.pop(name, None)
    return __import__(name)


def run(source):
    namespace = {}
    exec(source, namespace)
    return namespace


def test_a_function_travels_with_the_helpers_and_constants_it_names(tmp_path, monkeypatch):
    made = module(
        tmp_path,
        monkeypatch,
        """
        import math
        import json
        SCALE = math.pi
        UNUSED = "secret"
        def helper(x): return x * SCALE
        def probe(x): return helper(x)
        def other(x): return UNUSED
    """,
    )
    source = standalone_source(made.probe)
    assert "secret" not in source
    assert "json" not in source
    assert run(source)["probe"](2) == pytest.approx(6.283185307)


def test_a_variable_brings_no_helper_of_the_same_name_along(tmp_path, monkeypatch):
    made = module(
        tmp_path,
        monkeypatch,
        """
        def mean(x): return "secret"
        def total(x): return "secret, too"
        def probe(x):
            mean = sum(x) / len(x)
            return [mean - total for total in x]
    """,
    )
    source = standalone_source(made.probe)
    assert "secret" not in source
    assert run(source)["probe"]([1, 3]) == [1, -1]


def test_functions_of_the_project_are_inlined():
    source = standalone_source(log_softmax)
    assert "import attnlab" not in source
    assert "from attnlab" not in source
    x = torch.randn(3, 5)
    assert torch.equal(run(source)["log_softmax"](x), log_softmax(x))


def test_an_imported_project_function_brings_its_own_module_along(tmp_path, monkeypatch):
    made = module(
        tmp_path,
        monkeypatch,
        """
        from attnlab.softmax import softmax
        def wrong(x): return softmax(x, 0)
    """,
    )
    source = standalone_source(made.wrong)
    assert "attnlab" not in source
    x = torch.randn(3, 5)
    assert torch.equal(run(source)["wrong"](x), softmax(x, 0))


def test_an_imported_project_constant_travels_as_its_definition(tmp_path, monkeypatch):
    from attnlab.models.retriever import FEATURES

    made = module(
        tmp_path,
        monkeypatch,
        """
        from attnlab.models.retriever import FEATURES
        def half(): return FEATURES // 2
    """,
    )
    source = standalone_source(made.half)
    assert "attnlab" not in source
    assert run(source)["half"]() == FEATURES // 2


def test_a_project_module_cannot_travel_and_the_message_says_what_to_do(tmp_path, monkeypatch):
    made = module(
        tmp_path,
        monkeypatch,
        """
        from attnlab import softmax as reference
        def wrong(x): return reference.softmax(x)
    """,
    )
    with pytest.raises(StandaloneError, match="import the function by name"):
        standalone_source(made.wrong)


def test_the_kits_decorators_stay_behind_and_others_travel(tmp_path, monkeypatch):
    made = module(
        tmp_path,
        monkeypatch,
        """
        from dataclasses import dataclass
        class exercise:
            def check(function): return function
        @exercise.check
        def probe(lab, draw): return Box(3).value
        @dataclass
        class Box:
            value: int
    """,
    )
    source = standalone_source(made.probe)
    assert "exercise" not in source
    assert run(source)["probe"](None, None) == 3


def test_one_line_may_bind_several_names(tmp_path, monkeypatch):
    made = module(
        tmp_path,
        monkeypatch,
        """
        LOW, HIGH = 2, 5
        [FIRST, SECOND] = "ab"
        def probe(lab, draw): return [LOW, HIGH, FIRST + SECOND]
    """,
    )
    source = standalone_source(made.probe)
    assert run(source)["probe"](None, None) == [2, 5, "ab"]
    assert source.count("HIGH") == 2


def test_a_text_that_depends_on_the_version_of_python_is_refused(tmp_path, monkeypatch):
    """Python 3.12 prints nested quotes in a way that 3.11 cannot read."""
    made = module(
        tmp_path,
        monkeypatch,
        """
        def quoted(x): return f"{str(x).removeprefix('torch.')}"
        def named(x):
            name = str(x).removeprefix('torch.')
            return f"{name}, {x:>4}"
    """,
    )
    with pytest.raises(StandaloneError, match="give it a name in the line before"):
        standalone_source(made.quoted)
    assert run(standalone_source(made.named))["named"](1) == "1,    1"
