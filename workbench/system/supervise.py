"""The process that stands between the workbench and each program it starts: `main(STATUS_FD, MEMORY_BYTES, COMMAND)`.

It lives as long as the program, and ends as it ends (the same exit code, the same signal); nothing that the program
started outlives it. Orphans are its children (it is their subreaper), whatever sessions they made. Its standard input
is the workbench's lifeline: a `T` asks the program to end, and the end of file, also that of a workbench that was
killed, ends everything at once. On STATUS_FD it writes one line at the start (`started`, or `failed ERRNO`), and at
the end `left N` where the program left N processes behind. MEMORY_BYTES is what each process may map;
0 is no limit.

Every compiler that is called waits for it to start: so it runs by itself, with as little of the standard library as
will do (`contextlib`, `ctypes`, and `signal` for its enumerations, would take a third of its time), and is imported,
since Python compiles a script anew each time.
"""

# ruff: noqa: SIM105
import _ctypes
import _signal as signal  # type: ignore[import-not-found]
import os
import select
import time

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
_LAST_MOMENTS_S = 0.1  # for what is ending by itself
_PATIENCE_S = 5.0  # for processes that cannot die, in the middle of a read from a dead disk
_FOR_THE_PROGRAM = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main(status: int, memory_bytes: int, command: list[str]) -> None:
    os.set_inheritable(status, False)
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    for number in _FOR_THE_PROGRAM:
        signal.signal(number, signal.SIG_IGN)
    awake, wake = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(awake, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    program = start(status, memory_bytes, command)
    waiting = select.poll()
    waiting.register(0, select.POLLIN)
    waiting.register(awake, select.POLLIN)
    code: int | None = None
    while code is None:
        for fd, _ in waiting.poll():
            order = os.read(fd, 64)
            if fd == 0 and not order:
                end_children(0.0)
                os._exit(128 + signal.SIGKILL)
            if fd == 0:
                try:
                    os.killpg(program, signal.SIGTERM)
                except ProcessLookupError:
                    pass
        code = reap().get(program)
    left = end_children(_LAST_MOMENTS_S)
    if left:
        say(status, f"left {left}")
    end_as(code)


def start(status: int, memory_bytes: int, command: list[str]) -> int:
    """Start the program in a session of its own; its process id. Ends where it cannot be started."""
    read_end, tell = os.pipe()
    me = os.getpid()
    program = os.fork()
    if program == 0:
        try:
            os.setsid()
            prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != me:
                os._exit(0)
            signal.set_wakeup_fd(-1)
            for number in (*_FOR_THE_PROGRAM, signal.SIGCHLD, signal.SIGPIPE):
                signal.signal(number, signal.SIG_DFL)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            if memory_bytes:
                import resource

                resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
            os.execvp(command[0], command)
        except OSError as error:
            os.write(tell, str(error.errno or 0).encode())
        os._exit(127)
    os.close(tell)
    failed = os.read(read_end, 16)
    os.close(read_end)
    say(status, f"failed {failed.decode()}" if failed else "started")
    if failed:
        os._exit(127)
    return program


def say(status: int, line: str) -> None:
    """Say it, if anybody listens: where the workbench is gone, its lifeline ends too, and then everything in order."""
    try:
        os.write(status, f"{line}\n".encode())
    except BrokenPipeError:
        pass


def prctl(option: int, value: int) -> None:
    """Linux's; elsewhere what a program leaves behind is not found."""
    try:
        address = _ctypes.dlsym(_ctypes.dlopen(None, os.RTLD_NOW), "prctl")  # type: ignore[arg-type]
    except OSError:
        return
    _ctypes.call_function(address, (option, value, 0, 0, 0))


def reap() -> dict[int, int]:
    """The children that have ended, with how (as `os.waitpid` tells it)."""
    ended: dict[int, int] = {}
    try:
        while True:
            child, code = os.waitpid(-1, os.WNOHANG)
            if not child:
                return ended
            ended[child] = code
    except ChildProcessError:
        return ended


def children() -> list[int]:
    """Those of our children that have not ended. A child's children become ours when it ends."""
    me = os.getpid()
    pids = []
    for name in os.listdir("/proc"):
        try:
            if name.isdigit():
                with open(f"/proc/{name}/stat", "rb") as file:
                    state, parent = file.read().rpartition(b")")[2].split()[:2]
                if int(parent) == me and state not in (b"Z", b"X"):
                    pids.append(int(name))
        except (OSError, ValueError, IndexError):  # it has ended meanwhile
            pass
    return pids


def end_children(grace_s: float) -> int:
    """Kill until nobody is left, and say how many were killed."""
    killed: set[int] = set()
    began = time.monotonic()
    while (waited := time.monotonic() - began) < _PATIENCE_S:
        reap()
        try:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            break
        for child in children() if waited >= grace_s else ():
            killed.add(child)
            try:
                os.kill(child, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.002)
    return len(killed)


def end_as(code: int) -> None:
    """End as the program did."""
    if os.WIFSIGNALED(code):
        import resource

        number = os.WTERMSIG(code)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        try:
            signal.signal(number, signal.SIG_DFL)
        except (OSError, ValueError):
            pass
        os.kill(os.getpid(), number)
        time.sleep(1.0)
        os._exit(128 + number)
    os._exit(os.WEXITSTATUS(code))
