/* Has the card send WORDS words round, and waits for their sum: by its interrupt, or by asking again and again. */
#include <stdio.h>

#include "fpga.h"

int main(void)
{
    #pragma recap openCard overhead(initialize)
    fpga_t *fpga = fpgaOpen(0);
    if (!fpga)
        return 1;
    #pragma recap start send(ctrl, round_trip.registers, n)
    fpgaWriteReg(fpga, 0, WORDS);
    uint32_t sum = 0;
    if (POLL) {
        while (!sum) {
            #pragma recap pollSum recv(ctrl, round_trip.registers, sum)
            sum = fpgaReadReg(fpga, 0);
        }
    } else {
        #pragma recap waitSum wait_recv(late_sender, round_trip.registers, sum)
        fpgaWaitIrq(fpga);
        #pragma recap readSum recv(ctrl, round_trip.registers, sum)
        sum = fpgaReadReg(fpga, 0);
    }
    printf("%u\n", sum);
    #pragma recap closeCard overhead(finalize)
    fpgaClose(fpga);
    return 0;
}
