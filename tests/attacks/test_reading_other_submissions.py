"""A notebook reads other hand-ins: their files, or their runs at the same time."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from pathlib import Path

from gradekit.sandbox.sandbox import Sandbox
from tests.helpers.attack import assert_unreadable, said

SECRET = "return x.exp() / x.exp().sum()  # by Ada"


def test_files_of_others_cannot_be_read(sandbox, unconfined, tmp_path):
    path = tmp_path / "submitted" / "ada" / "lab01" / "lab01_softmax.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(SECRET)
    assert_unreadable(sandbox, unconfined, path, SECRET)


WORK = f"""
import time
secret = {SECRET!r}
open('note.txt', 'w').write(secret)
time.sleep(1.5)
"""
SEARCH = """
import glob, os, tempfile
found = []
for pattern in ('/tmp/*/lab/note.txt', '/tmp/*/scratch/lab/note.txt', '/scratch/lab/note.txt',
                '/proc/[0-9]*/cwd/note.txt', '/proc/[0-9]*/root/scratch/lab/note.txt',
                os.path.dirname(tempfile.gettempdir()) + '/*/*/lab/note.txt',
                tempfile.gettempdir() + '/*/lab/note.txt'):
    for path in glob.glob(pattern):
        try: found.append(open(path).read())
        except OSError: pass
print('found', found)
"""


def searched(searcher: Sandbox, worker: Sandbox) -> str:
    """The results of a search while another hand-in runs in another sandbox."""
    thread = threading.Thread(target=said, args=(worker, WORK))
    thread.start()
    time.sleep(0.6)
    try:
        return said(searcher, SEARCH)
    finally:
        thread.join()


def test_another_run_cannot_be_read(namespaces, domains, unconfined, student_library):
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:  # where the search looks
        os.chmod(folder, 0o755)
        note = Path(folder, "lab", "note.txt")
        note.parent.mkdir()
        note.write_text(SECRET)
        assert "by Ada" in said(unconfined, SEARCH)
    for searcher, worker in ((namespaces, domains), (domains, namespaces)):
        assert "found []" in searched(searcher, worker)
    # With Landlock, two sandboxes of the same user have the same view of the machine's files.
    with Sandbox(student_library, domains.limits, level="landlock") as other:
        assert "found []" in searched(other, domains)
