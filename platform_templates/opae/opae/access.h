#ifndef RCW_OPAE_ACCESS_H
#define RCW_OPAE_ACCESS_H
#include <opae/types.h>

#ifdef __cplusplus
extern "C" {
#endif
fpga_result fpgaOpen(fpga_token token, fpga_handle *handle, int flags);
fpga_result fpgaClose(fpga_handle handle);
fpga_result fpgaReset(fpga_handle handle);
#ifdef __cplusplus
}
#endif
#endif
