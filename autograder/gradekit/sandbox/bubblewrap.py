"""The outer isolation by bubblewrap: the command that starts the fork server inside it.

Bubblewrap gives the server a root folder of its own. It holds the system's programs and libraries,
the Python environment, the few files of ours that the untrusted side needs, and nothing else. There
is no network, no other process and no capability, and the environment is clean.

Tested in tests/gradekit/sandbox/test_bubblewrap.py.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from gradekit.errors import SandboxUnavailableError
from gradekit.untrusted import namespaces
from gradekit.untrusted.namespaces import NAMESPACES, NOBODY, SCRATCH

INSIDE = Path("/lab")
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_SETTINGS = (
    "/etc/alternatives",
    "/etc/fonts",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/sys/devices/system/cpu",
)
_NOT_INSTALLED = (
    "bubblewrap is not installed; get it with `sudo apt install bubblewrap` (or your system's "
    "package of that name)"
)
_ROOT = Path("/")
_TEMPORARY = "/tmp"  # noqa: S108 - a name inside the sandbox
# A student's test could let these judge the version that it is tried on by the bundle's own checks.
_AT_HOME = ("lookup.py", "run_visible.py", "visible.py")
_ACCOUNTS = "student:x:1000:1000:student:/scratch:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n"


@dataclass(frozen=True)
class Mount:
    """A path inside: bound read-only from `source`, or empty if `source` is None."""

    path: Path
    source: Path | None


def find() -> str:
    """The bubblewrap program.

    Raises:
        SandboxUnavailableError: it is not installed.
    """
    program = shutil.which("bwrap")
    if program is None:
        raise unavailable(_NOT_INSTALLED)
    return program


def why_unavailable() -> str | None:
    """Why this machine does not have the level, and what helps; None if it has it."""
    program = shutil.which("bwrap")
    return _NOT_INSTALLED if program is None else _refusal(program)


def unavailable(reason: str) -> SandboxUnavailableError:
    """The error of a user who asked for this level where `why_unavailable` has a reason."""
    return SandboxUnavailableError(
        f"student code cannot be confined with bubblewrap: {reason}; `lab grade --sandbox "
        "landlock` needs neither bubblewrap nor user namespaces, but student code then learns "
        "whether a file exists, its size and its dates; docs/trust.md says what else"
    )


def version(program: str) -> str:
    """The output of `bwrap --version`, such as "bubblewrap 0.8.0"."""
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)  # noqa: S603
    return done.stdout.strip() or "bubblewrap"


def _refusal(program: str) -> str | None:
    """Why this system refuses a process in this isolation, or namespaces inside of it."""
    inside = (
        "import ctypes, os\n"
        "libc = ctypes.CDLL(None)\n"
        f"os.getuid() or (os.setgroups([]), os.setgid({NOBODY}), os.setuid({NOBODY}))\n"
        f"raise SystemExit(0 if libc.unshare({NAMESPACES}) == 0 else 'no namespaces inside')"
    )
    line = [program, *_isolation_options(), "--ro-bind", "/", "/", "--dev", "/dev", "--"]
    python = [sys.executable, "-I", "-S", "-c", inside]
    try:
        done = subprocess.run(line + python, capture_output=True, text=True, check=False)  # noqa: S603
    except OSError as error:
        return f"{program} cannot be started ({error.strerror}); install bubblewrap again"
    if done.returncode == 0:
        return None
    errors = done.stderr.strip().splitlines()[-1:] or ["it wrote no error"]
    return (
        f"bubblewrap is installed, but this system refuses it ({errors[0]}); user namespaces must "
        "be allowed (in a container, start it with `--security-opt seccomp=unconfined`; elsewhere "
        "ask your system administrator)"
    )


def assemble(student_library: Path, folder: Path) -> None:
    """Copy into `folder` the packages of the untrusted side, readable for its user.

    Args:
        student_library: a folder that holds the student edition of the package attnlab.
        folder: an empty folder.
    """
    package = folder / "gradekit"
    package.mkdir(parents=True)
    (folder / "passwd").write_text(_ACCOUNTS)
    (folder / "group").write_text("student:x:1000:\nnogroup:x:65534:\n")
    (package / "__init__.py").write_text('"""The untrusted side of the grader."""\n')
    ignore = shutil.ignore_patterns("__pycache__", ".*")
    untrusted = Path(namespaces.__file__).parent
    shutil.copytree(untrusted, package / untrusted.name, ignore=ignore)
    shutil.copytree(student_library / "attnlab", folder / "attnlab", ignore=ignore)
    for name in _AT_HOME:
        (folder / "attnlab" / "checking" / name).unlink()
    for parent, _, files in os.walk(folder):
        os.chmod(parent, 0o755)  # noqa: S103 - read inside as an ordinary user
        for name in files:
            os.chmod(os.path.join(parent, name), 0o644)


def environment(inside: Path, scratch: str) -> dict[str, str]:
    """All environment variables of the untrusted side; none of them is the caller's."""
    threads = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
    return {
        "ATTNLAB_GRADING": "1",
        "HOME": scratch,
        "IPYTHONDIR": f"{scratch}/.ipython",
        "LANG": "C.UTF-8",
        "LOGNAME": "student",
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "MPLCONFIGDIR": f"{scratch}/.matplotlib",
        "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
        "PIP_NO_INDEX": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONNOUSERSITE": "1",
        "PYTHONPATH": str(inside),
        "PYTHONSAFEPATH": "1",
        "TMPDIR": scratch,
        "USER": "student",
        "XDG_CACHE_HOME": f"{scratch}/.cache",
        **dict.fromkeys(threads, "1"),
    }


def command(program: str, assembled: Path, private: Iterable[Path] = ()) -> list[str]:
    """Bubblewrap's command line, up to the program that it starts.

    Args:
        program: bubblewrap.
        assembled: the folder that :func:`assemble` filled.
        private: folders that must not be visible inside, wherever they are.
    """
    line = [program, *_isolation_options(), "--clearenv"]
    for name, value in environment(INSIDE, SCRATCH).items():
        line += ["--setenv", name, value]
    mounts = _mounts(assembled, private)
    for mount in mounts:
        line += _show(mount)
    # /dev/full reads as zeros, too. A shared mapping of /dev/zero is memory that no limit counts.
    line += ["--dev", "/dev", "--dev-bind", "/dev/full", "/dev/zero"]
    line += ["--perms", "1777", "--tmpfs", SCRATCH]
    if not any(mount.path.is_relative_to(_TEMPORARY) for mount in mounts):
        line += ["--symlink", SCRATCH, _TEMPORARY]
    for path in [mount.path for mount in mounts if mount.source is None] + [Path("/dev"), _ROOT]:
        line += ["--remount-ro", str(path)]
    return [*line, "--chdir", "/"]


def _isolation_options() -> list[str]:
    common = ["--cap-drop", "ALL", "--die-with-parent", "--new-session", "--hostname", "lab"]
    if os.getuid() != 0:
        return ["--unshare-all", *common, "--proc", "/proc"]
    # In a user namespace, root maps to itself, and then no other can be nested in it. So root keeps
    # its namespace, and the first thing that the server does is to become an ordinary user.
    namespaces = ("pid", "net", "ipc", "uts", "cgroup-try")
    needed = ("CAP_SETUID", "CAP_SETGID", "CAP_SYS_ADMIN")
    return [
        *(f"--unshare-{name}" for name in namespaces),
        *common,
        "--dir",
        "/proc",
        *(word for name in needed for word in ("--cap-add", name)),
    ]


def _mounts(assembled: Path, private: Iterable[Path]) -> list[Mount]:
    """The mounts, outer folders before inner ones, because a later mount covers an earlier one."""
    mounts = {path: Mount(path, path) for path in shown_paths()}
    for path in (*own_packages(), *private):
        resolved = path.resolve()
        if any(resolved.is_relative_to(other.resolve()) for other in mounts):
            mounts.setdefault(resolved, Mount(resolved, None))
    mounts[INSIDE] = Mount(INSIDE, assembled)
    for name in ("passwd", "group"):
        mounts[Path("/etc", name)] = Mount(Path("/etc", name), assembled / name)
    return sorted(mounts.values(), key=lambda mount: len(mount.path.parts))


def shown_paths() -> list[Path]:
    """The paths of this machine that student code may read: the system's programs and Python's."""
    shown = [Path(path) for path in (*_SYSTEM, *_SETTINGS)] + python_paths()
    return [path for path in dict.fromkeys(shown) if path.exists()]


def python_paths() -> list[Path]:
    """The shown paths of this Python environment: programs and libraries, not folders around."""
    found = [Path(sys.prefix, "pyvenv.cfg"), Path(sys.executable).parent]
    found += [Path(sysconfig.get_path(name)) for name in ("purelib", "platlib")]
    found += [step.parent for step in _links(Path(sys.executable))]
    base = Path(sys.base_prefix)
    found += [base / name for name in ("bin", "lib", "lib64", "share/fonts")]
    found += [Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")]
    return [path for path in dict.fromkeys(found) if not path.is_relative_to("/usr")]


def _links(path: Path) -> list[Path]:
    """The targets of `path`, link by link; each of them must exist inside."""
    steps = []
    while path.is_symlink():
        path = path.parent / path.readlink()
        steps.append(Path(os.path.normpath(path)))
    return steps


def own_packages() -> list[Path]:
    """The folders of attnlab and gradekit; they are visible inside only if they are in a bind."""
    found = []
    for name in ("attnlab", "gradekit"):
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations:
            found += [Path(location) for location in spec.submodule_search_locations]
    return found


def _show(mount: Mount) -> list[str]:
    if str(mount.path) in _SYSTEM and mount.path.is_symlink():
        return ["--symlink", os.readlink(mount.path), str(mount.path)]
    parents = [path for path in reversed(mount.path.parents) if path != _ROOT]
    line = [word for path in parents for word in ("--perms", "0755", "--dir", str(path))]
    if mount.source is None:
        return [*line, "--tmpfs", str(mount.path)]
    return [*line, "--ro-bind", str(mount.source), str(mount.path)]
