"""The equations of RATSS by which a model is computed, one function each.

Holland, George, Lam, Smith: "An analytical model for multilevel performance prediction of multi-FPGA systems", ACM
TRETS 4(3):27, 2011. Every argument may be a number or an array (they broadcast); times in seconds, sizes in bytes,
gaps in seconds per byte, frequencies in hertz. Sets of times (Eqs. 11, 13, 16, 21, 23) are sequences of such values.
"Erratum Rn" is an inconsistency of the paper; see `ERRATA.md` here.
"""

from collections.abc import Sequence

import numpy as np

from workbench.api import Values


def time_s(delay_s: Values, quantity: Values, gap: Values) -> Values:
    """Eq. 1: delay + quantity x gap, the form of every time here; gap is 1/throughput."""
    return delay_s + quantity * gap


def t_fpga(
    pipeline_cycles: Values,
    elements: Values,
    ops_per_element: Values,
    clock_hz: Values,
    ops_per_cycle: Values,
) -> Values:
    """Eqs. 3 and 4: PL/F + N x ops / (F x R), the time of one FPGA node."""
    return pipeline_cycles / clock_hz + (elements * ops_per_element) / (clock_hz * ops_per_cycle)


def io_gap(rate_bytes_per_s: Values, efficiency: Values) -> Values:
    """Eq. 7: g(k) = 1 / (R_IO x Eff_IO), in s per byte (the paper prints per MB: erratum R4)."""
    return 1.0 / (rate_bytes_per_s * efficiency)


def t_io(delay_s: Values, nodes: Values, message_bytes: Values, gap_s_per_byte: Values, cost_s: Values = 0.0) -> Values:
    """Eqs. 9 and 10: f_delay(L, o) + P x k x g(k) + f_cost(k, gamma); P = 1 one way, 2 both ways."""
    return delay_s + nodes * message_bytes * gap_s_per_byte + cost_s


def t_comp(
    fpga_s: Sequence[Values],
    microprocessor_s: Values = 0.0,
    preprocessing_s: Values = 0.0,
    postprocessing_s: Values = 0.0,
) -> Values:
    """Eqs. 11 and 12: preprocessing + max(max(S_comp), t_microprocessor) + postprocessing.

    With the defaults it is also Eqs. 21 and 22, and Eq. 28: the longest node, any node where the shares are equal.
    """
    return preprocessing_s + np.maximum(longest(fpga_s), microprocessor_s) + postprocessing_s


def t_comm(transactions_s: Sequence[Values]) -> Values:
    """Eqs. 13 and 14: the transactions one after the other (blocking).

    Eqs. 23 and 24 (2-D PDF: scatter X, scatter Y, write X, write Y, read, reduce) and Eq. 29 (broadcast or scatter, and
    gather) are this sum over the sets they name.
    """
    return total(transactions_s)


def t_comm_nonblocking(delays_s: Sequence[Values], throughputs_s: Sequence[Values]) -> Values:
    """Text after Eq. 13: nonblocking transactions take the total delay and the longest throughput time."""
    return total(delays_s) + longest(throughputs_s)


def t_stage(
    comp_s: Values,
    comm_s: Values,
    iterations: Values = 1.0,
    configuration_s: Values = 0.0,
    overlapped: bool = False,
) -> Values:
    """Eq. 15: configuration + iterations x (t_comp + t_comm), or x max of both where they overlap.

    Eqs. 25 and 30 are its serial branch without configuration, for applications of one stage.
    """
    round_s = np.maximum(comp_s, comm_s) if overlapped else comp_s + comm_s
    return configuration_s + iterations * round_s


def t_application(stages_s: Sequence[Values], iterations: Values = 1.0, pipelined: bool = False) -> Values:
    """Eqs. 16 and 17: iterations x the sum of the stages, or x the slowest where they are pipelined."""
    return iterations * (longest(stages_s) if pipelined else total(stages_s))


def t_bus(delay_s: Values, message_bytes: Values, gap_s_per_byte: Values, transfers: Values = 1.0) -> Values:
    """Eq. 18: (L_IO + o_IO) + g(k) x k.

    `transfers` counts number of delays: 1 fits the print (Table II); the number of blocks the message is
    really cut into is the other reading (erratum R6).
    """
    return transfers * delay_s + gap_s_per_byte * message_bytes


def rounds(nodes: Values) -> Values:
    """The rounds of a binomial tree over P nodes: log2(P), and the next whole number where P is no power of two.

    The paper's equations "assume P is a power of 2"; a tree of any other P has a last round that is not full.
    """
    return np.ceil(np.log2(nodes))


def t_scatter(
    nodes: Values, message_bytes: Values, latency_s: Values, overhead_s: Values, gap_s_per_byte: Values
) -> Values:
    """Eq. 19: binomial-tree scatter, log2(P) L + 2 o + G (P - 1) k; k the bytes of each node, log2(P) as `rounds`.

    The root sends P - 1 messages in all, whatever P is. One node has no one to talk to: 0.
    """
    delay_s = rounds(nodes) * latency_s + np.where(np.asarray(nodes) > 1, 2.0, 0.0) * overhead_s
    return delay_s + gap_s_per_byte * (nodes - 1) * message_bytes


def t_broadcast(
    nodes: Values, message_bytes: Values, latency_s: Values, overhead_s: Values, gap_s_per_byte: Values
) -> Values:
    """Eq. 20 without its additions: log2(P) (L + 2 o + G k), the tree's message as long in every round."""
    return rounds(nodes) * (latency_s + 2 * overhead_s + gap_s_per_byte * message_bytes)


def t_reduce(
    nodes: Values,
    message_bytes: Values,
    latency_s: Values,
    overhead_s: Values,
    gap_s_per_byte: Values,
    additions_s: Values,
    short_gap_s: Values = 0.0,
) -> Values:
    """Eq. 20: log2(P) (L + 2 o + G k + gamma k); `additions_s` is gamma k (see `additions`), log2(P) as `rounds`.

    Table III's digits need one short gap g a round besides (erratum R7).
    """
    each_s = latency_s + 2 * overhead_s + short_gap_s + gap_s_per_byte * message_bytes + additions_s
    return rounds(nodes) * each_s


def additions(message_bytes: Values, addition_s: Values, bytes_per_element: Values, literal: bool) -> Values:
    """gamma k of Eq. 20: gamma is the time of one addition, "for each of the k data values in the message".

    The two readings count k (erratum R7): `literal` in bytes, as the equation and Table III are printed; otherwise in
    elements, which gives Table III's digits.
    """
    return addition_s * message_bytes if literal else addition_s * message_bytes / bytes_per_element


def t_all_gather(
    nodes: Values, message_bytes: Values, latency_s: Values, overhead_s: Values, gap_s_per_byte: Values
) -> Values:
    """LogGP all-gather: rounds (L + 2 o) + G (P - 1) k, for any P; k the bytes that each node contributes.

    In every round each node sends all that it has to one node and receives as much from another: k, 2 k, 4 k, ... bytes
    (recursive doubling; Bruck's algorithm where P is no power of two, whose last round sends only what is missing).
    A message of m bytes takes o + G m + L + o (Alexandrov et al. 1997, with G m for their G (m - 1), as in Eqs. 19 and
    20). All nodes send at once, so the rounds add up: the sizes to (P - 1) k, the rest to `rounds` (L + 2 o). The short
    gap g does not show where it is at most L + 2 o. Algorithm: Thakur, Rabenseifner, Gropp, "Optimization of Collective
    Communication Operations in MPICH", 2005, section 4.1.
    """
    return rounds(nodes) * (latency_s + 2 * overhead_s) + gap_s_per_byte * (nodes - 1) * message_bytes


def t_all_to_all(
    nodes: Values, message_bytes: Values, latency_s: Values, overhead_s: Values, gap_s_per_byte: Values
) -> Values:
    """LogGP all-to-all: (P - 1) (L + 2 o + G k), for any P; k the bytes from each node to each other node.

    Pairwise exchange, MPICH's algorithm for long messages (Thakur et al. 2005, section 4.4): in round i each node
    sends k bytes to the i-th node after it, and receives k from the i-th before it. A round is one LogGP message,
    o + G k + L + o, and there are P - 1 of them.
    """
    return (nodes - 1) * (latency_s + 2 * overhead_s + gap_s_per_byte * message_bytes)


def t_barrier(nodes: Values, latency_s: Values, overhead_s: Values) -> Values:
    """LogGP barrier: rounds (L + 2 o), for any P.

    Dissemination (Hensgen, Finkel, Manber 1988): in round i each node signals the 2^(i-1)-th node after it and waits
    for the one before it. A signal is a message of no bytes, o + L + o; after the last round each has heard of all.
    """
    return rounds(nodes) * (latency_s + 2 * overhead_s)


def shared(messages: Values, capacity: Values) -> Values:
    """How many times longer each of so many messages takes that share a network of this `capacity`, in messages.

    LogP lets a network hold no more than L/g messages from or to a node (Culler et al. 1993); LoGPC (Moritz, Frank
    2001) adds what messages wait for one another. Here they share the rate evenly, as messages of a round begin
    together. Nodes that are not alike: `unlike.py`.
    """
    return np.maximum(1.0, messages / capacity)


def t_tree_contention(
    nodes: Values, message_bytes: Values, gap_s_per_byte: Values, capacity: Values, shrinking: bool
) -> Values:
    """What a binomial tree over P nodes takes more on a network of a `capacity`.

    In round i, 2^(i-1) nodes send (fewer in a last round that is not full). Their messages are k bytes (broadcast,
    reduce), or `shrinking`: P - 2^(r-1), then 2^(r-2), ..., 1 shares of k in r rounds (scatter, gather; P - 1 in all).
    """
    last = rounds(nodes)
    more: Values = 0.0
    for i in range(1, int(np.max(last)) + 1):
        messages = np.minimum(2.0 ** (i - 1), nodes - 2.0 ** (i - 1))
        shares = (nodes - 2.0 ** (last - 1) if i == 1 else 2.0 ** (last - i)) if shrinking else 1.0
        more = more + np.where(i <= last, shares * (shared(messages, capacity) - 1.0), 0.0)
    return gap_s_per_byte * message_bytes * more


def t_exchange_contention(nodes: Values, message_bytes: Values, gap_s_per_byte: Values, capacity: Values) -> Values:
    """What an all-gather or an all-to-all takes more: all P nodes send in every round, P - 1 messages of k in all."""
    return gap_s_per_byte * (nodes - 1) * message_bytes * (shared(nodes, capacity) - 1.0)


def t_serial_exchange(nodes: Values, message_bytes: Values, latency_s: Values, gap_s_per_byte: Values) -> Values:
    """All-gather and all-to-all on a serial network: L + G P (P - 1) k; one node has no one to talk to: 0.

    Each of P nodes sends k bytes to each of P - 1 others. The network carries one message at a time and L is paid once,
    as in Eq. 26.
    """
    return np.where(np.asarray(nodes) > 1, latency_s, 0.0) + gap_s_per_byte * nodes * (nodes - 1) * message_bytes


def t_serial_barrier(nodes: Values, latency_s: Values) -> Values:
    """A barrier on a serial network: 2 L; all signal one node, which then signals all. One node alone: 0."""
    return np.where(np.asarray(nodes) > 1, 2.0, 0.0) * latency_s


def t_snap(
    nodes: Values,
    message_bytes: Values,
    latency_s: Values,
    gap_s_per_byte: Values,
    additions_s: Values = 0.0,
) -> Values:
    """Eq. 26: SNAP broadcast or scatter, L + G P k: the P messages are serialised, L is paid once (erratum R17).

    A reduce adds each message's k values as it comes: P times `additions_s` (gamma k of Eq. 20) more.
    """
    return latency_s + nodes * (gap_s_per_byte * message_bytes + additions_s)


def t_snap_gather(
    nodes: Values, message_bytes: Values, latency_s: Values, gap_s_per_byte: Values, overlapped: bool
) -> Values:
    """Eq. 27: L + G k where communication overlaps computation (only the last message shows), else L + G P k.

    Both SRC-6 cases of the paper are the overlapping branch (erratum R15).
    """
    return latency_s + gap_s_per_byte * (1.0 if overlapped else nodes) * message_bytes


def total(times_s: Sequence[Values]) -> Values:
    """The sum of a set of times; 0 for an empty one."""
    result: Values = 0.0
    for duration_s in times_s:
        result = result + duration_s
    return result


def longest(times_s: Sequence[Values]) -> Values:
    """The elementwise maximum of a set of times; 0 for an empty one."""
    result: Values = 0.0
    for duration_s in times_s:
        result = np.maximum(result, duration_s)
    return result
