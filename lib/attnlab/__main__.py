"""``python -m attnlab submit [FOLDER]``: hand in from a terminal.

Tested in ``tests/attnlab/notebook/test_submit.py``.
"""

from __future__ import annotations

import sys

from attnlab.notebook.submit import main

if __name__ == "__main__":
    if sys.argv[1:2] != ["submit"]:
        print("usage: python -m attnlab submit [FOLDER or NOTEBOOK]")
        sys.exit(2)
    sys.exit(main(sys.argv[2:]))
