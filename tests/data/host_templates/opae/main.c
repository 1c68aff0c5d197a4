/* Every call of the OPAE template: registers of 32 and 64 bits written and read, and a cache line's worth at once. */
#include <opae/fpga.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROUNDS = 5 };

static void check(fpga_result result, int line)
{
    if (result != FPGA_OK) {
        fprintf(stderr, "main.c:%d: %s\n", line, fpgaErrStr(result));
        exit(1);
    }
}
#define CHECK(call) check((call), __LINE__)

int main(void)
{
    fpga_properties filter;
    fpga_token token;
    fpga_handle handle;
    fpga_guid guid = {0x12, 0x34};
    const uint8_t bitstream[] = {'G', 'B', 'S'};
    uint32_t found, line[16];
    uint64_t wsid, address, value = 0;
    uint64_t *registers;
    void *buffer = NULL;

    CHECK(fpgaGetProperties(NULL, &filter));
    CHECK(fpgaPropertiesSetObjectType(filter, FPGA_ACCELERATOR));
    CHECK(fpgaPropertiesSetGUID(filter, guid));
    CHECK(fpgaEnumerate(&filter, 1, &token, 1, &found));
    CHECK(fpgaDestroyProperties(&filter));
    CHECK(fpgaOpen(token, &handle, 0));
    CHECK(fpgaReconfigureSlot(handle, 0, bitstream, sizeof bitstream, 0));
    CHECK(fpgaReset(handle));
    printf("found %u, mapped %d\n", found, fpgaMapMMIO(handle, 0, &registers) == FPGA_OK);
    CHECK(fpgaMapMMIO(handle, 0, NULL));

    for (uint32_t i = 0; i < 16; i++)
        line[i] = 100 + i;
    CHECK(fpgaWriteMMIO512(handle, 0, 0x40, line));
    for (uint64_t i = 0; i < ROUNDS; i++) {
        CHECK(fpgaWriteMMIO64(handle, 0, 8 * i, (i << 32) + i + 1));
        CHECK(fpgaWriteMMIO32(handle, 0, 8 * i, (uint32_t)i + 7));
        CHECK(fpgaReadMMIO64(handle, 0, 8 * i, &value));
        printf("%llx ", (unsigned long long)value);
    }
    uint32_t last, writes;
    CHECK(fpgaReadMMIO32(handle, 0, 0x7c, &last));
    CHECK(fpgaReadMMIO32(handle, 0, 0x88, &writes));
    printf("\nlast %u, writes %u\n", last, writes);

    fpga_event_handle event;
    struct pollfd ready = {.events = POLLIN};
    uint64_t events = 0;
    CHECK(fpgaCreateEventHandle(&event));
    CHECK(fpgaRegisterEvent(handle, FPGA_EVENT_INTERRUPT, event, 0));
    CHECK(fpgaGetOSObjectFromEventHandle(event, &ready.fd));
    CHECK(fpgaWriteMMIO32(handle, 0, 0x80, 1)); /* raises it */
    if (poll(&ready, 1, 1000) != 1 || read(ready.fd, &events, sizeof events) != sizeof events)
        return 1;
    CHECK(fpgaWriteMMIO32(handle, 0, 0x84, 1)); /* lowers it */
    CHECK(fpgaUnregisterEvent(handle, FPGA_EVENT_INTERRUPT, event));
    CHECK(fpgaDestroyEventHandle(&event));
    printf("events %d\n", (int)events);

    CHECK(fpgaPrepareBuffer(handle, 5000, &buffer, &wsid, 0));
    CHECK(fpgaGetIOAddress(handle, wsid, &address));
    CHECK(fpgaReleaseBuffer(handle, wsid));
    registers[2] = 0x500000006;
    ((volatile uint32_t *)registers)[4] += 2;
    printf("pointer %llx\n", (unsigned long long)*(volatile uint64_t *)(registers + 2));
    CHECK(fpgaUnmapMMIO(handle, 0));
    CHECK(fpgaClose(handle));
    CHECK(fpgaDestroyToken(&token));
    return 0;
}
