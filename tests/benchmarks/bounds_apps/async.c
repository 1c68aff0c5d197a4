/* As double.c with writes that return at once: host, bus and FPGA work side by side. */
#include "common.h"

int main(void)
{
    uint32_t words[2][WORDS], total = 0;
    fpga_t *fpga = fpgaOpen(0);
    #pragma recap pace send(ctrl, unit_top.worker, pace)
    fpgaWriteReg(fpga, PACE, pace(CLEAR, CYCLES));
    prepare(words[0], 0);
    #pragma recap first send(data, unit_top.worker, x)
    fpgaWrite(fpga, words[0], 0, WORDS);
    for (int round = 0; round < ROUNDS; round++) {
        int next = (round + 1) % 2;
        #pragma recap begin send(ctrl, unit_top.worker, go)
        fpgaWriteReg(fpga, COMMAND, command(round % 2 * WORDS, WORDS));
        if (round + 1 < ROUNDS) {
            prepare(words[next], round + 1);
            #pragma recap put send(data, unit_top.worker, x)
            fpgaWriteAsync(fpga, words[next], (uint32_t)(next * WORDS), WORDS);
        }
        #pragma recap poll wait_recv(late_sender, unit_top.worker, d)
        while (!fpgaReadReg(fpga, DONE))
            ;
        #pragma recap get recv(data, unit_top.worker, y)
        total = total * 31 + fpgaReadReg(fpga, SUM);
        #pragma recap sent wait_send(ack, unit_top.worker, x)
        fpgaWait(fpga);
    }
    printf("%u\n", total);
    fpgaClose(fpga);
    return 0;
}
