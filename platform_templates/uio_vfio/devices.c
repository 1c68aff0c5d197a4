/* UIO's and VFIO's device files, and PCI resources of sysfs, on the simulated card. uioN is card N, all else card 0; a mapping, or a
 * region, is the registers of the tables `write_reg` and `read_reg`, and an interrupt the card's. */
#include <errno.h>
#include <fcntl.h>
#include <linux/vfio.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>

#include "wbcard.h"

enum { REGION_SHIFT = 40, REGION_BYTES = 1 << 16 };
#define IN_REGION(at) ((at) & ((INT64_C(1) << REGION_SHIFT) - 1))

static int parts_of_vfio; /* a container, or a group */

static void *open_card(const char *path, int flags)
{
    int number = 0;
    (void)flags;
    if (sscanf(path, "/dev/uio%d", &number) == 1 && number >= wbcard_count()) {
        errno = ENOENT;
        return NULL;
    }
    return wbcard_open(number);
}

static void close_card(void *file) { wbcard_close(file); }

static void *open_part(const char *path, int flags)
{
    (void)path, (void)flags;
    return &parts_of_vfio;
}

static ssize_t refused(void)
{
    errno = EIO;
    return -1;
}

static void *map_registers(void *file, size_t bytes, off_t at)
{
    (void)at;
    return wbcard_map(file, "write_reg", "read_reg", 0, 1, (int64_t)bytes);
}

/* ---- UIO ---- */

static ssize_t wait_for_interrupt(void *file, void *to, size_t bytes, off_t at)
{
    static uint32_t count;
    (void)at;
    if (bytes != 4 || wbcard_wait_irq(file))
        return refused();
    *(uint32_t *)to = ++count;
    return 4;
}

static ssize_t enable_interrupt(void *file, const void *from, size_t bytes, off_t at)
{
    (void)file, (void)from, (void)at;
    return bytes == 4 ? 4 : refused();
}

/* ---- VFIO ---- */

static ssize_t read_region(void *file, void *to, size_t bytes, off_t at)
{
    return wbcard_receive(file, "read_reg", to, IN_REGION(at), (int64_t)bytes) ? refused() : (ssize_t)bytes;
}

static ssize_t write_region(void *file, const void *from, size_t bytes, off_t at)
{
    return wbcard_send(file, "write_reg", from, IN_REGION(at), (int64_t)bytes) ? refused() : (ssize_t)bytes;
}

static ssize_t wait_for_event(void *file, void *to, size_t bytes, off_t at)
{
    (void)at;
    if (bytes != 8 || wbcard_wait_irq(file))
        return refused();
    *(uint64_t *)to = 1;
    return 8;
}

static const wbcard_file event = {.read = wait_for_event};

/* The program's eventfd of an interrupt tells of the card's from now on; -1, or none: of no one's any more. */
static int set_interrupt(void *card, const struct vfio_irq_set *asked)
{
    static int served[VFIO_PCI_NUM_IRQS]; /* the eventfds, and 1 */
    if (!(asked->flags & VFIO_IRQ_SET_ACTION_TRIGGER))
        return 0;
    int none = asked->flags & VFIO_IRQ_SET_DATA_NONE && !asked->count;
    if (asked->index >= VFIO_PCI_NUM_IRQS || (!none && (!(asked->flags & VFIO_IRQ_SET_DATA_EVENTFD) || asked->count != 1))) {
        rcw_note("VFIO: an interrupt is one eventfd on the simulated card");
        errno = EINVAL;
        return -1;
    }
    int fd = none ? -1 : *(const int32_t *)asked->data;
    if (served[asked->index])
        wbcard_serve(served[asked->index] - 1, NULL, NULL);
    served[asked->index] = fd + 1;
    return fd < 0 ? 0 : wbcard_serve(fd, &event, card);
}

static int request_part(void *file, unsigned long request, void *argument)
{
    (void)file;
    switch (request) {
    case VFIO_GET_API_VERSION:
        return VFIO_API_VERSION;
    case VFIO_CHECK_EXTENSION:
        return (uintptr_t)argument == VFIO_TYPE1_IOMMU;
    case VFIO_SET_IOMMU:
    case VFIO_GROUP_SET_CONTAINER:
        return 0;
    case VFIO_GROUP_GET_STATUS:
        ((struct vfio_group_status *)argument)->flags = VFIO_GROUP_FLAGS_VIABLE;
        return 0;
    case VFIO_GROUP_GET_DEVICE_FD:
        return open("/dev/vfio/devices/vfio0", O_RDWR);
    default:
        errno = ENOTTY;
        return -1;
    }
}

static int request_card(void *file, unsigned long request, void *argument)
{
    struct vfio_device_info *device = argument;
    struct vfio_region_info *region = argument;
    struct vfio_irq_info *interrupt = argument;
    switch (request) {
    case VFIO_DEVICE_GET_INFO:
        device->flags = VFIO_DEVICE_FLAGS_PCI;
        device->num_regions = 1;
        device->num_irqs = VFIO_PCI_NUM_IRQS;
        return 0;
    case VFIO_DEVICE_GET_IRQ_INFO:
        interrupt->flags = VFIO_IRQ_INFO_EVENTFD;
        interrupt->count = interrupt->index <= VFIO_PCI_MSIX_IRQ_INDEX;
        return 0;
    case VFIO_DEVICE_SET_IRQS:
        return set_interrupt(file, argument);
    case VFIO_DEVICE_GET_REGION_INFO:
        region->flags = VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE | VFIO_REGION_INFO_FLAG_MMAP;
        region->size = REGION_BYTES;
        region->offset = (uint64_t)region->index << REGION_SHIFT;
        return 0;
    default:
        errno = ENOTTY;
        return -1;
    }
}

const wbcard_file wbcard_files[] = {
    {"/dev/uio*", open_card, wait_for_interrupt, enable_interrupt, NULL, map_registers, close_card},
    {"/sys/bus/pci/devices/*/resource*", open_card, NULL, NULL, NULL, map_registers, close_card},
    {"/dev/vfio/devices/*", open_card, read_region, write_region, request_card, map_registers, close_card},
    {"/dev/vfio/*", open_part, NULL, NULL, request_part, NULL, NULL},
    {0},
};
