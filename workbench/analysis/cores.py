"""Describes the cores that the host's threads ran on, for the report and the command line."""

from workbench.model.run import PS_PER_S, Manifest
from workbench.model.text import counted, percent_text, time_text

_MOST_THREADS = 8


def cores_words(manifest: Manifest) -> str:
    """Threads, cores and costs as a clause without a full stop; "" for one thread or without virtual cores."""
    cores, threads = manifest.cores, manifest.threads
    if not cores.count or len(threads) < 2 or not manifest.simulated:
        return ""
    costs = {"a call": cores.call_ps, "a wake-up": cores.wake_ps, "a change of threads": cores.switch_ps}
    costs_named = [f"{name} takes {time_text(ps / PS_PER_S)}" for name, ps in costs.items() if ps]
    used = sum(1 for core in zip(*(thread.core_ps for thread in threads), strict=False) if any(core))
    subject = (
        f"{cores.ranks} ranks with {counted(len(threads), 'thread')}" if cores.ranks > 1 else f"{len(threads)} threads"
    )
    per_rank = " each" if cores.ranks > 1 else ""
    parts = [
        f"{subject} ran on {used} of {counted(cores.count, 'virtual core')}{per_rank}",
        f"slices of {time_text(cores.slice_ps / PS_PER_S)}",
        *costs_named,
    ]
    return ", ".join(parts)


def placement_words(manifest: Manifest) -> str:
    """Each thread's shares of time by core, waiting and queued; "" if `cores_words` is empty."""
    if not cores_words(manifest):
        return ""
    threads = []
    for number, thread in enumerate(manifest.threads[:_MOST_THREADS]):
        life = thread.end_ps - thread.begin_ps
        shares = {
            **{f"core {n}": ps for n, ps in enumerate(thread.core_ps)},
            "waiting": thread.waited_ps,
            "queued": thread.queued_ps,
        }
        spent = [f"{name} {percent_text(ps / max(life, 1))}" for name, ps in shares.items() if ps]
        main = f"rank {number}" if manifest.cores.ranks > 1 else "main"
        name = main if number < manifest.cores.ranks else f"thread {number}"
        threads.append(f"{name}: {', '.join(spent) or 'in calls of the card'}")
    if len(manifest.threads) > _MOST_THREADS:
        threads.append(f"and {len(manifest.threads) - _MOST_THREADS} more")
    return "; ".join(threads)
