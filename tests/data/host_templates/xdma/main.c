/* Every call of the XDMA template, and the same calls on a file of its own, which are not the card's. */
#include "cdev_sgdma.h"
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { WORDS = 64, ROUNDS = 4 };

static int opened(const char *path, int flags)
{
    int fd = open(path, flags, 0600);
    if (fd < 0) {
        perror(path);
        exit(1);
    }
    return fd;
}

/* Whoever calls it, and whatever the descriptor is of. */
static void put(int fd, const void *from, size_t bytes, off_t at)
{
    if (pwrite(fd, from, bytes, at) != (ssize_t)bytes) {
        perror("pwrite");
        exit(1);
    }
}

static uint32_t get(int fd, off_t at)
{
    uint32_t value = 0;
    if (pread(fd, &value, sizeof value, at) != sizeof value)
        exit(1);
    return value;
}

static unsigned sum(const uint32_t *words)
{
    unsigned all = 0;
    for (int i = 0; i < WORDS; i++)
        all += words[i];
    return all;
}

int main(void)
{
    uint32_t words[WORDS], back[WORDS], one = 1, event = 0;
    int log = opened("log", O_CREAT | O_RDWR), mode = XDMA_ADDRMODE_MEMORY, alignment = 0;
    int to = opened("/dev/xdma0_h2c_0", O_RDWR), from = opened("/dev/xdma0_c2h_0", O_RDWR | O_CLOEXEC);
    int user = opened("/dev/xdma0_user", O_RDWR | O_SYNC), events = opened("/dev/xdma0_events_0", O_RDONLY);
    printf("absent %d\n", open("/dev/xdma7_user", O_RDWR));

    if (ioctl(to, IOCTL_XDMA_ADDRMODE_SET, &mode) || ioctl(from, IOCTL_XDMA_ALIGN_GET, &alignment))
        return 1;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < WORDS; i++)
            words[i] = (uint32_t)(round * i);
        put(to, words, sizeof words, 1024 * round);
        put(log, words, sizeof words, 1024 * round);
        memset(back, 0, sizeof back);
        if (pread(from, back, sizeof back, 1024 * round) != sizeof back)
            return 1;
        printf("round %d %u\n", round, sum(back));
    }

    /* Where the file stands is where it is written: behind one another. */
    int again = dup(to), plain = dup(log), other = dup(from);
    if (lseek(to, 8192, SEEK_SET) != 8192 || lseek(plain, 0, SEEK_SET) || lseek(other, 8192, SEEK_SET) != 8192)
        return 1;
    if (write(to, words, 128) != 128 || write(again, words + 32, 128) != 128 || write(plain, words, 128) != 128)
        return 1;
    memset(back, 0, sizeof back);
    if (read(from, back, 64) != 64 || read(other, back + 16, 192) != 192 || read(log, back, 4) != 4)
        return 1;
    printf("behind %u %d\n", sum(back), memcmp(back, words, sizeof back) != 0);

    put(user, &one, 4, 0x80);
    if (read(events, &event, sizeof event) != 4)
        return 1;
    put(user, &one, 4, 0x84);
    put(user, &event, 4, 0x10);
    printf("event %u %u, writes %u\n", event, get(user, 0x10), get(user, 0x88));

    /* The same registers by pointers. */
    char *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, user, 0);
    if (map == MAP_FAILED)
        return 1;
    for (int k = 0; k < ROUNDS; k++)
        *((volatile uint32_t *)map + k) = (uint32_t)k + 40;
    *(uint32_t *)(map + 8) += 100;
    printf("mapped %u %u, writes %u\n", *((volatile uint32_t *)map + 2), *(uint32_t *)(map + 0x10), *(uint32_t *)(map + 0x88));
    munmap(map, 4096);

    close(again);
    close(to);
    close(other);
    close(from);
    close(user);
    close(events);
    close(plain);
    close(log);
    return 0;
}
