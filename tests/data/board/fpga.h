/* The vendor's header, as it comes with the board. */
#ifndef FPGA_H
#define FPGA_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fpga fpga_t;

/* Words as common as a vendor's may be: the read-out has none of them. */
enum { CYCLES = 1, TRIES, MOVED_BYTES };
extern int counting, errors, lock, triples, sending;
int move(int from, int to), move_words(int from), settle(int ms), say(const char *text), whole(int part);
int read_words(int count), write_down(int value), at_end(void);

fpga_t *fpgaOpen(int card);
int fpgaConfigure(fpga_t *fpga, const char *bitfile);
int fpgaWrite(fpga_t *fpga, const uint32_t *data, uint32_t addr, int words);
int fpgaRead(fpga_t *fpga, uint32_t *data, uint32_t addr, int words);
int fpgaWriteReg(fpga_t *fpga, uint32_t addr, uint32_t value);
uint32_t fpgaReadReg(fpga_t *fpga, uint32_t addr);
int fpgaWriteAsync(fpga_t *fpga, const uint32_t *data, uint32_t addr, int words);
int fpgaWait(fpga_t *fpga);
int fpgaWaitIrq(fpga_t *fpga);
void fpgaClose(fpga_t *fpga);

#ifdef __cplusplus
}
#endif
#endif
