#ifndef RCW_OPAE_EVENT_H
#define RCW_OPAE_EVENT_H
#include <opae/types.h>

#ifdef __cplusplus
extern "C" {
#endif
fpga_result fpgaCreateEventHandle(fpga_event_handle *event_handle);
fpga_result fpgaDestroyEventHandle(fpga_event_handle *event_handle);
fpga_result fpgaGetOSObjectFromEventHandle(const fpga_event_handle eh, int *fd);
fpga_result fpgaRegisterEvent(fpga_handle handle, fpga_event_type event_type, fpga_event_handle event_handle, uint32_t flags);
fpga_result fpgaUnregisterEvent(fpga_handle handle, fpga_event_type event_type, fpga_event_handle event_handle);
#ifdef __cplusplus
}
#endif
#endif
