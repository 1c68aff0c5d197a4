"""Several processes of a host program (MPI ranks) on the simulated card: what each has of its own; when messages come.

Every expected time is made of L, o, g and G by hand, or is what RATSS' equations say of a collective.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest
from rc_workbench_plugins.ratss.equations import (
    t_all_gather,
    t_all_to_all,
    t_barrier,
    t_broadcast,
    t_reduce,
    t_scatter,
)
from rc_workbench_plugins.simulated_card.card import CardExecutable
from rc_workbench_plugins.simulated_card.host import build_host
from rc_workbench_plugins.simulated_card.simulate import simulate

from workbench.api import PlatformSupport
from workbench.api.job import Job
from workbench.api.records import read_thread_ranks, read_transfers
from workbench.api.targets import Outcome
from workbench.model.diagnostic import WorkbenchError
from workbench.model.network import Network
from workbench.run.cards import on_fpgas

from .conftest import PLATFORM, SUPPORT, project, task

MPI = Path(__file__).parents[2] / "platform_templates" / "mpi"
L, O, G_SHORT, G, GAMMA = 40e-6, 3e-6, 7e-6, 2e-9, 0.5e-9  # noqa: E741
NETWORK = Network(name="net", latency_s=L, overhead_s=O, gap_s=G_SHORT, gap_per_byte_s=G, reduction_per_byte_s=GAMMA)
EAGER = NETWORK.model_copy(update={"eager_bytes": 1000})
WITH_MPI = replace(SUPPORT, more=(PlatformSupport("mpi", MPI / "mpi.yaml", MPI, (MPI / "mpi.c",)),))

HEAD = """
#include <fpga.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static int rank, ranks;
static long long ps(void) { return (long long)(MPI_Wtime() * 1e12 + 0.5); }
/* All ranks go on at the same moment. */
static long long together(int ms)
{
    struct timespec at = {0, ms * 1000000L};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
    return ms * 1000000000LL;
}
static void begin(void)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
}
"""


def run(
    card: CardExecutable, source: str, folder: Path, ranks: int, raw: str = "raw", network: Network | None = NETWORK
) -> Outcome:
    (folder / "host.c").write_text(HEAD + source)
    made = project(basic_block_ps=1).with_ranks(ranks)
    made = made.model_copy(update={"host": made.host.model_copy(update={"network": "net" if network else ""})})
    hdl = on_fpgas((card.hdl,) * ranks, made.hardware)
    several = replace(card, hdl=hdl, libraries=card.libraries * ranks)
    this = task(
        folder, hdl, project=made, platform=PLATFORM.model_copy(update={"networks": (network,) if network else ()}),
        support=WITH_MPI, raw=raw,
    )  # fmt: skip
    return simulate(this, several, build_host(this, Job()), Job())


def times_s(outcome: Outcome, name: str) -> list[float]:
    """The picoseconds that a program printed after a name, in seconds."""
    assert not outcome.diagnostics, outcome.diagnostics
    return [int(one) * 1e-12 for one in re.findall(rf"^{name} (\d+)$", outcome.stdout, re.MULTILINE)]


def message(outcome: Outcome) -> str:
    (one,) = (one for one in outcome.diagnostics if one.severity.value == "error")
    return one.message


def near(times: float | Sequence[float]) -> object:
    """Within what the program's own few basic blocks take (1 ps each), and doubles keep of a clock."""
    return pytest.approx(times, abs=2e-9)


OWN = """
static int counter = 5;
int main(int argc, char **argv)
{
    begin();
    counter += rank;
    fpga_t *fpga = fpgaOpen(0);
    uint32_t data = 100u + (uint32_t)rank, back = 0;
    fpgaWrite(fpga, &data, 4, 1);
    fpgaRead(fpga, &back, 4, 1);
    srand(7);
    int first = rand();
    MPI_Barrier(MPI_COMM_WORLD);
    srand(7 + (unsigned)rank);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("rank %d of %d: counter %d, back %u, same %d\\n", rank, ranks, counter, back, rank || rand() == first);
    fpgaClose(fpga);
    MPI_Finalize();
    return 0;
}
"""


def test_each_rank_has_data_and_cards_of_its_own(card: CardExecutable, tmp_path: Path) -> None:
    outcome = run(card, OWN, tmp_path, 3)
    assert not outcome.diagnostics
    assert sorted(outcome.stdout.splitlines()) == [
        f"rank {n} of 3: counter {5 + n}, back {100 + n}, same 1" for n in range(3)
    ]
    transfers = read_transfers(tmp_path / "raw").at()
    assert {(int(one["thread"]), int(one["card"])) for one in transfers} == {(0, 0), (1, 1), (2, 2)}
    # each host has a bus of its own: none waits for another
    assert (transfers["grant_ps"] == transfers["call_ps"]).all()
    assert read_thread_ranks(tmp_path / "raw") == {0: 0, 1: 1, 2: 2}

    again = run(card, OWN, tmp_path, 3, raw="again")
    assert again.time_ps == outcome.time_ps
    for name in ("transfers.bin", "host_syncs.bin", "host_threads.txt", "taps.bin"):
        assert (tmp_path / "raw" / name).read_bytes() == (tmp_path / "again" / name).read_bytes(), name


ONE_TO_ONE = """
static char data[100000];
int main(void)
{
    begin();
    long long t;
    t = together(10); /* one message of 1000 bytes */
    if (rank == 0) MPI_Send(data, 1000, MPI_CHAR, 1, 3, MPI_COMM_WORLD), printf("sent %lld\\n", ps() - t);
    if (rank == 1) MPI_Recv(data, 1000, MPI_CHAR, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) printf("came %lld\\n", ps() - t);
    t = together(20); /* four short ones in a row, and one that comes before it is wanted */
    for (int i = 0; i < 4 && rank == 0; i++) MPI_Send(data, 1, MPI_CHAR, 1, i, MPI_COMM_WORLD);
    for (int i = 0; i < 4 && rank == 1; i++) MPI_Recv(data, 1, MPI_CHAR, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) printf("row %lld\\n", ps() - t);
    if (rank == 0) MPI_Send(data, 8, MPI_CHAR, 1, 9, MPI_COMM_WORLD);
    t = together(30);
    if (rank == 1) MPI_Recv(data, 8, MPI_CHAR, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) printf("there %lld\\n", ps() - t);
    t = together(40); /* two at once to one: its interface takes them in one after the other */
    if (rank == 1 || rank == 2) MPI_Send(data, 100000, MPI_CHAR, 0, rank, MPI_COMM_WORLD);
    for (int i = 0; i < 2 && rank == 0; i++) {
        MPI_Status status;
        int count;
        MPI_Recv(data, 100000, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_CHAR, &count);
        if (count != 100000 || status.MPI_TAG != status.MPI_SOURCE) return 3;
        printf("both %lld\\n", ps() - t);
    }
    t = together(60); /* a receive that was asked for before, with work meanwhile; and who comes first of two */
    MPI_Request asked[2];
    int which, done;
    if (rank == 0) {
        MPI_Irecv(data, 8, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &asked[0]);
        MPI_Irecv(data + 8, 8, MPI_CHAR, 2, 0, MPI_COMM_WORLD, &asked[1]);
        MPI_Test(&asked[0], &done, MPI_STATUS_IGNORE);
        if (done) return 4;
        MPI_Waitany(2, asked, &which, MPI_STATUS_IGNORE);
        printf("first %lld\\n", ps() - t);
        if (which != 1) return 5;
        usleep(900);
        t = ps();
        MPI_Wait(&asked[0], MPI_STATUS_IGNORE);
        printf("waited %lld\\n", ps() - t);
    }
    if (rank == 1) usleep(500), MPI_Send(data, 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    if (rank == 2) usleep(200), MPI_Send(data, 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
"""


def test_messages_take_what_loggp_says(card: CardExecutable, tmp_path: Path) -> None:
    outcome = run(card, ONE_TO_ONE, tmp_path, 3)
    assert times_s(outcome, "sent") == near([O])
    assert times_s(outcome, "came") == near([O + 1000 * G + L + O])
    assert times_s(outcome, "row") == near([O + 3 * G_SHORT + G + L + O])
    assert times_s(outcome, "there") == near([O])
    assert times_s(outcome, "both") == near([O + L + n * 100_000 * G + O for n in (1, 2)])
    assert times_s(outcome, "first") == near([200e-6 + O + L + 8 * G + O])
    assert times_s(outcome, "waited") == near([O])


ONE_BY_ONE = """
static char data[1000];
int main(void)
{
    begin();
    for (int from = 0; from < ranks; from++)
        for (int to = 0; to < ranks; to++) {
            long long t = together(10 * (1 + from * ranks + to));
            if (from != to && rank == from) MPI_Send(data, 1000, MPI_CHAR, to, 0, MPI_COMM_WORLD);
            if (from != to && rank == to) {
                MPI_Recv(data, 1000, MPI_CHAR, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                printf("from%dto%d %lld\\n", from, to, ps() - t);
            }
        }
    MPI_Finalize();
    return 0;
}
"""


def test_nodes_and_pairs_of_them_have_times_of_their_own(card: CardExecutable, tmp_path: Path) -> None:
    """HLogGP: o_i + L_ij + G_ij m + o_j."""
    overheads, far = (O, 3 * O, 2 * O), ((0.0, L, 2 * L), (5 * L, 0.0, L), (L, 3 * L, 0.0))
    per_byte = ((0.0, G, 4 * G), (2 * G, 0.0, G), (G, 7 * G, 0.0))
    unlike = NETWORK.model_copy(update={"overheads_s": overheads, "latencies_s": far, "gaps_per_byte_s": per_byte})
    outcome = run(card, ONE_BY_ONE, tmp_path, 3, network=unlike)
    for i, j in permutations(range(3), 2):
        expected = overheads[i] + far[i][j] + 1000 * per_byte[i][j] + overheads[j]
        assert times_s(outcome, f"from{i}to{j}") == near([expected])
    with pytest.raises(WorkbenchError, match="describes 3 nodes, but the run has 4 ranks"):
        run(card, ONE_BY_ONE, tmp_path, 4, raw="more", network=unlike)


COLLECTIVES = """
enum { N = 600 };
static int a[8 * N], b[8 * N];
#define TIMED(name, at, call) t = together(at); call; printf(name " %lld\\n", ps() - t)
#define CHECK(what) if (!(what)) printf("wrong in line %d of rank %d\\n", __LINE__, rank)
int main(void)
{
    begin();
    long long t;
    for (int i = 0; i < 8 * N; i++) a[i] = 10000 * rank + i;
    TIMED("barrier", 10, MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < N; i++) b[i] = rank == 1 ? i : 0;
    TIMED("broadcast", 20, MPI_Bcast(b, N, MPI_INT, 1, MPI_COMM_WORLD));
    for (int i = 0; i < N; i++) CHECK(b[i] == i);
    TIMED("scatter", 30, MPI_Scatter(a, N, MPI_INT, b, N, MPI_INT, 1, MPI_COMM_WORLD));
    for (int i = 0; i < N; i++) CHECK(b[i] == 10000 + rank * N + i);
    TIMED("gather", 40, MPI_Gather(a, N, MPI_INT, b, N, MPI_INT, 1, MPI_COMM_WORLD));
    for (int i = 0; rank == 1 && i < ranks * N; i++) CHECK(b[i] == i / N * 10000 + i % N);
    TIMED("reduce", 50, MPI_Reduce(a, b, N, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD));
    for (int i = 0; rank == 1 && i < N; i++) CHECK(b[i] == ranks * i + 10000 * ranks * (ranks - 1) / 2);
    TIMED("all-gather", 60, MPI_Allgather(a, N, MPI_INT, b, N, MPI_INT, MPI_COMM_WORLD));
    for (int i = 0; i < ranks * N; i++) CHECK(b[i] == i / N * 10000 + i % N);
    TIMED("all-to-all", 70, MPI_Alltoall(a, N, MPI_INT, b, N, MPI_INT, MPI_COMM_WORLD));
    for (int i = 0; i < ranks * N; i++) CHECK(b[i] == i / N * 10000 + rank * N + i % N);
    TIMED("all-reduce", 80, MPI_Allreduce(a, b, N, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    for (int i = 0; i < N; i++) CHECK(b[i] == 10000 * (ranks - 1) + i);
    MPI_Finalize();
    return 0;
}
"""


#: The same of five nodes, one by one; the numbers for all would give other times.
EACH = Network(
    name="net", latency_s=9, overhead_s=9, gap_s=9, gap_per_byte_s=9, reduction_per_byte_s=GAMMA,
    overheads_s=(O,) * 5, gaps_s=(G_SHORT,) * 5, latencies_s=((L,) * 5,) * 5, gaps_per_byte_s=((G,) * 5,) * 5,
)  # fmt: skip


@pytest.mark.parametrize(("ranks", "described"), [(4, EACH), (5, NETWORK)])
def test_collectives_take_what_ratss_says(card: CardExecutable, tmp_path: Path, ranks: int, described: Network) -> None:
    outcome = run(card, COLLECTIVES, tmp_path, ranks, network=described)
    assert "wrong" not in outcome.stdout, outcome.stdout
    k = 4.0 * 600
    expected = {
        "barrier": t_barrier(ranks, L, O),
        "broadcast": t_broadcast(ranks, k, L, O, G),
        "scatter": t_scatter(ranks, k, L, O, G),
        "gather": t_scatter(ranks, k, L, O, G),
        "reduce": t_reduce(ranks, k, L, O, G, GAMMA * k),
        "all-gather": t_all_gather(ranks, k, L, O, G),
        "all-to-all": t_all_to_all(ranks, k, L, O, G),
        "all-reduce": t_reduce(ranks, k, L, O, G, GAMMA * k) + t_broadcast(ranks, k, L, O, G),
    }
    measured = {name: max(times_s(outcome, name)) for name in expected}
    if ranks == 5:  # a tree whose last round is not full: Eqs. 19 and 20 count that round whole
        for name in ("broadcast", "scatter", "gather", "reduce", "all-reduce"):
            assert measured.pop(name) <= expected.pop(name)
    assert measured == {name: near(float(value)) for name, value in expected.items()}


FURTHER = """
enum { N = 600, ALL = 15 };
static int a[8 * N], b[8 * N], c[8 * N], each[8] = {1, 2, 3, 4, 5}, at[8] = {0, 1, 3, 6, 10};
static int far[8] = {0, 8, 16, 24, 32};
#define TIMED(name, ms, call) t = together(ms); call; printf(name " %lld\\n", ps() - t)
#define CHECK(what) if (!(what)) printf("wrong in line %d of rank %d\\n", __LINE__, rank)
int main(void)
{
    begin();
    long long t;
    int own = rank + 1, flag = 0, which, one[8], many[8][8];
    MPI_Request asked[16];
    for (int i = 0; i < 8 * N; i++) a[i] = 10000 * rank + i;
    TIMED("scatterv", 10, MPI_Scatterv(a, each, at, MPI_INT, b, own, MPI_INT, 1, MPI_COMM_WORLD));
    for (int i = 0; i < own; i++) CHECK(b[i] == 10000 + at[rank] + i);
    TIMED("gatherv", 20, MPI_Gatherv(a, own, MPI_INT, b, each, at, MPI_INT, 1, MPI_COMM_WORLD));
    for (int i = 0; rank == 1 && i < ranks; i++) CHECK(b[at[i]] == 10000 * i && b[at[i] + i] == 10000 * i + i);
    MPI_Allgatherv(a, own, MPI_INT, c, each, at, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < ranks; i++) CHECK(c[at[i]] == 10000 * i && c[at[i] + i] == 10000 * i + i);
    TIMED("scan", 30, MPI_Scan(a, b, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    for (int i = 0; i < N; i++) CHECK(b[i] == own * i + 5000 * rank * own);
    b[0] = 7;
    MPI_Exscan(a, b, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(b[0] == (rank ? 5000 * (rank - 1) * rank : 7));
    MPI_Reduce_scatter(a, b, each, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < own; i++) CHECK(b[i] == ranks * (at[rank] + i) + 5000 * ranks * (ranks - 1));

    t = together(40); /* it goes on when its rank calls MPI: who only waits for the root has its message by then */
    for (int i = 0; i < N; i++) b[i] = rank == 1 ? i : 0;
    MPI_Ibcast(b, N, MPI_INT, 1, MPI_COMM_WORLD, asked);
    usleep(1000);
    t = ps();
    MPI_Wait(asked, MPI_STATUS_IGNORE);
    if (rank == 2) printf("overlapped %lld\\n", ps() - t);
    for (int i = 0; i < N; i++) CHECK(b[i] == i);
    t = together(50); /* it also goes on in a receive whose sender waits for it */
    MPI_Ibarrier(MPI_COMM_WORLD, asked);
    if (rank == 0) MPI_Recv(one, 1, MPI_INT, 3, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 4) while (!flag) usleep(20), MPI_Test(asked, &flag, MPI_STATUS_IGNORE);
    else MPI_Wait(asked, MPI_STATUS_IGNORE);
    if (rank == 3) MPI_Send(one, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (rank == 3) printf("barrier %lld\\n", ps() - t);
    t = together(60); /* the first of two to be done is the barrier */
    if (rank == 0) MPI_Irecv(one, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, asked);
    MPI_Ibarrier(MPI_COMM_WORLD, asked + 1);
    if (rank == 0) MPI_Waitany(2, asked, &which, MPI_STATUS_IGNORE), MPI_Wait(asked, MPI_STATUS_IGNORE);
    else MPI_Wait(asked + 1, MPI_STATUS_IGNORE);
    if (rank == 1) usleep(500), MPI_Send(one, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    CHECK(rank || which == 1);
    t = together(70); /* many at once */
    MPI_Iallreduce(&own, &many[0][0], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, asked);
    MPI_Iallgather(&own, 1, MPI_INT, many[1], 1, MPI_INT, MPI_COMM_WORLD, asked + 1);
    MPI_Ialltoall(a, 1, MPI_INT, many[2], 1, MPI_INT, MPI_COMM_WORLD, asked + 2);
    MPI_Ireduce(&own, &many[3][0], 1, MPI_INT, MPI_PROD, 2, MPI_COMM_WORLD, asked + 3);
    MPI_Iscatter(a, 1, MPI_INT, &many[4][0], 1, MPI_INT, 3, MPI_COMM_WORLD, asked + 4);
    MPI_Igather(&own, 1, MPI_INT, many[5], 1, MPI_INT, 4, MPI_COMM_WORLD, asked + 5);
    MPI_Iscan(&own, &many[6][0], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, asked + 6);
    MPI_Iexscan(&own, &many[6][1], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, asked + 7);
    MPI_Ireduce_scatter_block(a, &many[7][0], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, asked + 8);
    MPI_Ireduce_scatter(a, b, each, MPI_INT, MPI_MAX, MPI_COMM_WORLD, asked + 9);
    MPI_Iscatterv(a, each, at, MPI_INT, b + 100, own, MPI_INT, 0, MPI_COMM_WORLD, asked + 10);
    MPI_Igatherv(a, own, MPI_INT, b + 200, each, at, MPI_INT, 0, MPI_COMM_WORLD, asked + 11);
    MPI_Iallgatherv(a, own, MPI_INT, b + 300, each, at, MPI_INT, MPI_COMM_WORLD, asked + 12);
    for (int i = 0; i < ranks; i++) one[i] = rank + 1;
    MPI_Ialltoallv(a, each, at, MPI_INT, b + 400, one, far, MPI_INT, MPI_COMM_WORLD, asked + 13);
    MPI_Waitall(14, asked, MPI_STATUSES_IGNORE);
    CHECK(many[0][0] == ALL && (rank != 2 || many[3][0] == 120) && many[4][0] == 30000 + rank);
    for (int i = 0; i < ranks; i++) CHECK(many[1][i] == i + 1 && many[2][i] == 10000 * i + rank);
    for (int i = 0; rank == 4 && i < ranks; i++) CHECK(many[5][i] == i + 1);
    CHECK(many[6][0] == own * (own + 1) / 2 && (!rank || many[6][1] == rank * own / 2));
    CHECK(many[7][0] == ranks * rank + 5000 * ranks * (ranks - 1) && b[0] == 40000 + at[rank] && b[100] == at[rank]);
    CHECK((rank || b[200 + at[4]] == 40000) && b[300 + at[2] + 2] == 20002);
    for (int i = 0; i < ranks; i++) CHECK(b[400 + far[i]] == 10000 * i + at[rank]);
    MPI_Finalize();
    return 0;
}
"""


def test_nonblocking_collectives_scans_and_those_with_a_count_for_each_rank(
    card: CardExecutable, tmp_path: Path
) -> None:
    outcome = run(card, FURTHER, tmp_path, 5)
    assert "wrong" not in outcome.stdout, outcome.stdout
    k, last = 4 * 600, 4 * 5  # bytes
    measured = {name: max(times_s(outcome, name)) for name in ("scatterv", "gatherv", "scan", "overlapped", "barrier")}
    assert measured == {
        "scatterv": near(O + 3 * G_SHORT + L + last * G + O),
        "gatherv": near(O + L + 3 * G_SHORT + last * G + O),
        "scan": near(2 * (O + k * G + L + O + GAMMA * k) + O + GAMMA * k),
        "overlapped": near(O),
        "barrier": near(float(t_barrier(5, L, O)) + O),
    }


THREADS = """
#include <pthread.h>
static MPI_Comm of_thread;
static MPI_Request handed;
static int value = 1, sums[2];
static void *other(void *argument)
{
    MPI_Send(&rank, 1, MPI_INT, !rank, 1, MPI_COMM_WORLD);
    MPI_Allreduce(&value, &sums[1], 1, MPI_INT, MPI_SUM, of_thread);
    MPI_Iallreduce(&value, &sums[0], 1, MPI_INT, MPI_SUM, of_thread, &handed); /* the main thread waits for it */
    return argument;
}
int main(void)
{
    int provided, got;
    pthread_t thread;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &of_thread);
    long long t = together(10);
    pthread_create(&thread, NULL, other, NULL);
    MPI_Recv(&got, 1, MPI_INT, !rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("came %lld\\n", ps() - t);
    MPI_Barrier(MPI_COMM_WORLD);
    pthread_join(thread, NULL);
    MPI_Waitany(1, &handed, &got, MPI_STATUS_IGNORE);
    if (provided != MPI_THREAD_MULTIPLE || sums[0] != 2 || sums[1] != 2) printf("wrong %d %d\\n", sums[0], sums[1]);
    MPI_Finalize();
    return 0;
}
"""


def test_several_threads_of_a_rank_exchange_messages(card: CardExecutable, tmp_path: Path) -> None:
    outcome = run(card, THREADS, tmp_path, 2)
    assert "wrong" not in outcome.stdout, outcome.stdout
    assert times_s(outcome, "came") == near([2 * O + L + G * 4] * 2)


WAITING = """
static char data[5000], more[5000];
int main(void)
{
    begin();
    long long t;
    MPI_Request asked[2];
    MPI_Status status;
    int there, count;
    t = together(10); /* a synchronous send, whose receiver asks later */
    if (rank == 0) MPI_Ssend(data, 8, MPI_CHAR, 1, 1, MPI_COMM_WORLD), printf("late %lld\\n", ps() - t);
    if (rank == 1) usleep(500), MPI_Recv(data, 8, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    t = together(20); /* and one whose receiver has asked */
    if (rank == 1) MPI_Irecv(data, 8, MPI_CHAR, 0, 2, MPI_COMM_WORLD, &asked[0]), usleep(900);
    if (rank == 1) MPI_Wait(&asked[0], &status);
    if (rank == 0) usleep(5), t = ps(), MPI_Ssend(data, 8, MPI_CHAR, 1, 2, MPI_COMM_WORLD);
    if (rank == 0) printf("early %lld\\n", ps() - t);
    t = together(30); /* standard ones, of more bytes than the eager limit and of as many */
    if (rank == 0) MPI_Send(data, 1001, MPI_CHAR, 1, 3, MPI_COMM_WORLD), printf("long %lld\\n", ps() - t);
    if (rank == 0) t = ps(), MPI_Send(data, 1000, MPI_CHAR, 1, 4, MPI_COMM_WORLD), printf("short %lld\\n", ps() - t);
    if (rank == 1) usleep(700), MPI_Recv(data, 5000, MPI_CHAR, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Recv(data, 5000, MPI_CHAR, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    t = together(40); /* both send long ones at once, and wait later */
    MPI_Isend(data, 5000, MPI_CHAR, !rank, 5, MPI_COMM_WORLD, &asked[0]);
    MPI_Testall(1, asked, &there, MPI_STATUSES_IGNORE);
    if (there) return 3;
    MPI_Irecv(more, 5000, MPI_CHAR, !rank, 5, MPI_COMM_WORLD, &asked[1]);
    MPI_Waitall(2, asked, MPI_STATUSES_IGNORE);
    MPI_Sendrecv(data, 5000, MPI_CHAR, !rank, 6, more, 5000, MPI_CHAR, !rank, 6, MPI_COMM_WORLD, &status);
    data[0] = (char)(rank + 7);
    MPI_Sendrecv_replace(data, 5000, MPI_CHAR, !rank, 7, !rank, 7, MPI_COMM_WORLD, &status);
    if (data[0] != !rank + 7 || status.MPI_SOURCE != !rank) return 4;
    t = together(50); /* what is there is looked at before it is received */
    if (rank == 0) usleep(300), MPI_Send(data, 600, MPI_CHAR, 1, 9, MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status);
        if (there) return 5;
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_CHAR, &count);
        printf("probed %lld\\n", ps() - t);
        if (count != 600 || status.MPI_TAG != 9) return 6;
        MPI_Irecv(data, count, MPI_CHAR, status.MPI_SOURCE, 9, MPI_COMM_WORLD, &asked[1]);
        asked[0] = MPI_REQUEST_NULL;
        MPI_Testany(2, asked, &count, &there, &status);
        if (!there || count != 1) return 7;
    }
    MPI_Finalize();
    return 0;
}
"""


def test_sends_that_wait_for_their_receivers(card: CardExecutable, tmp_path: Path) -> None:
    outcome = run(card, WAITING, tmp_path, 2, network=EAGER)
    assert times_s(outcome, "late") == near([500e-6 + L])
    assert times_s(outcome, "early") == near([O + 2 * L])
    assert times_s(outcome, "long") == near([700e-6 + L])
    assert times_s(outcome, "short") == near([O])
    assert times_s(outcome, "probed") == near([300e-6 + O + L + 600 * G])


COMMUNICATORS = """
enum { N = 600 };
static int a[8 * N], b[8 * N];
#define CHECK(what) if (!(what)) printf("wrong in line %d of rank %d\\n", __LINE__, rank)
int main(void)
{
    begin();
    MPI_Comm part, twin, some;
    MPI_Group all, odd;
    MPI_Status status;
    int me, size, numbers[] = {1, 3}, sum = rank, got = -1;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part); /* in reverse order */
    MPI_Comm_rank(part, &me);
    MPI_Comm_size(part, &size);
    CHECK(size == (rank % 2 ? 2 : 3));
    CHECK(me == (rank % 2 ? (3 - rank) / 2 : (4 - rank) / 2));
    for (int i = 0; i < N; i++) a[i] = 1000 * rank + i;
    long long t = together(10);
    MPI_Allgather(a, N, MPI_INT, b, N, MPI_INT, part);
    if (rank % 2) printf("pair %lld\\n", ps() - t);
    else printf("three %lld\\n", ps() - t);
    for (int i = 0; i < size * N; i++) CHECK(b[i] == 1000 * (rank % 2 + 2 * (size - 1 - i / N)) + i % N);
    MPI_Comm_dup(part, &twin); /* of the same ranks, and messages do not mix */
    if (me == 0) MPI_Send(&rank, 1, MPI_INT, 1, 4, part), MPI_Send(&size, 1, MPI_INT, 1, 4, twin);
    if (me == 1) {
        MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 4, twin, &status);
        CHECK(got == size && status.MPI_SOURCE == 0);
        MPI_Recv(&got, 1, MPI_INT, 0, 4, part, &status);
        CHECK(got == (rank % 2 ? 3 : 4));
    }
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 2, numbers, &odd);
    MPI_Comm_create(MPI_COMM_WORLD, odd, &some);
    CHECK((some == MPI_COMM_NULL) == !(rank % 2));
    if (some != MPI_COMM_NULL) {
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, some);
        CHECK(sum == 4);
        MPI_Comm_free(&some);
    }
    MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, 1, part);
    CHECK(me != 1 || sum == (rank % 2 ? 4 : 6));
    MPI_Barrier(MPI_COMM_SELF);
    MPI_Comm_split(MPI_COMM_WORLD, rank ? 0 : MPI_UNDEFINED, 0, &some);
    CHECK(rank || some == MPI_COMM_NULL);
    MPI_Group_free(&odd);
    MPI_Comm_free(&twin);
    MPI_Finalize();
    return 0;
}
"""


def test_communicators_have_ranks_collectives_and_messages_of_their_own(card: CardExecutable, tmp_path: Path) -> None:
    outcome = run(card, COMMUNICATORS, tmp_path, 5)
    assert "wrong" not in outcome.stdout, outcome.stdout
    assert max(times_s(outcome, "pair")) == near(float(t_all_gather(2, 2400.0, L, O, G)))
    assert len(times_s(outcome, "three")) == 3


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "int main(void) { begin(); char c; if (rank < 2) MPI_Recv(&c, 1, MPI_CHAR, !rank, 6, MPI_COMM_WORLD, 0);"
            " return 0; }",
            "no thread of the host can go on: rank 0 waits in MPI_Recv for a message from rank 1 with tag 6 since",
        ),
        (
            "int main(void) { begin(); int a = 1, b; if (rank == 1) MPI_Barrier(MPI_COMM_WORLD); else"
            " MPI_Allreduce(&a, &b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); MPI_Finalize(); return 0; }",
            "rank 1, MPI_Barrier: it is this rank's collective call number 1, and that of rank 0 is MPI_Allreduce",
        ),
        (
            "int main(void) { begin(); int a[4] = {0}; if (rank == 0) MPI_Send(a, 4, MPI_INT, 1, 0, MPI_COMM_WORLD);"
            " if (rank == 1) MPI_Recv(a, 3, MPI_INT, 0, 0, MPI_COMM_WORLD, 0); MPI_Finalize(); return 0; }",
            "rank 1, MPI_Recv: a message of 16 bytes from rank 0 is longer than the 12 that it has room for",
        ),
        ("int main(void) { begin(); return rank == 1 ? 7 : 0; }", "the host program ended with exit code 7"),
        (
            "int main(void) { begin(); MPI_Comm own; MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &own);"
            " MPI_Comm_free(&own); MPI_Barrier(own ? own : 3); return 0; }",
            "MPI_Barrier: this is no communicator, or it was freed",
        ),
        (
            "int main(void) { begin(); static char a[9000]; if (rank > 1) return 0;\n"
            "MPI_Send(a, 9000, MPI_CHAR, !rank, 3, MPI_COMM_WORLD);"
            " MPI_Recv(a, 9000, MPI_CHAR, !rank, 3, MPI_COMM_WORLD, 0); return 0; }",
            "rank 1 waits in MPI_Send for rank 0 to receive its message with tag 3 since",
        ),
    ],
    ids=["deadlock", "mismatch", "truncated", "exit", "communicator", "head to head"],
)  # fmt: skip
def test_what_goes_wrong_names_the_rank(card: CardExecutable, tmp_path: Path, source: str, expected: str) -> None:
    """A real MPI would wait for ever where the network's eager limit is below what is sent."""
    said = message(run(card, source, tmp_path, 3, network=EAGER))
    assert expected in said
    if "waits" in expected:
        line = (HEAD + source).split("MPI_Recv" if "MPI_Send" not in source else "MPI_Send")[0].count("\n") + 1
        assert f"host.c:{line}" in said


def test_a_call_that_is_not_simulated_is_refused_where_it_stands(card: CardExecutable, tmp_path: Path) -> None:
    source = "int main(void) { MPI_Comm c; begin(); MPI_Cart_create(MPI_COMM_WORLD, 0, 0, 0, 0, &c); return 0; }"
    with pytest.raises(WorkbenchError, match="use MPI_Comm_split"):
        run(card, source, tmp_path, 2)


def test_without_a_network_messages_take_no_time(card: CardExecutable, tmp_path: Path) -> None:
    outcome = run(card, COLLECTIVES, tmp_path, 2, network=None)
    assert max(times_s(outcome, "scatter")) == near(0.0)
