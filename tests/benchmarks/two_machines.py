"""Two machines for MPI programs, made of one: namespaces of the kernel give the second one a network address, a host
name, a clock and a file system of its own. Needs root, and `ip` (iproute2).

The second machine's CLOCK_MONOTONIC is `AHEAD_S` ahead, and its kernel does not trust the processor's counter, so that
the two share no clock. What is below `apart` is other files there.
"""

import os
import shutil
import stat
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

AHEAD_S = 100_000
HOSTS = ("alpha", "beta")
_ADDRESSES = ("10.77.0.1", "10.77.0.2")
_SOURCE = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
_AGENT = """#!/bin/sh
# What mpirun calls instead of ssh: AGENT ADDRESS COMMAND...
shift
exec ip netns exec {space} unshare --uts --mount --time --monotonic {ahead_s} sh -c "
    hostname {host}; mount --bind {source} {counted}; mount --bind {other} {apart}; cd /; $*"
"""


def can_be_made() -> bool:
    return os.geteuid() == 0 and all(shutil.which(one) for one in ("ip", "unshare", "mpirun"))


@dataclass(frozen=True)
class TwoMachines:
    """`apart` is a folder of the first machine, and `other` what the second one has in its place; `agent` starts a
    command there."""

    space: str
    agent: Path
    apart: Path
    other: Path

    def command(self, ranks: int, program: Path) -> list[str]:
        """Open MPI's, half of the ranks on each."""
        hosts = ",".join(f"{address}:{ranks // 2}" for address in _ADDRESSES)
        options = {"plm_rsh_agent": str(self.agent), "btl": "self,tcp",
                   "btl_tcp_if_include": "10.77.0.0/24", "oob_tcp_if_include": "10.77.0.0/24"}  # fmt: skip
        more = [word for option in options.items() for word in ("--mca", *option)]
        recorded = ["-x", "RCW_RAW", "-x", "RCW_TRACE"]
        return self.on_first(["mpirun", *recorded, *more, "--host", hosts, "-n", str(ranks), str(program)])

    def on_first(self, words: Sequence[str]) -> list[str]:
        own = f"{self.space}a"
        return ["ip", "netns", "exec", own, "unshare", "--uts", "sh", "-c", f'hostname {HOSTS[0]}; "$@"', "sh", *words]

    def bring_together(self, records: Path) -> None:
        """Copy what the second machine recorded to the first one's folder below `apart`."""
        shutil.copytree(self.other / records.relative_to(self.apart), records, dirs_exist_ok=True)


@contextmanager
def two_machines(folder: Path) -> Iterator[TwoMachines]:
    """They are there until the end of the block. CalledProcessError where the kernel refuses."""
    space = f"rcw{os.getpid() % 1_000_000}"
    apart, other, source, agent = (folder / name for name in ("apart", "other", "clocksource", "agent"))
    apart.mkdir()
    other.mkdir()
    source.write_text("hpet\n")
    agent.write_text(
        _AGENT.format(space=f"{space}b", ahead_s=AHEAD_S, host=HOSTS[1], source=source, counted=_SOURCE, other=other,
                      apart=apart)
    )  # fmt: skip
    agent.chmod(agent.stat().st_mode | stat.S_IXUSR)
    try:
        for one in "ab":
            _ip(f"netns add {space}{one}")
        _ip(f"link add {space}va type veth peer name {space}vb")
        for one, address in zip("ab", _ADDRESSES, strict=True):
            _ip(f"link set {space}v{one} netns {space}{one}")
            _ip(f"-n {space}{one} addr add {address}/24 dev {space}v{one}")
            _ip(f"-n {space}{one} link set {space}v{one} up")
            _ip(f"-n {space}{one} link set lo up")
        yield TwoMachines(space, agent, apart, other)
    finally:
        for one in "ab":
            subprocess.run(["ip", "netns", "del", f"{space}{one}"], check=False, capture_output=True)


def _ip(words: str) -> None:
    subprocess.run(["ip", *words.split()], check=True, capture_output=True)
