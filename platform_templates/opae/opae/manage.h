#ifndef RCW_OPAE_MANAGE_H
#define RCW_OPAE_MANAGE_H
#include <opae/types.h>

#ifdef __cplusplus
extern "C" {
#endif
fpga_result fpgaReconfigureSlot(fpga_handle fpga, uint32_t slot, const uint8_t *bitstream, size_t bitstream_len, int flags);
#ifdef __cplusplus
}
#endif
#endif
