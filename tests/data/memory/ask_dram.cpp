// A memory's times for bursts that are read from the standard input, one a line, after the fields of its timing.
#include <iostream>

#include "ports/dram.h"

int main() {
    for (DramTiming t; std::cin >> t.channels >> t.interleave_bytes >> t.banks >> t.row_bytes >> t.bank_rows >> t.fixed_ps >> t.cas_ps
         >> t.rcd_ps >> t.rp_ps >> t.turnaround_ps >> t.refresh_ps >> t.refreshing_ps >> t.rate_bytes >> t.rate_ps;) {
        Dram memory(t);
        DramCounts counts;
        int64_t bursts = 0, asked_ps, offset, bytes;
        std::cin >> bursts;
        for (bool write; bursts-- && std::cin >> asked_ps >> offset >> bytes >> write;) {
            for (const Dram::Piece& piece : memory.grant(asked_ps, offset, bytes, write, counts))
                std::cout << piece.to_byte << ' ' << piece.begin_ps << ' ' << piece.end_ps << ' ';
            std::cout << '\n';
        }
        std::cout << counts.hits << ' ' << counts.opened << ' ' << counts.conflicts << ' ' << counts.bus_ps << std::endl;
    }
}
