/* As small.c, its pieces as small as before, but under way while the host goes on and the FPGA works: two buffers. */
#include "common.h"

static fpga_t *fpga;

static void put(const uint32_t *words, int base)
{
    for (int i = 0; i < WORDS; i += 4) {
        #pragma recap put send(data, unit_top.worker, x)
        fpgaWriteAsync(fpga, words + i, (uint32_t)(base + i), 4);
    }
}

int main(void)
{
    uint32_t words[2][WORDS], total = 0;
    fpga = fpgaOpen(0);
    #pragma recap pace send(ctrl, unit_top.worker, pace)
    fpgaWriteReg(fpga, PACE, pace(CLEAR, CYCLES));
    prepare(words[0], 0);
    put(words[0], 0);
    for (int round = 0; round < ROUNDS; round++) {
        int next = (round + 1) % 2;
        #pragma recap begin send(ctrl, unit_top.worker, go)
        fpgaWriteReg(fpga, COMMAND, command(round % 2 * WORDS, WORDS));
        if (round + 1 < ROUNDS) {
            prepare(words[next], round + 1);
            put(words[next], next * WORDS);
        }
        #pragma recap poll wait_recv(late_sender, unit_top.worker, d)
        while (!fpgaReadReg(fpga, DONE))
            ;
        #pragma recap get recv(data, unit_top.worker, y)
        total = total * 31 + fpgaReadReg(fpga, SUM);
    }
    printf("%u\n", total);
    fpgaClose(fpga);
    return 0;
}
