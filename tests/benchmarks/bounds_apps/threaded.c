/* As block.c with a thread that prepares batches, in two buffers, while another has the FPGA work on them. */
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
        fpgaWrite(fpga, batches[round % 2], 0, WORDS);
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
