/* As threaded.c, with each batch written in PARTS calls and the pace written PACES times more in each round. */
#include "threads.h"

int main(void)
{
    pthread_t thread;
    uint32_t total = 0;
    fpga_t *fpga = fpgaOpen(0);
    #pragma recap pace send(ctrl, unit_top.worker, pace)
    fpgaWriteReg(fpga, PACE, pace(CLEAR, CYCLES));
    pthread_create(&thread, NULL, producer, NULL);
    pthread_setname_np(thread, "producer");
    for (int round = 0; round < ROUNDS; round++) {
        fill(round ? -1 : 0, 0);
        #pragma recap put send(data, unit_top.worker, x)
        for (int part = 0; part < PARTS; part++)
            fpgaWrite(fpga, batches[round % 2] + part * WORDS / PARTS, (uint32_t)(part * WORDS / PARTS), WORDS / PARTS);
        #pragma recap again send(ctrl, unit_top.worker, pace)
        for (int time = 0; time < PACES; time++)
            fpgaWriteReg(fpga, PACE, pace(CLEAR, CYCLES));
        #pragma recap begin send(ctrl, unit_top.worker, go)
        fpgaWriteReg(fpga, COMMAND, command(0, WORDS));
        #pragma recap poll wait_recv(late_sender, unit_top.worker, d)
        while (!fpgaReadReg(fpga, DONE))
            ;
        #pragma recap get recv(data, unit_top.worker, y)
        total = total * 31 + fpgaReadReg(fpga, SUM);
    }
    fill(-1, -1);
    pthread_join(thread, NULL);
    printf("%u\n", total);
    fpgaClose(fpga);
    return 0;
}
