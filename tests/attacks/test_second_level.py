"""Attacks that Landlock does not stop: rights of files, sockets, processes of the same user.

Inside bubblewrap, these targets do not exist; with Landlock, something else protects each.
"""

from __future__ import annotations

import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from gradekit.sandbox.sandbox import Sandbox
from gradekit.untrusted.limits import MIB
from tests.helpers.attack import run_cells, said, text_of


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that all users can enter and write to, so only the sandbox can protect it."""
    with tempfile.TemporaryDirectory(prefix="attacked-") as name:
        os.chmod(name, 0o777)
        yield Path(name)


@pytest.fixture
def gradebook(folder: Path) -> Path:
    path = folder / "gradebook.db"
    path.write_text("ada: 12")
    path.chmod(0o666)
    os.utime(path, (1, 1))
    return path


@pytest.mark.parametrize(
    ("attack", "look"),
    [
        ("os.chmod(path, 0o600)", lambda path: oct(path.stat().st_mode)),
        ("os.utime(path)", lambda path: path.stat().st_mtime),
        ("os.setxattr(path, 'user.grade', b'100')", os.listxattr),
        ("os.truncate(path, 0)", lambda path: path.read_text()),
        ("os.rename(path, f'{path}.old')", Path.exists),
        ("os.link(path, f'{path}.too')", lambda path: path.stat().st_nlink),
    ],
    ids=["rights", "dates", "attributes", "truncate", "rename", "link"],
)
def test_a_file_of_the_same_user_is_not_changed(domains, unconfined, gradebook, attack, look):
    hostile = f"import os\npath = {str(gradebook)!r}\n{attack}"
    before = look(gradebook)
    said(domains, hostile)
    assert look(gradebook) == before
    said(unconfined, hostile)
    assert look(gradebook) != before


def test_attributes_of_a_file_are_not_read(domains, unconfined, gradebook):
    os.setxattr(gradebook, "user.note", b"full marks")
    look = f"import os\nprint(os.getxattr({str(gradebook)!r}, 'user.note'))"
    assert "full marks" in said(unconfined, look)
    assert "full marks" not in said(domains, look)
    copy = "import shutil\nopen('a', 'w').close()\nprint(shutil.copy2('a', 'b'))"
    assert said(domains, copy).strip() == "b", "copying reads them, too"


# The inode flags of a file. No C library has the call yet; 468 is its number everywhere.
FILE_GETATTR = """\
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
flags = (ctypes.c_uint64 * 3)()
failed = libc.syscall(468, -100, {!r}, flags, ctypes.c_size_t(24), 0)
print(errno.errorcode[ctypes.get_errno()] if failed else "the flags")
"""


def test_flags_of_a_file_are_not_read(domains, unconfined, gradebook):
    look = FILE_GETATTR.format(bytes(gradebook))
    if "the flags" not in said(unconfined, look):
        pytest.skip("this kernel (before Linux 6.17) or file system has no file_getattr")
    assert "ENOTSUP" in said(domains, look)


def test_what_landlock_cannot_hide(domains, gradebook):
    """docs/trust.md says so; if a kernel hides it, correct that page."""
    assert said(domains, f"import os\nprint(os.stat({str(gradebook)!r}).st_size)").strip() == "7"


def test_copying_and_unpacking_still_work(domains):
    copy = (
        "import pathlib, shutil, tarfile, zipfile\n"
        "here = pathlib.Path('a'); here.mkdir(); (here / 'b.txt').write_text('c')\n"
        "shutil.copytree('a', 'd'); shutil.copy2('a/b.txt', 'e.txt')\n"
        "shutil.make_archive('f', 'gztar', 'a'); shutil.unpack_archive('f.tar.gz', 'g')\n"
        "pathlib.Path('e.txt').touch(); pathlib.Path('e.txt').rename('a/h.txt')\n"
        "print(sorted(map(str, pathlib.Path().rglob('*.txt'))))\n"
    )
    assert "['a/b.txt', 'a/h.txt', 'd/b.txt', 'g/b.txt']" in said(domains, copy)


def test_a_datagram_to_a_service_is_not_sent(domains, unconfined, folder):
    path = str(folder / "log")
    send = (
        "import socket\n"
        "ours, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\n"
        f"ours.sendto(b'hello', {path!r})\n"
    )
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as service:
        service.bind(path)
        os.chmod(path, 0o777)
        service.settimeout(0.2)
        said(unconfined, send)
        assert service.recv(9) == b"hello"
        assert "PermissionError" in said(domains, send)
        with pytest.raises(TimeoutError):
            service.recv(9)


@pytest.mark.parametrize("family", ["AF_INET", "AF_INET6", "AF_NETLINK", "AF_UNIX", "AF_PACKET"])
def test_there_are_no_sockets(domains, unconfined, family):
    attack = f"import socket\nprint(socket.socket(socket.{family}, socket.SOCK_DGRAM))"
    if family != "AF_PACKET":
        assert "socket.socket" in said(unconfined, attack)
    assert "PermissionError" in said(domains, attack)


def test_limits_of_other_processes_are_not_changed(domains, unconfined, bystander):
    kind = "resource.RLIMIT_NOFILE"
    hostile = f"import resource\nresource.prlimit({bystander.pid}, {kind}, (7, 7))"
    assert "PermissionError" in said(domains, hostile)
    assert resource.prlimit(bystander.pid, resource.RLIMIT_NOFILE) != (7, 7)
    said(unconfined, hostile)
    assert resource.prlimit(bystander.pid, resource.RLIMIT_NOFILE) == (7, 7)


def test_priorities_of_other_processes_are_not_changed(domains, unconfined, bystander):
    hostile = f"import os\nos.setpriority(os.PRIO_PROCESS, {bystander.pid}, 19)"
    assert "PermissionError" in said(domains, hostile)
    assert os.getpriority(os.PRIO_PROCESS, bystander.pid) != 19
    said(unconfined, hostile)
    assert os.getpriority(os.PRIO_PROCESS, bystander.pid) == 19


LIST = "import os\nprint(os.listdir({!r}))"


def test_other_folders_cannot_be_listed_or_written(domains, unconfined, gradebook):
    assert "gradebook.db" in said(unconfined, LIST.format(str(gradebook.parent)))
    for place in (gradebook.parent, "/", "/home", "/etc", "/proc", "/tmp", "/dev/shm", "/run"):
        assert "PermissionError" in said(domains, LIST.format(str(place)))
        planted = f"print(open({str(place)!r} + '/planted', 'w'))"
        assert "Error" in said(domains, planted)
    for place in (sys.prefix, os.path.dirname(os.__file__)):
        assert "PermissionError" in said(domains, f"open({place!r} + '/planted', 'w')")


def test_daemons_are_counted_together(domains):
    daemons = (
        "import os, time\n"
        "for number in range(4):\n"
        "    if os.fork() == 0:\n"
        "        os.setsid()\n"
        "        if os.fork(): os._exit(0)\n"
        "        hoard = bytearray(b'x') * (240 * 2**20)\n"
        "        open(f'full{number}', 'w').close(); time.sleep(60); os._exit(0)\n"
        "    os.wait()\n"
        "for _ in range(13): time.sleep(0.1)\n"
        "print('filled', sum(name.startswith('full') for name in os.listdir()))\n"
    )
    run = run_cells(domains, daemons)
    assert "filled" in text_of(run.cells[0])
    assert domains.limits.memory_bytes < run.peak_bytes < 2 * domains.limits.memory_bytes


def test_no_process_hides_its_memory(domains):
    hide = "import ctypes\nprint('hidden', ctypes.CDLL(None).prctl(4, 0, 0, 0, 0))"
    naive = subprocess.run([sys.executable, "-c", hide], capture_output=True, text=True, check=True)
    assert "hidden 0" in naive.stdout
    assert "hidden -1" in said(domains, hide)
    unreadable = (
        "import os, shutil, subprocess\n"
        "with open('/bin/true', 'rb') as old, open(os.open('own', 65, 0o111), 'wb') as new:\n"
        "    shutil.copyfileobj(old, new)\n"
        "print('ran', subprocess.run(['./own']).returncode)\n"
    )
    answer = said(domains, unreadable)
    assert "ran" not in answer.replace("ran for", "")
    assert "PermissionError" in answer


BOMB = """
import os, signal, time
for number in range(1, 64):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
while True:
    try:
        if os.fork() == 0: os.setsid()
    except OSError: time.sleep(0.01)
"""


def test_a_bomb_that_never_stops_is_ended(domains):
    name = "import ctypes\nctypes.CDLL(None).prctl(15, b'lab-bomb', 0, 0, 0)\n"
    started = time.monotonic()
    first, second = run_cells(domains, name + BOMB, "print('still here')").cells
    assert first.state == "stopped"
    assert "still here" in text_of(second)
    assert time.monotonic() - started < 15
    assert named("lab-bomb") == []


def named(name: str) -> list[str]:
    """All processes of the machine with this name."""
    found = []
    for path in Path("/proc").glob("[0-9]*/comm"):
        with suppress(OSError):
            found += [str(path)] if path.read_text().strip() == name else []
    return found


@pytest.fixture(scope="module")
def narrow(domains, student_library):
    """A small scratch folder, because disks are slow and cells may take three seconds."""
    limits = replace(domains.limits, scratch_bytes=16 * MIB)
    with Sandbox(student_library, limits, level="landlock") as started:
        yield started


@pytest.mark.parametrize(
    "fill",
    [
        "for i in range(5): open(f'{cell}-{i}', 'wb').write(bytes(2**20))",
        "for i in range(1_200): os.mknod(f'{cell}-{i}')",
    ],
    ids=["bytes", "files"],
)
def test_the_scratch_folder_has_a_limit(narrow, fill):
    cells = [f"import os\ncell = {n}\n{fill}" for n in range(5)]
    *filling, last = run_cells(narrow, *cells, "print('still here')").cells
    assert filling[0].state == "ok", filling[0].reason
    # If root may mount, the kernel sends the first message, otherwise the fork server the second.
    ends = ("No space left on device", "wrote more than 16 MiB")
    assert any(end in text_of(cell) for cell in filling for end in ends)
    assert "still here" in text_of(last)


def test_a_folder_that_is_hard_to_remove_is_removed(domains):
    deep = (
        "import os\n"
        "for mode in (0, 0o300):\n"
        "    try: os.mkdir('closed', mode)\n"
        "    except PermissionError: print('refused')\n"
        "os.symlink('/usr', 'link')\n"
        "for _ in range(3000): os.mkdir('d'); os.chdir('d')\n"
        "os.mkfifo('pipe'); print('deep')\n"
    )
    answer = said(domains, deep)
    assert "refused\ndeep" in answer or "wrote more than 64 MiB" in answer
    listed = said(domains, "import os\nprint(os.listdir('..'))")
    assert "['lab']" in listed
    assert os.path.isdir("/usr/lib")


def test_loaders_load_without_workers(domains):
    load = (
        "from torch.utils.data import DataLoader\n"
        "loader = DataLoader(range(6), 2, num_workers=2, prefetch_factor=3, timeout=9,\n"
        "                    persistent_workers=True)\n"
        "print([batch.tolist() for batch in loader])\n"
    )
    assert "[[0, 1], [2, 3], [4, 5]]" in said(domains, load)


def test_signals_to_all_stay_inside(domains, bystander):
    everybody = "import os, signal\nos.kill(-1, signal.SIGKILL)"
    _, after = run_cells(domains, everybody, "print('still here')").cells
    assert "still here" in text_of(after)
    assert bystander.poll() is None
    bystander.send_signal(signal.SIGTERM)
    assert bystander.wait(5) == -signal.SIGTERM
