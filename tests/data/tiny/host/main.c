#include <stdint.h>
#include <stdio.h>

#include "fpga.h"

enum { DATA = 0x000, DONE = 0x100, SUM = 0x101, WORDS = 16 };

int main(void)
{
    uint32_t words[WORDS];
    fpga_t *fpga = fpgaOpen(0);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < WORDS; i++)
            words[i] = (uint32_t)(round * WORDS + i);
        #pragma recap put send(data, tiny_top.adder, w1): WORDS > 0
        fpgaWrite(fpga, words, DATA, WORDS);
        #pragma recap poll wait_recv(late_sender, tiny_top.adder, d1)
        while (fpgaReadReg(fpga, DONE) == 0)
            ;
    }
    #pragma recap get recv(data, tiny_top.adder, s1)
    printf("%u\n", fpgaReadReg(fpga, SUM));
    fpgaClose(fpga);
    return 0;
}
