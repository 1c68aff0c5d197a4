/* Every call of the AWS template: an image loaded, registers and memory reached through two BARs, and memory by DMA. */
#include <fpga_dma.h>
#include <fpga_mgmt.h>
#include <fpga_pci.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SLOT = 0, WORDS = 32, ROUNDS = 3 };

static void check(int status, int line)
{
    if (status) {
        fprintf(stderr, "main.c:%d: %s\n", line, fpga_mgmt_strerror(status));
        exit(1);
    }
}
#define CHECK(call) check((call), __LINE__)

/* The same call is for registers or for memory, by the handle that it is given. */
static void put(pci_bar_handle_t bar, uint64_t offset, uint32_t value) { CHECK(fpga_pci_poke(bar, offset, value)); }

int main(void)
{
    pci_bar_handle_t registers = PCI_BAR_HANDLE_INIT, memory = PCI_BAR_HANDLE_INIT;
    char image[] = "agfi-0123456789abcdef0";
    uint32_t words[WORDS], value;
    uint64_t both;
    int status, why;

    CHECK(fpga_mgmt_init());
    CHECK(fpga_pci_init());
    CHECK(fpga_mgmt_load_local_image(SLOT, image));
    CHECK(fpga_mgmt_load_local_image_flags(SLOT, image, 0));
    CHECK(fpga_mgmt_get_status(SLOT, &status, &why));
    CHECK(fpga_pci_rescan_slot_app_pfs(SLOT));
    CHECK(fpga_pci_attach(SLOT, FPGA_APP_PF, APP_PF_BAR0, 0, &registers));
    CHECK(fpga_pci_attach(SLOT, FPGA_APP_PF, APP_PF_BAR4, BURST_CAPABLE, &memory));

    for (uint32_t i = 0; i < ROUNDS; i++) {
        put(registers, 4 * i, i + 1);
        put(memory, 4 * i, 10 * (i + 1));
        put(memory, 4 * i + 64, 100 * (i + 1));
        CHECK(fpga_pci_peek(registers, 4 * i, &value));
        printf("%u ", value);
        CHECK(fpga_pci_peek(memory, 4 * i, &value));
        printf("%u ", value);
    }
    CHECK(fpga_pci_poke64(registers, 16, 0x200000001));
    CHECK(fpga_pci_poke64(memory, 128, 0x400000003));
    CHECK(fpga_pci_peek64(registers, 16, &both));
    printf("\n%llx ", (unsigned long long)both);
    CHECK(fpga_pci_peek64(memory, 128, &both));
    printf("%llx\n", (unsigned long long)both);

    for (uint32_t i = 0; i < WORDS; i++)
        words[i] = i * i;
    CHECK(fpga_pci_write_burst(memory, 256, words, WORDS));
    CHECK(fpga_pci_write_burst(registers, 32, words, 4));
    int to = fpga_dma_open_queue(FPGA_DMA_XDMA, SLOT, 0, false), from = fpga_dma_open_queue(FPGA_DMA_XDMA, SLOT, 0, true);
    if (to < 0 || from < 0)
        return 1;
    CHECK(fpga_dma_burst_write(to, (uint8_t *)words, sizeof words, 512));
    for (int i = 0; i < 2; i++) {
        uint32_t sum = 0;
        CHECK(fpga_dma_burst_read(from, (uint8_t *)words, sizeof words, i ? 512 : 256));
        for (int k = 0; k < WORDS; k++)
            sum += words[k];
        printf("sum %u\n", sum);
    }
    close(to);
    close(from);
    void *at, *ocl;
    CHECK(fpga_pci_get_address(memory, 1024, WORDS, &at));
    CHECK(fpga_pci_get_address(registers, 0, 64, &ocl));
    volatile uint32_t *in_memory = at;
    for (int k = 0; k < 8; k++)
        in_memory[k] = (uint32_t)k + 5;
    *((volatile uint32_t *)ocl + 20) = in_memory[3];
    printf("pointers %u %u %u\n", in_memory[7], *((volatile uint32_t *)ocl + 20), *((volatile uint32_t *)ocl + 1));
    CHECK(fpga_pci_detach(memory));
    CHECK(fpga_pci_detach(registers));
    CHECK(fpga_mgmt_clear_local_image(SLOT));
    CHECK(fpga_mgmt_close());
    return 0;
}
