/* Prints the SHA-256 of messages of one and of two blocks; the card does the hashing. */
#include <stdio.h>
#include <string.h>

#include "fpga.h"

enum { CONTROL = 0x00, READY = 0x04, BLOCK = 0x40, DIGEST = 0x80 };

/* Pad `text` (FIPS 180-4, 5.1.1) into blocks of sixteen big-endian words; how many blocks there are. */
static int pad(const char *text, uint32_t words[32])
{
    size_t length = strlen(text), blocks = (length + 8) / 64 + 1;
    memset(words, 0, 32 * sizeof *words);
    for (size_t i = 0; i < length; i++)
        words[i / 4] |= (uint32_t)(unsigned char)text[i] << (24 - 8 * (i % 4));
    words[length / 4] |= 0x80u << (24 - 8 * (length % 4));
    words[16 * blocks - 1] = (uint32_t)length * 8;
    return (int)blocks;
}

static void hash(fpga_t *fpga, const char *text)
{
    uint32_t words[32], digest[8];
    int blocks = pad(text, words);
    for (int i = 0; i < blocks; i++) {
        #pragma recap writeBlock send(data, sha256_axil.bus, b1)
        fpgaWrite(fpga, words + 16 * i, BLOCK, 16);
        #pragma recap start send(ctrl, sha256_axil.bus, s1)
        fpgaWriteReg(fpga, CONTROL, i ? 2 : 1);
        #pragma recap pollReady wait_recv(late_sender|poll, sha256_axil.bus, r1)
        while (!fpgaReadReg(fpga, READY)) {
        }
    }
    #pragma recap readDigest recv(data, sha256_axil.bus, d1)
    fpgaRead(fpga, digest, DIGEST, 8);
    for (int i = 0; i < 8; i++)
        printf("%08x", digest[i]);
    printf("\n");
}

int main(void)
{
    #pragma recap openCard overhead(initialize)
    fpga_t *fpga = fpgaOpen(0);
    if (!fpga)
        return 1;
    hash(fpga, "abc");
    hash(fpga, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq");
    #pragma recap closeCard overhead(finalize)
    fpgaClose(fpga);
    return 0;
}
