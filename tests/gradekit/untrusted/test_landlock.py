"""The second level: whether a machine has it, what it leaves open, what it leaves behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gradekit import doctor
from gradekit.errors import SandboxUnavailableError
from gradekit.sandbox import bubblewrap, landlock_policy
from gradekit.sandbox.sandbox import Sandbox, describe
from gradekit.untrusted import (
    drop_root,
    landlock,
    libc,
    namespaces,
    scratch,
    seccomp,
    seccomp_landlock,
)

here = pytest.mark.skipif(
    landlock_policy.why_unavailable() is not None, reason=f"{landlock_policy.why_unavailable()}"
)


class TestWhetherItIsThere:
    @pytest.mark.parametrize(
        ("abi", "sentence"), [(0, "no Landlock"), (5, "has ABI 5, and 6 is needed .Linux 6.12")]
    )
    def test_a_weaker_kernel_is_refused(self, monkeypatch, tmp_path, abi, sentence):
        monkeypatch.setattr(landlock, "abi", lambda: abi)
        for start in (Sandbox(tmp_path, level="landlock").start, lambda: describe("landlock")):
            with pytest.raises(SandboxUnavailableError, match=sentence):
                start()

    def test_an_unknown_processor_is_refused(self, monkeypatch):
        monkeypatch.setattr(landlock, "abi", lambda: 6)
        assert landlock_policy.why_unavailable() is None
        monkeypatch.setattr("platform.machine", lambda: "riscv64")
        assert "riscv64" in landlock_policy.why_unavailable()

    @here
    def test_its_line_says_what_is_not_hidden(self):
        assert "not without their names, sizes and dates" in describe("landlock")

    def test_without_bubblewrap_it_is_named_and_not_taken(self, monkeypatch, tmp_path):
        monkeypatch.setenv("PATH", "/nowhere")
        with pytest.raises(
            SandboxUnavailableError, match=r"--sandbox landlock.*its size and its dates"
        ):
            Sandbox(tmp_path).start()

    def test_the_doctor_knows_both_levels(self, monkeypatch):
        monkeypatch.setattr(landlock, "abi", lambda: 3)
        monkeypatch.setattr("shutil.which", lambda _: None)
        first, second = doctor._sandbox()
        assert (first.ok, second.ok) == (False, True)
        assert "bubblewrap is not installed" in first.sentence
        assert "unavailable, the kernel's Landlock has ABI 3" in second.sentence


class TestWhatItLeavesOpen:
    def opened(self, monkeypatch, tmp_path, shown, private=(), own=()):
        monkeypatch.setattr(landlock_policy, "shown_paths", lambda: shown)
        monkeypatch.setattr(landlock_policy, "own_packages", lambda: list(own))
        return landlock_policy.policy_for(tmp_path / "assembled", tmp_path / "scratch", private)

    @pytest.fixture
    def tree(self, tmp_path):
        for name in ("usr/bin/sh", "usr/course/gradebook", "usr/lib/gradekit/paper", "usr/lib/re"):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text("")
        (tmp_path / "usr" / "link").symlink_to(tmp_path / "usr" / "course")
        return tmp_path / "usr"

    def test_a_private_folder_within_is_left_out_and_not_listed(self, monkeypatch, tree):
        open_ = self.opened(monkeypatch, tree, [tree], private=[tree / "course"])
        assert set(open_.readable) == {str(tree / name) for name in ("assembled", "bin", "lib")}
        assert open_.listable == ()

    def test_our_own_package_within_is_left_out_but_listed(self, monkeypatch, tree):
        open_ = self.opened(monkeypatch, tree, [tree / "lib"], own=[tree / "lib" / "gradekit"])
        assert set(open_.readable) == {str(tree / "assembled"), str(tree / "lib" / "re")}
        assert open_.listable == (str(tree / "lib"),)

    def test_an_environment_within_a_private_folder_is_there(self, monkeypatch, tree):
        shown = [tree, tree / "course"]
        open_ = self.opened(monkeypatch, tree, shown, private=[tree / "course"])
        assert str(tree / "course") in open_.readable

    @here
    def test_the_kernel_keeps_to_it(self, tmp_path):
        for name in ("open", "closed"):
            (tmp_path / name).mkdir()
            (tmp_path / name / "file").write_text(name)
        script = (
            "from pathlib import Path\nfrom gradekit.untrusted import landlock, libc\n"
            f"folder = Path({str(tmp_path)!r})\n"
            "both = lambda: [read(n) for n in ('open', 'closed')]\n"
            "def read(name):\n"
            "    try: return (folder / name / 'file').read_text()\n"
            "    except PermissionError: return 'refused'\n"
            "before = both()\n"
            "libc.prctl(38, 1)\n"
            "landlock.enter_domain({folder / 'open': landlock.READ, folder / 'none': 1})\n"
            "print(before, both())\n"
        )
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
        assert done.stdout.strip() == "['open', 'closed'] ['open', 'refused']", done.stderr


class TestScratch:
    def test_what_is_there_is_counted(self, tmp_path):
        (tmp_path / "a").mkdir()
        (tmp_path / "a" / "b").write_bytes(b"x" * 100_000)
        size, count = scratch.used(tmp_path)
        assert count == 2
        assert 100_000 <= size < 200_000

    def test_very_deep_folders_count_as_too_much(self, tmp_path):
        (tmp_path / "/".join("d" * 60)).mkdir(parents=True)
        assert scratch.used(tmp_path)[1] > scratch.MAX_INODES

    def test_it_is_emptied_however_deep_and_links_are_not_followed(self, tmp_path):
        outside, inside = tmp_path / "outside", tmp_path / "inside"
        for folder in (outside, inside):
            folder.mkdir()
        (outside / "kept").write_text("")
        here = os.open(inside, os.O_RDONLY)
        for _ in range(3000):  # deeper than a path can say
            os.mkdir("d", dir_fd=here)
            os.symlink(outside, "link", dir_fd=here)
            below = os.open("d", os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = below
        os.close(here)
        scratch.empty(inside)
        assert list(inside.iterdir()) == []
        assert (outside / "kept").exists()


class TestCalls:
    def test_no_number_is_there_twice(self):
        for column in (0, 1):
            numbers = [rule.numbers[column] for rule in seccomp_landlock.rules()]
            numbers += [pair[column] for pair in seccomp.REFUSED.values()]
            known = [number for number in numbers if number is not None]
            assert len(known) == len(set(known))


class TestRoot:
    @pytest.mark.skipif(os.getuid() != 0, reason="only root becomes somebody else")
    def test_where_it_cannot_mount_it_says_what_nobody_else_can_enter(self, monkeypatch, tmp_path):
        monkeypatch.setattr(namespaces, "own_mounts", lambda: False)
        closed = tmp_path / "closed"
        (closed / "python").mkdir(parents=True)
        closed.chmod(0o700)
        tmp_path.chmod(0o700)
        with pytest.raises(libc.IsolationError, match="only root can enter"):
            drop_root.drop_root([str(closed / "python")], tmp_path, 2**20)
        assert os.getuid() == 0


@here
def test_a_daemon_ends_with_the_trusted_process(tmp_path):
    """Its parents' deaths do not reach it: it was reparented, and has a session of its own."""
    student_library, mark = tmp_path / "attnlab", f"daemon-{os.getpid()}"
    (student_library / "checking").mkdir(parents=True)
    source = Path(bubblewrap.__file__).parents[3] / "lib" / "attnlab" / "checking"
    for path in source.glob("*.py"):
        (student_library / "checking" / path.name).write_text(path.read_text())
    (student_library / "__init__.py").write_text("")
    daemon = (
        "import ctypes, os, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork(): os._exit(0)\n"
        f"    ctypes.CDLL(None).prctl(15, b'{mark[:15]}', 0, 0, 0)\n"
        "    time.sleep(60)\n"
        "os.wait(); time.sleep(60)\n"
    )
    script = (
        "from pathlib import Path\nfrom gradekit.untrusted.messages import Cell\n"
        "from gradekit.sandbox.sandbox import Sandbox\n"
        f"with Sandbox(Path({str(tmp_path)!r}), level='landlock') as sandbox:\n"
        f"    sandbox.run([Cell('a', {daemon!r})], [])\n"
    )

    def named() -> int:
        found = 0
        for path in Path("/proc").glob("[0-9]*/comm"):
            try:
                found += path.read_text().strip() == mark[:15]
            except OSError:
                continue
        return found

    with subprocess.Popen([sys.executable, "-c", script]) as trusted:
        give_up = time.monotonic() + 60
        while not named() and time.monotonic() < give_up:
            time.sleep(0.1)
        assert named() == 1
        trusted.send_signal(signal.SIGKILL)
        trusted.wait()
        give_up = time.monotonic() + 5
        while named() and time.monotonic() < give_up:
            time.sleep(0.05)
        assert named() == 0
