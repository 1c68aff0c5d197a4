/* fpga.h on the simulated card. Transfer tables: write, read, write_reg, read_reg; configure is used when there is one. */
#include "fpga.h"

#include <stdlib.h>

#include "wbcard.h"

struct fpga {
    wbcard_t *card;
};

fpga_t *fpgaOpen(int card)
{
    wbcard_t *opened = wbcard_open(card);
    fpga_t *fpga = opened ? malloc(sizeof *fpga) : NULL;
    if (fpga)
        fpga->card = opened;
    return fpga;
}

int fpgaConfigure(fpga_t *fpga, const char *bitfile)
{
    return fpga ? wbcard_configure(fpga->card, "configure", bitfile) : -1;
}

int fpgaWrite(fpga_t *fpga, const uint32_t *data, uint32_t addr, int words)
{
    return fpga ? wbcard_send(fpga->card, "write", data, addr, (int64_t)words * 4) : -1;
}

int fpgaRead(fpga_t *fpga, uint32_t *data, uint32_t addr, int words)
{
    return fpga ? wbcard_receive(fpga->card, "read", data, addr, (int64_t)words * 4) : -1;
}

int fpgaWriteReg(fpga_t *fpga, uint32_t addr, uint32_t value)
{
    return fpga ? wbcard_send(fpga->card, "write_reg", &value, addr, 4) : -1;
}

uint32_t fpgaReadReg(fpga_t *fpga, uint32_t addr)
{
    uint32_t value = 0;
    if (fpga)
        wbcard_receive(fpga->card, "read_reg", &value, addr, 4);
    return value;
}

int fpgaWriteAsync(fpga_t *fpga, const uint32_t *data, uint32_t addr, int words)
{
    return fpga ? wbcard_send_async(fpga->card, "write", data, addr, (int64_t)words * 4) : -1;
}

int fpgaWait(fpga_t *fpga) { return fpga ? wbcard_wait(fpga->card) : -1; }

int fpgaWaitIrq(fpga_t *fpga) { return fpga ? wbcard_wait_irq(fpga->card) : -1; }

void fpgaClose(fpga_t *fpga)
{
    if (!fpga)
        return;
    wbcard_close(fpga->card);
    free(fpga);
}
