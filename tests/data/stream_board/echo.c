#include <stdint.h>
#include <stdio.h>
#include "fpga.h"

/* Words from below to above those that the counters' read-out has reserved, one by one and all at once. */
int main(void)
{
    fpga_t *fpga = fpgaOpen(0);
    uint16_t words[12], word;
    unsigned sum = 0, wrong = 0;
    for (int i = 0; i < 12; i++) {
        words[i] = word = 0x414e + i;
        if (fpgaSend(fpga, &word, 1) < 0 || fpgaReceive(fpga, &word, 1) < 0)
            return 1;
        wrong += word != 0x414f + i;
    }
    if (fpgaSend(fpga, words, 3) < 0 || fpgaReceive(fpga, words, 3) < 0)
        return 1;
    for (int i = 0; i < 3; i++)
        sum += words[i];
    if (fpgaSend(fpga, words + 3, 2) < 0) /* and does not ask for what comes of it */
        return 1;
    fpgaClose(fpga);
    printf("%u %u\n", wrong, sum);
    return 0;
}
