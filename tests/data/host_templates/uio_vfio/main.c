/* Every call of the UIO and VFIO template: the same registers in three mappings, and memory of the program's own, which is none. */
#include <fcntl.h>
#include <linux/vfio.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct {
    volatile uint32_t word[32];
    volatile uint32_t raise, lower, writes;
} registers;

static void *map(int fd, off_t at)
{
    void *made = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, at);
    if (made == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    return made;
}

static uint32_t sum(uint32_t *of, int n)
{
    uint32_t all = 0;
    for (int i = 0; i < n; i++)
        all += of[i];
    return all;
}

int main(void)
{
    uint32_t own[8] = {1, 2, 3}, again = 1, count = 0, value = 77;
    int log = open("log", O_CREAT | O_RDWR, 0600), uio = open("/dev/uio0", O_RDWR);
    if (log < 0 || uio < 0 || ftruncate(log, 4096))
        return 1;
    registers *board = map(uio, 0);
    uint32_t *file = map(log, 0);
    for (int k = 0; k < 8; k++) {
        board->word[k] = (uint32_t)k * 3; /* 8 writes */
        file[k] = (uint32_t)k;
    }
    board->word[1] |= 64; /* a read and a write */
    printf("board %u, file %u, own %u\n", sum((uint32_t *)board, 8), sum(file, 8), sum(own, 8)); /* 8 reads */

    struct pollfd ready = {uio, POLLIN, 0};
    board->raise = 1;
    if (poll(&ready, 1, 1000) != 1 || read(uio, &count, 4) != 4)
        return 1;
    board->lower = 1;
    if (write(uio, &again, 4) != 4 || write(log, &again, 4) != 4)
        return 1;
    printf("interrupt %u, writes %u\n", count, board->writes);

    int resource = open("/sys/bus/pci/devices/0000:01:00.0/resource0", O_RDWR | O_SYNC);
    char *bar = map(resource, 0);
    *((uint32_t *)bar + 9) = 5;
    printf("resource %u\n", *(volatile uint32_t *)(bar + 4));

    struct vfio_group_status status = {.argsz = sizeof status};
    struct vfio_device_info device = {.argsz = sizeof device};
    struct vfio_region_info region = {.argsz = sizeof region, .index = VFIO_PCI_BAR0_REGION_INDEX};
    int container = open("/dev/vfio/vfio", O_RDWR), group = open("/dev/vfio/12", O_RDWR);
    if (ioctl(container, VFIO_GET_API_VERSION) != VFIO_API_VERSION || ioctl(group, VFIO_GROUP_GET_STATUS, &status) ||
        ioctl(group, VFIO_GROUP_SET_CONTAINER, &container) || ioctl(container, VFIO_SET_IOMMU, VFIO_TYPE1_IOMMU))
        return 1;
    int card = ioctl(group, VFIO_GROUP_GET_DEVICE_FD, "0000:01:00.0");
    if (ioctl(card, VFIO_DEVICE_GET_INFO, &device) || ioctl(card, VFIO_DEVICE_GET_REGION_INFO, &region))
        return 1;
    uint32_t *mapped = map(card, (off_t)region.offset);
    mapped[10] = 11;
    if (pwrite(card, &value, 4, (off_t)region.offset + 44) != 4 || pread(card, &value, 4, (off_t)region.offset + 40) != 4)
        return 1;
    printf("device %u %u %u\n", value, mapped[11], mapped[9]);

    struct {
        struct vfio_irq_set of;
        int32_t event;
    } trigger = {{.flags = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER, .index = VFIO_PCI_MSI_IRQ_INDEX}, eventfd(0, 0)};
    struct vfio_irq_info interrupt = {.argsz = sizeof interrupt, .index = VFIO_PCI_MSI_IRQ_INDEX};
    uint64_t events = 0;
    trigger.of.argsz = sizeof trigger;
    if (ioctl(card, VFIO_DEVICE_GET_IRQ_INFO, &interrupt))
        return 1;
    trigger.of.count = interrupt.count;
    if (ioctl(card, VFIO_DEVICE_SET_IRQS, &trigger))
        return 1;
    mapped[32] = 1; /* raises it */
    ready.fd = trigger.event;
    if (poll(&ready, 1, 1000) != 1 || read(trigger.event, &events, 8) != 8)
        return 1;
    mapped[33] = 1; /* lowers it */
    trigger.of.flags = VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_TRIGGER;
    trigger.of.count = 0;
    uint64_t two = 2;
    if (ioctl(card, VFIO_DEVICE_SET_IRQS, &trigger) || write(trigger.event, &two, 8) != 8)
        return 1;
    printf("events %d\n", (int)events);
    close(trigger.event);

    int other = open("/dev/vfio/devices/vfio0", O_RDWR);
    close(other);
    munmap(mapped, 4096);
    munmap(bar, 4096);
    munmap(board, 4096);
    munmap(file, 4096);
    close(card);
    close(group);
    close(container);
    close(resource);
    close(uio);
    close(log);
    return 0;
}
