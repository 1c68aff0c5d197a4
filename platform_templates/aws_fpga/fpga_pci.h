/* The AWS FPGA SDK's library for PCI, as far as there is a stand-in for it: prototypes and values of aws/aws-fpga. */
#pragma once
#include <stdint.h>

#include <hal/fpga_common.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int pci_bar_handle_t;
#define PCI_BAR_HANDLE_INIT (-1)
enum { BURST_CAPABLE = 0x1 };

int fpga_pci_init(void);
int fpga_pci_attach(int slot_id, int pf_id, int bar_id, uint32_t flags, pci_bar_handle_t *handle);
int fpga_pci_detach(pci_bar_handle_t handle);
int fpga_pci_poke(pci_bar_handle_t handle, uint64_t offset, uint32_t value);
int fpga_pci_poke64(pci_bar_handle_t handle, uint64_t offset, uint64_t value);
int fpga_pci_write_burst(pci_bar_handle_t handle, uint64_t offset, uint32_t *datap, uint64_t dword_len);
int fpga_pci_peek(pci_bar_handle_t handle, uint64_t offset, uint32_t *value);
int fpga_pci_peek64(pci_bar_handle_t handle, uint64_t offset, uint64_t *value);
int fpga_pci_rescan_slot_app_pfs(int slot_id);
int fpga_pci_get_address(pci_bar_handle_t handle, uint64_t offset, uint64_t dword_len, void **ptr);

#ifdef __cplusplus
}
#endif
