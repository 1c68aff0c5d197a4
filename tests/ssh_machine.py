"""A machine that is reached by ssh with a key: sshd on the loopback, as whoever runs the tests."""

import getpass
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin")


@contextmanager
def ssh_machine(folder: Path) -> Iterator[Path]:
    """The configuration for `ssh -F` and `scp -F` in which the machine is called `lab`. Files go to `folder`."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    for name in ("host_key", "key"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
    server = folder / "sshd_config"
    server.write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host_key\nAuthorizedKeysFile {folder}/key.pub\n"
        "PidFile none\nUsePAM no\nStrictModes no\nPasswordAuthentication no\nSubsystem sftp internal-sftp\n"
    )
    key = " ".join((folder / "host_key.pub").read_text().split()[:2])
    (folder / "known_hosts").write_text(f"[127.0.0.1]:{port} {key}\n")
    client = folder / "ssh_config"
    client.write_text(
        f"Host lab\n  HostName 127.0.0.1\n  Port {port}\n  User {getpass.getuser()}\n  IdentityFile {folder}/key\n"
        f"  IdentitiesOnly yes\n  UserKnownHostsFile {folder}/known_hosts\n  BatchMode yes\n"
    )
    if os.getuid() == 0:
        os.makedirs("/run/sshd", exist_ok=True)  # where a root's sshd changes its root to
    process = subprocess.Popen([str(SSHD), "-D", "-e", "-f", server], stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        assert any("listening" in line for line in process.stderr)
        yield client
    finally:
        process.terminate()
        process.communicate()
