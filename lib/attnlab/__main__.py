"""``python -m attnlab submit [FOLDER]``: hand in from a terminal.

``python lab03/attnlab submit lab03`` does the same from the folder above.

Tested in ``tests/attnlab/notebook/test_submit.py``.
"""

from __future__ import annotations

import sys
from pathlib import Path

if not __package__:  # started by its folder's name, so Python does not know where attnlab is
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from attnlab.notebook.submit import main

if __name__ == "__main__":
    if sys.argv[1:2] != ["submit"]:
        print("usage: python -m attnlab submit [FOLDER or NOTEBOOK]")
        sys.exit(2)
    sys.exit(main(sys.argv[2:]))
