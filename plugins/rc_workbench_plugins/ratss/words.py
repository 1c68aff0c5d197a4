"""The equations behind the parts of a RATSS model, as people read them."""

from rc_workbench_plugins.ratss.model import EXCHANGES, ComputeNode, Transaction

_ROUNDS = {
    "all-gather": "⌈log2 P⌉ × (L + 2o) + G × (P − 1) × k",
    "all-to-all": "(P − 1) × (L + 2o + G × k)",
    "barrier": "⌈log2 P⌉ × (L + 2o)",
}
_SERIAL = dict.fromkeys(("all-gather", "all-to-all"), "L + G × P × (P − 1) × k") | {"barrier": "2L"}


def stage_words(name: str) -> str:
    """What a stage is called; one that is named "stage 1" needs no further word."""
    return name if name.lower().startswith("stage") else f"stage {name}"


def node_equation(node: ComputeNode) -> str:
    return "PL/F + N × ops / (F × R)   Eq. 4"


def move_equation(move: Transaction) -> str:
    """What a transaction's time is computed with."""
    if move.table:
        return "P × transfers × time of one   transfer table"
    if move.kind == "io":
        gap = "1/(R × eff)" if move.rate_bytes_per_s is not None else "g(k)"
        return f"L + o + P × k × {gap}   Eqs. 7, 9, 18"
    return _equation(move) + ("; messages share the network" if move.capacity is not None else "")


def _equation(move: Transaction) -> str:
    if move.kind in EXCHANGES:
        return f"{(_SERIAL if move.serial else _ROUNDS)[move.kind]}   LogGP"
    if move.serial and move.kind == "gather":
        return f"L + G × {'k' if move.overlapped else 'P × k'}   Eq. 27"
    if move.serial:
        return f"L + P × (G × k{' + γ × k' if move.kind == 'reduce' else ''})   Eq. 26"
    if move.kind in ("scatter", "gather"):
        return "⌈log2 P⌉ × L + 2o + G × (P − 1) × k   Eq. 19"
    if move.kind == "broadcast":
        return "⌈log2 P⌉ × (L + 2o + G × k)   Eq. 20"
    return "⌈log2 P⌉ × (L + 2o + G × k + γ × k)   Eq. 20"


def stage_equation(overlapped: bool) -> str:
    return "max(t_comp, t_comm)   Eq. 15" if overlapped else "t_comp + t_comm   Eq. 15"
