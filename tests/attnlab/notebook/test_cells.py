"""``check`` in a kernel takes the definitions that grading takes, and names the cell in the way."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from html import unescape

import pytest
from traitlets.config import Config

import attnlab.notebook.check as check_module
from tests.attnlab.notebook.test_check import html, lab  # noqa: F401 - a fixture

interactiveshell = pytest.importorskip("IPython.core.interactiveshell")
RIGHT = "def softmax(x, dim=-1):\n    return torch.exp(x - x.logsumexp(dim, True))"
BLANK = "def softmax(x, dim=-1):\n    raise NotImplementedError"
AVERAGE = "def average(x):\n    return softmax(x) @ x.T"
FULL = "6.5 of 6.5 visible points"


class Kernel:
    """A shell in this process that knows its cells by their ids, as Jupyter's does."""

    def __init__(self, shell):
        self.shell = shell
        self.run("import", "import torch\nfrom attnlab import check\n0")

    def run(self, cell, source):
        """Run a cell; the text of the card that is its value, or ""."""
        value = self.shell.run_cell(source, store_history=True, cell_id=cell).result
        card = html(value) if hasattr(value, "_repr_mimebundle_") else ""
        return unescape(re.sub("<[^>]+>", "", card))


@pytest.fixture
def shell(lab, monkeypatch, tmp_path):  # noqa: F811
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))  # a home may not be writable
    main = sys.modules["__main__"]
    no_file = Config({"HistoryManager": {"hist_file": ":memory:", "enabled": False}})
    shell = interactiveshell.InteractiveShell.instance(config=no_file)
    monkeypatch.setattr(interactiveshell.InteractiveShell, "kernel", object(), raising=False)
    yield shell
    interactiveshell.InteractiveShell.clear_instance()
    sys.modules["__main__"] = main


@pytest.fixture
def kernel(shell):
    importlib.reload(check_module)
    return Kernel(shell)


@pytest.mark.parametrize(
    ("later", "name"),
    [("softmax = 0.7", "softmax"), ("softmax = softmax(torch.ones(2))", "softmax"),
     ("del softmax", "softmax"), ("del torch", "torch")],
)  # fmt: skip
def test_a_later_cell_costs_nothing_and_is_named(kernel, shell, later, name):
    kernel.run("step", RIGHT)
    assert FULL in kernel.run("check", 'check("softmax")')
    kernel.run("later", later)
    left = shell.user_ns.get(name)
    card = kernel.run("check", 'check("softmax")')
    assert FULL in card
    cell = 2 if name == "softmax" else 1
    said = f"Cell In [4] changed {name}. It is checked and graded as cell In [{cell}] left it."
    assert said in card
    assert shell.user_ns.get(name) is left, "check changes no name of the notebook"
    assert said in kernel.run("where", "check()")


def test_without_cell_ids_the_later_cell_does_cost(kernel):
    for source in (RIGHT, "softmax = 0.7"):
        kernel.run(None, source)
    assert "0 of 6.5 visible points" in kernel.run(None, 'check("softmax")')


def test_nothing_changed_means_nothing_said(kernel):
    kernel.run("step", RIGHT)
    kernel.run("average", AVERAGE)
    kernel.run("x", "x = softmax(torch.ones(2))")
    for cell in ("check", "check"):
        card = kernel.run(cell, 'check("softmax")')
        assert FULL in card
        assert "Cell In" not in card
    table = kernel.run("where", "check()")
    assert "2 of 2 steps" in table
    assert "Cell In" not in table


@pytest.mark.parametrize("edited", [BLANK, "softmax = None", "def soft(x): return x\nsoftmax = 1"])
def test_a_cell_that_is_edited_and_run_again_forgets_what_it_was(kernel, edited):
    kernel.run("step", RIGHT)
    kernel.run("step", edited)
    card = kernel.run("check", 'check("softmax")')
    assert "0 of 6.5 visible points" in card
    assert "Cell In" not in card


def test_a_definition_that_was_renamed_is_not_said_to_be_graded(kernel):
    kernel.run("step", RIGHT)
    kernel.run("step", RIGHT.replace("softmax", "mine", 1))
    kernel.run("later", "softmax = mine(torch.ones(2))")
    card = kernel.run("check", 'check("softmax")')
    assert "0 of 6.5 visible points" in card
    assert "Cell In" not in card


def test_a_helper_that_is_corrected_above_counts_at_once(kernel):
    kernel.run("helper", "def total(x, dim):\n    return x")
    kernel.run("step", RIGHT.replace("x.logsumexp(dim, True)", "total(x, dim)"))
    assert FULL not in kernel.run("check", 'check("softmax")')
    kernel.run("helper", "def total(x, dim):\n    return x.logsumexp(dim, True)")
    card = kernel.run("check", 'check("softmax")')
    assert FULL in card
    assert "Cell In" not in card


def test_a_definition_that_is_run_again_is_the_one_that_is_checked(kernel):
    kernel.run("step", RIGHT)
    kernel.run("later", "softmax = 0.7")
    kernel.run("step", RIGHT.replace("dim, True", "0, True"))
    card = kernel.run("check", 'check("softmax")')
    assert "of 6.5 visible points" in card
    assert FULL not in card
    assert "Cell In" not in card


def test_a_step_sees_the_graded_definition_of_an_earlier_step(kernel):
    kernel.run("step", RIGHT)
    kernel.run("average", AVERAGE)
    kernel.run("later", "softmax = 0.7")
    card = kernel.run("check", 'check("average")')
    assert "2 of 2 visible points" in card
    assert "Cell In [4] changed softmax." in card


def test_a_cell_may_define_and_check(kernel):
    assert FULL in kernel.run("all", f'{RIGHT}\ncheck("softmax")')
    both = kernel.run("both", 'softmax = 0.7\ncheck("softmax")')
    assert FULL in both
    assert "Cell In [3] changed softmax. It is checked and graded as cell In [2] left it." in both


@pytest.mark.parametrize("cell", ["step", None])
@pytest.mark.parametrize(
    ("broken", "error"),
    [(RIGHT.replace("):", ")"), "SyntaxError"), (RIGHT.replace("    ", ""), "IndentationError"),
     (RIGHT[:-1], "SyntaxError")],
)  # fmt: skip
def test_a_cell_that_python_cannot_read_is_named(kernel, cell, broken, error):
    kernel.run(cell, RIGHT)
    kernel.run(cell, broken)
    said = f"Cell In [3] ended in {error}, so an older version of softmax is used here."
    card = kernel.run("check", 'check("softmax")')
    assert FULL in card
    assert said in card
    assert card.index(said) < card.index("✓"), "a step that passes is not the step that is written"
    overview = kernel.run("where", "check()")
    assert overview.count(said) == 1
    assert said in kernel.run("average", f'{AVERAGE}\ncheck("average")'), "it runs on the step"
    assert "Cell In" not in kernel.run(cell, f'{RIGHT}\ncheck("softmax")')
    assert "Cell In" not in kernel.run("check", 'check("softmax")')


def test_a_cell_that_python_has_never_read_leaves_no_older_version(kernel):
    kernel.run("step", RIGHT[:-1])
    assert "older version" not in kernel.run("check", 'check("softmax")')


@pytest.mark.parametrize(
    ("edited", "why"),
    [(RIGHT.replace("softmax", "mine", 1), "does not define softmax any longer"),
     (f"{RIGHT.replace('softmax', 'mine', 1)}\nmine(softmax(torch.ones(2)))",
      "does not define softmax any longer"),
     (f"torch.one(2)\n{RIGHT}", "ended in AttributeError before it defined softmax")],
)  # fmt: skip
def test_a_cell_that_did_not_define_its_name_this_time_is_named(kernel, edited, why):
    kernel.run("step", RIGHT)
    kernel.run("step", edited)
    said = f"Cell In [3] {why}, so an older version of softmax is used here."
    assert said in kernel.run("check", 'check("softmax")')
    assert said in kernel.run("check", 'check("softmax")'), "other cells change nothing"
    assert said in kernel.run("average", f'{AVERAGE}\ncheck("average")'), "it runs on the step"
    kernel.run("other", RIGHT)
    assert "older version" not in kernel.run("check", 'check("softmax")'), "another cell has it"
    kernel.run("step", RIGHT)
    assert "older version" not in kernel.run("check", 'check("softmax")')


def test_a_cell_that_defines_a_name_and_then_fails_has_defined_it(kernel):
    kernel.run("step", RIGHT)
    kernel.run("step", f'{RIGHT}\ncheck("softmax")\ntorch.one(2)')
    assert "Cell In" not in kernel.run("check", 'check("softmax")')


def test_a_step_that_two_cells_define_is_said_to_be(kernel):
    kernel.run("step", RIGHT)
    kernel.run("average", f"{RIGHT}\n{AVERAGE}")
    said = "Cells In [2] and In [3] define softmax. The version that ran last is used here"
    assert said in kernel.run("check", 'check("softmax")')
    assert said in kernel.run("check", 'check("average")'), "it runs on the step"
    assert said in kernel.run("where", "check()")


@pytest.mark.parametrize("other", [RIGHT.replace("dim, True", "0, True"), "softmax = 0.7"])
def test_a_cell_that_used_the_name_for_something_else_until_it_was_edited(kernel, shell, other):
    kernel.run("step", RIGHT)
    kernel.run("average", f"{other}\n{AVERAGE}")
    kernel.run("average", AVERAGE)
    left = shell.user_ns["softmax"]
    said = "An earlier run of cell In [4] left another softmax. The one of cell In [2] is checked"
    card = kernel.run("check", 'check("softmax")')
    assert said in card
    assert FULL in card, "as in grading"
    assert card.count("Cell") == 0, "nothing else is said about cells"
    assert said in kernel.run("check", 'check("average")')
    assert shell.user_ns["softmax"] is left, "check changes no name of the notebook"
    kernel.run("step", RIGHT)
    assert "earlier run" not in kernel.run("check", 'check("softmax")')


def test_an_error_between_the_entries_of_a_dictionary_is_named(kernel, shell, monkeypatch):
    kernel.run("step", RIGHT)
    exercise = shell._attnlab_cells.lab.exercise("softmax")
    monkeypatch.setitem(exercise.__dict__, "kinds", ("dict",))
    kernel.run("written", 'softmax = {}\nsoftmax["P1"] = 1\nsoftmxa["P2"] = 2')
    said = (
        "Cell In [3] ended in NameError, so its lines after the one that Python shows did not run"
    )
    assert said in kernel.run("check", 'check("softmax")')
    kernel.run("written", 'softmax = {}\nsoftmax["P1"] = 1')
    assert "Cell In" not in kernel.run("check", 'check("softmax")')


def test_the_hooks_are_registered_once_and_never_in_grading(shell, monkeypatch):
    def hooks():
        return [
            hook for hook in shell.events.callbacks["post_run_cell"]
            if "Cells" in getattr(hook, "__qualname__", "")
        ]  # fmt: skip

    monkeypatch.setenv("ATTNLAB_GRADING", "1")
    importlib.reload(check_module)
    assert hooks() == []
    monkeypatch.delenv("ATTNLAB_GRADING")
    importlib.reload(check_module)
    importlib.reload(check_module)
    assert len(hooks()) == 1


def test_a_shell_without_a_kernel_and_a_script_get_no_hooks(shell, monkeypatch):
    monkeypatch.delattr(interactiveshell.InteractiveShell, "kernel")
    importlib.reload(check_module)
    assert not hasattr(shell, "_attnlab_cells")
    program = "import sys, attnlab; sys.exit('IPython' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)


COMPARE = """\
from attnlab.notebook.review import compare_predictions
compare_predictions({"P1": 1}, {"P1": lambda: average(torch.ones(1, 1))})
"""


def test_an_answer_of_a_wrong_step_is_not_to_be_trusted(kernel, capsys):
    kernel.run("step", RIGHT)
    kernel.run("average", AVERAGE)
    kernel.run("compare", COMPARE)
    assert capsys.readouterr().out == "P1: you say 1, your functions say 1.0\n"
    kernel.run("step", RIGHT.replace("return", "return -"))
    kernel.run("compare", COMPARE)
    # The checks of 1.2 fail, too, but they run on 1.1.
    said = "your functions say -1.0 (not to be trusted yet: 1.1 does not pass its checks)"
    assert said in capsys.readouterr().out
    imported = "from attnlab.notebook.not_right_yet import failing_note"
    kernel.run("note", f"{imported}\nprint(failing_note(softmax))")
    assert capsys.readouterr().out == "not to be trusted yet: 1.1 does not pass its checks\n"


def test_a_picture_of_a_wrong_step_names_the_step(kernel, capsys):
    """A wrong result may stop a later line that is right; it is not quoted."""
    kernel.run("step", RIGHT)
    kernel.run("average", AVERAGE)
    imported = "from attnlab.notebook.unwritten import why_not\n"
    stops = (
        "try:\n    average(torch.ones(1, 1)).no_such_attribute\nexcept Exception as error:\n"
        "    print(why_not(error, average))"
    )
    kernel.run("look", imported + stops)
    assert "your code stopped with AttributeError in the line" in capsys.readouterr().out
    kernel.run("step", RIGHT.replace("return", "return -"))
    kernel.run("look", imported + stops)
    said = '1.1 does not pass its checks. What does `check("softmax")` say?\n'
    assert capsys.readouterr().out == said


def test_why_there_is_no_picture_is_said_wherever_the_figure_is_asked_for(kernel, capsys):
    kernel.run("look", "from attnlab.plots.canvas import drawing\ndrawing(print)(None)\n1")
    assert "No picture yet: a cell above has no result to draw." in capsys.readouterr().out
    kernel.run("last", "drawing(print)(None)")
    assert capsys.readouterr().out.count("No picture yet") == 1
