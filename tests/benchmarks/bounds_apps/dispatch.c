/* Two cores: whichever is done gets the next batch. */
#include "common.h"
int main(void)
{
    uint32_t words[WORDS];
    int next = 0, busy[2] = {0, 0};
    fpga_t *fpga = fpgaOpen(0);
    #pragma recap pace send(ctrl, unit.worker, pace)
    fpgaWriteReg(fpga, PACE, CYCLES);
    for (int left = ROUNDS; left;) {
        for (int k = 0; k < 2; k++) {
            if (busy[k]) {
                #pragma recap look wait_recv(late_sender, unit.worker, d)
                if (!fpgaReadReg(fpga, (uint32_t)(0x510 + k)))
                    continue;
                #pragma recap work work()
                busy[k] = 0;
                left--;
            }
            if (next < ROUNDS) {
                int n = 8 * (1 + next % 3);
                prepare(words, next++);
                #pragma recap put send(data, unit.worker, x)
                fpgaWrite(fpga, words, (uint32_t)(k * WORDS), (size_t)n);
                #pragma recap begin send(ctrl, unit.worker, go)
                fpgaWriteReg(fpga, (uint32_t)(0x410 + k), command(k * WORDS, n));
                busy[k] = 1;
            }
        }
    }
    uint32_t sum;
    #pragma recap get recv(data, unit.worker, y)
    sum = fpgaReadReg(fpga, SUM);
    printf("%u\n", sum);
    fpgaClose(fpga);
    return 0;
}
