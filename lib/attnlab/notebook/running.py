"""What a running notebook knows about itself: its file, and the cells that it has run.

Tested in ``tests/attnlab/notebook/test_submit.py``.
"""

from __future__ import annotations

import os
import re
import symtable
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

_DEFINED = re.compile(r"^(?:async +def|def|class) +(\w+)|^(\w+) *=", re.MULTILINE)


def kernel_shell() -> Any:
    """The shell of the notebook in which this runs; None outside a kernel."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell if getattr(shell, "kernel", None) is not None else None


def notebook_file(names: Mapping[str, Any]) -> Path | None:
    """The notebook that `names` belong to, if the program that runs it says so.

    Args:
        names: the global names of the calling cell.
    """
    # VS Code gives the first, Jupyter's server the second.
    for path in (names.get("__vsc_ipynb_file__"), os.environ.get("JPY_SESSION_NAME")):
        if isinstance(path, str) and path.endswith(".ipynb") and Path(path).is_file():
            return Path(path).resolve()
    return None


def unsaved_names(saved: Iterable[str], names: Iterable[str]) -> tuple[str, ...]:
    """Those of `names` whose defining cell was last run in a form that is not among `saved`.

    Args:
        saved: the texts of the saved notebook's cells.
        names: what the student defines.
    """
    shell = kernel_shell()
    if shell is None:
        return ()
    ran: dict[str, str] = {}
    # Not `In`, in which IPython has rewritten magics and emptied lines of white space.
    for text in shell.history_manager.input_hist_raw:
        ran.update(dict.fromkeys(defined_names(text), _plain(text)))
    kept = set(map(_plain, saved))
    return tuple(name for name in names if name in ran and ran[name] not in kept)


def defined_names(text: str) -> list[str]:
    """The names that a cell's text defines at its top level, even if Python cannot read it."""
    return [match[1] or match[2] for match in _DEFINED.finditer(text)]


def set_names(text: str) -> set[str]:
    """The names that a cell's code sets at its top level; all its words if it is no plain Python.

    A cell with a magic command (``%time``) is no plain Python, and may set any name it speaks of.
    """
    try:
        table = symtable.symtable(text, "cell", "exec")
    except (SyntaxError, ValueError):
        return set(re.findall(r"\w+", text))
    symbols = table.get_symbols()
    return {each.get_name() for each in symbols if each.is_assigned() or each.is_imported()}


def _plain(text: str) -> str:
    """A cell's text without white space at the ends of its lines."""
    return "\n".join(line.rstrip() for line in text.strip().splitlines())
