"""Describes the instrumentation overhead of a run, for the report, the window and the command line."""

from workbench.model.run import Manifest


def recording_words(manifest: Manifest) -> str:
    """The instrumentation overhead as a clause without a full stop; "" if nothing was recorded or nothing is known."""
    overhead = manifest.overhead
    if not manifest.instrumented or not overhead:
        return ""
    if "taken_off_pct" not in overhead:  # a run by a version that did not subtract overhead
        return (
            f"recording overhead is in the times, {overhead['host_pct']:.2f} % of the host's"
            if "host_pct" in overhead
            else ""
        )
    if manifest.deterministic:
        return "recording takes no virtual time: only the user's own code is counted"
    residual, uncertainty = max(0.0, overhead["virtual_pct"]), overhead["unsure_pct"]
    return (
        f"instrumentation overhead {overhead['taken_off_pct']:.2f} % subtracted, call by call; "
        f"residual {residual:.2f} \u00b1 {uncertainty:.2f} %"
    )


def recording_parts(manifest: Manifest) -> tuple[str, ...]:
    """The instrumentation overhead for a status bar; empty if `recording_words` is."""
    overhead = manifest.overhead
    if manifest.deterministic or not manifest.instrumented or "taken_off_pct" not in overhead:
        return ()
    residual = max(0.0, overhead["virtual_pct"]) + overhead["unsure_pct"]
    if max(overhead["taken_off_pct"], residual) < 0.05:
        return ("no instrumentation overhead",)
    return (f"instrumentation overhead {overhead['taken_off_pct']:.1f} % subtracted (residual ≤ {residual:.1f} %)",)
