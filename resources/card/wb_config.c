/* The platform as the workbench tells it (workbench's card_config): cards, ports, transfer tables, the host's time. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "host_time.h"
#include "network.h"
#include "vcores.h"
#include "wb.h"
#include "wb_rules.h"

wb_table wb_tables[WB_MAX_TABLES];
int wb_table_count, wb_cards = 1;
wb_port wb_ports[WB_MAX_PORTS];
int64_t wb_cycle_limit;
static int port_count;

static void network_of_all(int64_t latency_ps, int64_t overhead_ps, int64_t gap_ps, int64_t byte_fs, int64_t reduction_fs,
                           int64_t eager_bytes)
{
    for (int i = 0; i < WB_MAX_RANKS; i++) {
        wb_network.overhead_ps[i] = overhead_ps, wb_network.gap_ps[i] = gap_ps;
        for (int j = 0; j < WB_MAX_RANKS; j++)
            wb_network.latency_ps[i][j] = latency_ps, wb_network.byte_fs[i][j] = byte_fs;
    }
    wb_network.reduction_fs = reduction_fs, wb_network.eager_bytes = eager_bytes;
}

/* How long a transfer lasts: linear between neighbouring sizes, the first time below the first size, the last rate
 * above the last one; whole picoseconds, rounded down. workbench/model/transfer_time.py says the same. */
int64_t wb_table_ps(const wb_table *table, int64_t bytes)
{
    int last = table->points - 1;
    if (bytes <= table->bytes[0])
        return table->ps[0];
    if (bytes >= table->bytes[last])
        return (int64_t)((__int128)table->ps[last] * bytes / table->bytes[last]);
    int i = 0;
    while (bytes > table->bytes[i + 1])
        i++;
    __int128 low = (__int128)table->ps[i] * (table->bytes[i + 1] - bytes);
    __int128 high = (__int128)table->ps[i + 1] * (bytes - table->bytes[i]);
    return (int64_t)((low + high) / (table->bytes[i + 1] - table->bytes[i]));
}

int wb_find_table(const char *name)
{
    for (int i = 0; i < wb_table_count; i++)
        if (!strcmp(wb_tables[i].name, name))
            return i;
    return -1;
}

static void add_table(int resource, int overlaps, const char *name)
{
    if (wb_table_count == WB_MAX_TABLES || resource < 0 || resource >= WB_MAX_TABLES)
        vc_fatal("the platform has too many transfer tables");
    wb_table *table = &wb_tables[wb_table_count++];
    snprintf(table->name, sizeof table->name, "%s", name);
    table->resource = resource;
    table->overlaps = overlaps;
}

static void add_point(wb_table *table, int64_t bytes, int64_t ps)
{
    if (table->points == WB_MAX_POINTS)
        vc_fatal("a transfer table has too many points");
    table->bytes[table->points] = bytes;
    table->ps[table->points++] = ps;
}

static void add_port(const wb_port *port)
{
    if (port_count == WB_MAX_PORTS)
        vc_fatal("the platform has too many ports");
    wb_ports[port_count++] = *port;
}

void wb_read_config(const char *path)
{
    char line[512];
    int64_t drift = 0;
    FILE *file = fopen(path, "r");
    if (!file) {
        snprintf(line, sizeof line, "cannot read %.300s: %s", path, strerror(errno));
        vc_fatal(line);
    }
    while (fgets(line, sizeof line, file)) {
        wb_table *table = wb_table_count ? &wb_tables[wb_table_count - 1] : NULL;
        wb_port port = {0};
        long long a, b, c, d, e, f;
        int resource, overlaps, name_at = 0;
        line[strcspn(line, "\n")] = 0;
        if (!strncmp(line, "rule", 4)) {
            wb_read_rule(line);
        } else if (sscanf(line, "port %lld %lld %lld %lld %d %d", &a, &b, &c, &d, &port.answers, &port.packets) == 6) {
            port.word_bytes = a, port.address_step = d, port.clock = (rcw_clock){b, c, drift};
            add_port(&port);
        } else if (sscanf(line, "clock_drift %lld", &a) == 1) {
            drift = a;
        } else if (sscanf(line, "table %d %d %n", &resource, &overlaps, &name_at) == 2 && name_at)
            add_table(resource, overlaps, line + name_at);
        else if (table && sscanf(line, "through %lld", &a) == 1)
            table->port = (int)a;
        else if (table && sscanf(line, "holds_core %lld", &a) == 1)
            table->holds_core = (int)a;
        else if (table && sscanf(line, "point %lld %lld", &a, &b) == 2)
            add_point(table, a, b);
        else if (sscanf(line, "cards %lld", &a) == 1)
            wb_cards = a < WB_MAX_CARDS ? (int)a : WB_MAX_CARDS;
        else if (sscanf(line, "ranks %lld", &a) == 1)
            vc_set.ranks = a < WB_MAX_CARDS ? (int)a : WB_MAX_CARDS;
        else if (sscanf(line, "network %lld %lld %lld %lld %lld %lld", &a, &b, &c, &d, &e, &f) == 6)
            network_of_all(a, b, c, d, e, f);
        else if (sscanf(line, "node %lld %lld %lld", &a, &b, &c) == 3 && a < WB_MAX_RANKS)
            wb_network.overhead_ps[a] = b, wb_network.gap_ps[a] = c;
        else if (sscanf(line, "pair %lld %lld %lld %lld", &a, &b, &c, &d) == 4 && a < WB_MAX_RANKS && b < WB_MAX_RANKS)
            wb_network.latency_ps[a][b] = c, wb_network.byte_fs[a][b] = d;
        else if (sscanf(line, "cycle_limit %lld", &a) == 1)
            wb_cycle_limit = a;
        else if (sscanf(line, "deterministic %lld", &a) == 1)
            host_time.deterministic = (int)a;
        else if (sscanf(line, "basic_block_ps %lld", &a) == 1)
            host_time.basic_block_ps = a;
        else if (sscanf(line, "host_factor %lf", &host_time.factor) == 1)
            continue;
        else if (sscanf(line, "cores %lld", &a) == 1)
            vc_set.cores = (int)a;
        else if (sscanf(line, "slice_ps %lld", &a) == 1)
            vc_set.slice_ps = a;
        else if (sscanf(line, "call_ps %lld", &a) == 1)
            vc_set.call_ps = a;
        else if (sscanf(line, "wake_ps %lld", &a) == 1)
            vc_set.wake_ps = a;
        else if (sscanf(line, "skips_spins %lld", &a) == 1)
            vc_set.skips_spins = (int)a;
        else if (sscanf(line, "switch_ps %lld", &a) == 1)
            vc_set.switch_ps = a;
    }
    fclose(file);
}
