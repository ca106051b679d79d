"""A notebook prints 200 MB in one line, or forever."""

from __future__ import annotations

import contextlib
import io

from gradekit.untrusted.limits import MIB
from tests.helpers.attack import run_cells, text_of


def test_endless_output_is_cut(sandbox):
    loud = "print('x' * {})"
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(loud.format(20 * MIB))
    assert len(printed.getvalue()) > 20 * MIB

    raw = "import os\nblock = b'y' * 2**20\nfor _ in range(200): os.write(1, block)"
    shell = "!yes | head -c 20000000"
    error = "raise ValueError('z' * 200_000_000)"
    picture = (
        "from IPython.display import display\n"
        "for _ in range(50): display({'text/plain': 'w' * 10**5}, raw=True)"
    )
    cells = run_cells(sandbox, loud.format(200_000_000), raw, shell, error, picture, "1").cells
    sizes = [len(text_of(cell)) for cell in cells]
    assert max(sizes) <= sandbox.limits.cell_output_bytes + 400
    assert sum(sizes) <= sandbox.limits.output_bytes + 1000
    assert "more bytes of output were cut" in text_of(cells[0])
    assert [cell.state for cell in cells][4:] == ["ok", "ok"]
