/* The AWS FPGA SDK on the simulated card: slots are cards. BAR0 is registers (tables `write_reg` and `read_reg`); BAR4 and the DMA
 * queues are the memory's port (`write` and `read`). A BAR's handle, and a queue's descriptor, is its place below. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "fpga_dma.h"
#include "fpga_mgmt.h"
#include "wbcard.h"

enum { MOST = 1024 };

typedef struct {
    wbcard_t *card;
    int memory;
    char *mapped; /* the whole BAR, once it was asked for */
} opened;

static opened bars[FPGA_SLOT_MAX * FPGA_PF_MAX * FPGA_BAR_PER_PF_MAX], queues[MOST];

static int is_slot(int slot_id) { return slot_id >= 0 && slot_id < wbcard_count(); }

/* ---- management ---- */

int fpga_mgmt_init(void) { return fpga_pci_init(); }
int fpga_mgmt_close(void) { return 0; }

const char *fpga_mgmt_strerror(int err)
{
    return !err ? "ok" : err == FPGA_ERR_AFI_ID_INVALID ? "invalid-afi-id" : "internal-error";
}

int fpga_mgmt_get_status(int slot_id, int *status, int *status_q)
{
    if (!is_slot(slot_id))
        return -EINVAL;
    *status = FPGA_STATUS_LOADED;
    *status_q = FPGA_ERR_OK;
    return 0;
}

int fpga_mgmt_clear_local_image(int slot_id)
{
    rcw_note("AWS FPGA: clearing a slot leaves the simulated design as it is");
    return is_slot(slot_id) ? 0 : -EINVAL;
}

int fpga_mgmt_load_local_image(int slot_id, char *afi_id) { return fpga_mgmt_load_local_image_flags(slot_id, afi_id, 0); }

int fpga_mgmt_load_local_image_flags(int slot_id, char *afi_id, uint32_t flags)
{
    wbcard_t *card = is_slot(slot_id) ? wbcard_open(slot_id) : NULL;
    (void)flags;
    if (!card)
        return -EINVAL;
    int status = wbcard_configure(card, "configure", afi_id);
    wbcard_close(card);
    return status ? FPGA_ERR_AFI_ID_INVALID : 0;
}

/* ---- BARs ---- */

int fpga_pci_init(void) { return 0; }
int fpga_pci_rescan_slot_app_pfs(int slot_id) { return is_slot(slot_id) ? 0 : -EINVAL; }

int fpga_pci_attach(int slot_id, int pf_id, int bar_id, uint32_t flags, pci_bar_handle_t *handle)
{
    int place = 0, most = sizeof bars / sizeof bars[0];
    (void)flags;
    if (!handle || !is_slot(slot_id) || pf_id != FPGA_APP_PF || (bar_id != APP_PF_BAR0 && bar_id != APP_PF_BAR4))
        return -EINVAL;
    while (place < most && bars[place].card)
        place++;
    if (place == most || !(bars[place].card = wbcard_open(slot_id)))
        return -ENOMEM;
    bars[place].memory = bar_id == APP_PF_BAR4;
    *handle = place;
    return 0;
}

static opened *bar_of(pci_bar_handle_t handle)
{
    int known = handle >= 0 && handle < (int)(sizeof bars / sizeof bars[0]) && bars[handle].card;
    return known ? &bars[handle] : NULL;
}

int fpga_pci_detach(pci_bar_handle_t handle)
{
    opened *bar = bar_of(handle);
    if (!bar)
        return -EINVAL;
    if (bar->mapped)
        wbcard_unmap(bar->mapped);
    wbcard_close(bar->card);
    *bar = (opened){0};
    return 0;
}

static int put(const opened *at, uint64_t offset, const void *from, uint64_t bytes)
{
    int failed = !at || wbcard_send(at->card, at->memory ? "write" : "write_reg", from, (int64_t)offset, (int64_t)bytes);
    return failed ? -EINVAL : 0;
}

static int get(const opened *at, uint64_t offset, void *to, uint64_t bytes)
{
    int failed = !at || !to || wbcard_receive(at->card, at->memory ? "read" : "read_reg", to, (int64_t)offset, (int64_t)bytes);
    return failed ? -EINVAL : 0;
}

int fpga_pci_poke(pci_bar_handle_t handle, uint64_t offset, uint32_t value) { return put(bar_of(handle), offset, &value, 4); }
int fpga_pci_poke64(pci_bar_handle_t handle, uint64_t offset, uint64_t value) { return put(bar_of(handle), offset, &value, 8); }
int fpga_pci_peek(pci_bar_handle_t handle, uint64_t offset, uint32_t *value) { return get(bar_of(handle), offset, value, 4); }
int fpga_pci_peek64(pci_bar_handle_t handle, uint64_t offset, uint64_t *value) { return get(bar_of(handle), offset, value, 8); }

int fpga_pci_write_burst(pci_bar_handle_t handle, uint64_t offset, uint32_t *datap, uint64_t dword_len)
{
    return put(bar_of(handle), offset, datap, dword_len * 4);
}

/* As large as on F2: PROT_NONE takes no memory. */
int fpga_pci_get_address(pci_bar_handle_t handle, uint64_t offset, uint64_t dword_len, void **ptr)
{
    opened *bar = bar_of(handle);
    int64_t most = bar && bar->memory ? INT64_C(128) << 30 : INT64_C(64) << 20;
    if (!bar || !ptr || offset > (uint64_t)most || dword_len > ((uint64_t)most - offset) / 4)
        return -EINVAL;
    if (!bar->mapped)
        bar->mapped = wbcard_map(bar->card, bar->memory ? "write" : "write_reg", bar->memory ? "read" : "read_reg", 0, 1, most);
    if (!bar->mapped)
        return -ENOMEM;
    *ptr = bar->mapped + offset;
    return 0;
}

/* ---- DMA: a queue's descriptor is a file of its own, so that closing it is closing a file ---- */

int fpga_dma_open_queue(enum fpga_dma_driver which_driver, int slot_id, int channel, bool is_read)
{
    (void)which_driver, (void)channel;
    int fd = is_slot(slot_id) ? open("/dev/null", is_read ? O_RDONLY : O_WRONLY) : -1;
    if (fd < 0 || fd >= MOST)
        return -EINVAL;
    queues[fd] = (opened){queues[fd].card ? queues[fd].card : wbcard_open(slot_id), 1, NULL};
    return fd;
}

static const opened *queue_of(int fd) { return fd >= 0 && fd < MOST && queues[fd].card ? &queues[fd] : NULL; }

int fpga_dma_burst_read(int fd, uint8_t *buffer, size_t xfer_sz, size_t address)
{
    return get(queue_of(fd), address, buffer, xfer_sz);
}

int fpga_dma_burst_write(int fd, uint8_t *buffer, size_t xfer_sz, size_t address)
{
    return put(queue_of(fd), address, buffer, xfer_sz);
}
