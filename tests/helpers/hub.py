"""Starts a JupyterHub whose users are accounts of this machine, as ``python hub.py FOLDER PORT``.

The accounts, and what covers root's own folders, are in mounts of this process alone: nothing
stays on the machine. Each user has a home in FOLDER, and all have one password. Nobody but root can
do that.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[0:0] = [str(REPOSITORY / "lib"), str(REPOSITORY / "autograder")]

from gradekit.untrusted import drop_root, namespaces  # noqa: E402

USERS = {"ada": 6001, "bob": 6002, "tessa": 6003}
PASSWORD = "the password of all of them"
SETTINGS = """
c.JupyterHub.bind_url = "http://127.0.0.1:{port}"
c.JupyterHub.hub_port = {port} + 1
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{api}"
c.JupyterHub.authenticator_class = "shared-password"
c.SharedPasswordAuthenticator.user_password = {password!r}
c.Authenticator.allowed_users = {users!r}
c.Spawner.default_url = "/lab"
c.Spawner.environment = {{
    "JUPYTER_CONFIG_PATH": "{folder}/etc",  # /etc/jupyter on a real one
    "OMP_NUM_THREADS": "1",
}}
"""
NBGRADER = """
c.CourseDirectory.course_id = "attention-labs"
c.Exchange.root = "{folder}/exchange"
"""


def main(folder: Path, port: int) -> None:
    """Become the hub."""
    if not namespaces.own_mounts():
        raise SystemExit("nothing can be mounted here")
    drop_root.cover_closed_folders(
        [REPOSITORY, folder, Path(sys.prefix), Path(sys.executable), Path(sys.base_prefix)]
    )
    write_accounts(folder)
    (folder / "exchange").mkdir()
    (folder / "exchange").chmod(0o777)
    (folder / "etc").mkdir()
    (folder / "etc" / "nbgrader_config.py").write_text(NBGRADER.format(folder=folder))
    settings = SETTINGS.format(
        port=port, api=port + 2, password=PASSWORD, users=set(USERS), folder=folder
    )
    (folder / "jupyterhub_config.py").write_text(settings)
    os.chdir(folder)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    os.execve(sys.executable, [sys.executable, "-m", "jupyterhub"], {**os.environ, "PATH": path})


def write_accounts(folder: Path) -> None:
    """Add the users to the lists of accounts that this process sees."""
    passwd, group = (Path("/etc", name).read_text() for name in ("passwd", "group"))
    for name, number in USERS.items():
        home = folder / "home" / name
        home.mkdir(parents=True, exist_ok=True)
        subprocess.run(["chown", "-R", f"{number}:{number}", home], check=True)
        home.chmod(0o700)
        passwd += f"{name}:x:{number}:{number}::{home}:/bin/bash\n"
        group += f"{name}:x:{number}:\n"
    for name, text in (("passwd", passwd), ("group", group)):
        (folder / name).write_text(text)
        subprocess.run(["mount", "--bind", folder / name, f"/etc/{name}"], check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
