#include "fpga.h"
int main(void) {
    fpga_t *card = fpgaOpen(0);
    fpgaWriteReg(card, 3, 7);
    int wrong = fpgaReadReg(card, 3) != 7;
    fpgaClose(card);
    return wrong;
}
