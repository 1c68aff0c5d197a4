/* The AWS FPGA SDK's management library, as far as there is a stand-in for it: prototypes of aws/aws-fpga. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fpga_pci.h"
#include "hal/fpga_common.h"

#ifdef __cplusplus
extern "C" {
#endif

int fpga_mgmt_init(void);
int fpga_mgmt_close(void);
const char *fpga_mgmt_strerror(int err);
int fpga_mgmt_get_status(int slot_id, int *status, int *status_q);
int fpga_mgmt_clear_local_image(int slot_id);
int fpga_mgmt_load_local_image(int slot_id, char *afi_id);
int fpga_mgmt_load_local_image_flags(int slot_id, char *afi_id, uint32_t flags);

#ifdef __cplusplus
}
#endif
