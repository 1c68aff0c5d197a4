/* OPAE on the simulated card: every card is one accelerator, whatever is asked for, and a token its number and 1. MMIO goes through
 * the ports of the tables `write_reg` and `read_reg`; a space's pointer is of 256 KiB. */
#include <opae/fpga.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "wbcard.h"

typedef struct buffer {
    struct buffer *older;
    void *at;
    uint64_t wsid;
    int own;
} buffer;

typedef struct {
    wbcard_t *card;
    buffer *buffers;
    uint64_t last_wsid;
    void *mapped;
} accelerator;

static fpga_result of(int status) { return status ? FPGA_EXCEPTION : FPGA_OK; }

fpga_result fpgaGetProperties(fpga_token token, fpga_properties *prop)
{
    (void)token;
    return prop && (*prop = malloc(1)) ? FPGA_OK : FPGA_NO_MEMORY;
}

fpga_result fpgaDestroyProperties(fpga_properties *prop)
{
    free(*prop);
    *prop = NULL;
    return FPGA_OK;
}

fpga_result fpgaPropertiesSetObjectType(fpga_properties prop, fpga_objtype objtype)
{
    return prop && objtype <= FPGA_ACCELERATOR ? FPGA_OK : FPGA_INVALID_PARAM;
}

fpga_result fpgaPropertiesSetGUID(fpga_properties prop, fpga_guid guid)
{
    return prop && guid ? FPGA_OK : FPGA_INVALID_PARAM;
}

fpga_result fpgaEnumerate(const fpga_properties *filters, uint32_t num_filters, fpga_token *tokens, uint32_t max_tokens,
                          uint32_t *num_matches)
{
    if (!num_matches || (num_filters && !filters) || (max_tokens && !tokens))
        return FPGA_INVALID_PARAM;
    *num_matches = (uint32_t)wbcard_count();
    for (uint32_t i = 0; i < max_tokens && i < *num_matches; i++)
        tokens[i] = (fpga_token)(uintptr_t)(i + 1);
    return FPGA_OK;
}

fpga_result fpgaCloneToken(fpga_token src, fpga_token *dst)
{
    *dst = src;
    return FPGA_OK;
}

fpga_result fpgaDestroyToken(fpga_token *token)
{
    *token = NULL;
    return FPGA_OK;
}

fpga_result fpgaOpen(fpga_token token, fpga_handle *handle, int flags)
{
    accelerator *made = token && handle ? calloc(1, sizeof *made) : NULL;
    (void)flags;
    if (!made)
        return FPGA_INVALID_PARAM;
    made->card = wbcard_open((int)(uintptr_t)token - 1);
    if (!made->card) {
        free(made);
        return FPGA_NOT_FOUND;
    }
    *handle = made;
    return FPGA_OK;
}

static void forget(buffer **at)
{
    buffer *gone = *at;
    *at = gone->older;
    if (gone->own)
        free(gone->at);
    free(gone);
}

fpga_result fpgaClose(fpga_handle handle)
{
    accelerator *known = handle;
    if (!known)
        return FPGA_INVALID_PARAM;
    fpgaUnmapMMIO(handle, 0);
    while (known->buffers)
        forget(&known->buffers);
    wbcard_close(known->card);
    free(known);
    return FPGA_OK;
}

fpga_result fpgaReset(fpga_handle handle)
{
    rcw_note("OPAE: fpgaReset leaves the simulated design as it is");
    return handle ? FPGA_OK : FPGA_INVALID_PARAM;
}

fpga_result fpgaReconfigureSlot(fpga_handle fpga, uint32_t slot, const uint8_t *bitstream, size_t bitstream_len, int flags)
{
    (void)slot, (void)bitstream_len, (void)flags;
    return fpga && bitstream ? of(wbcard_configure(((accelerator *)fpga)->card, "configure", "")) : FPGA_INVALID_PARAM;
}

static fpga_result put(fpga_handle handle, uint64_t offset, const void *value, int64_t bytes)
{
    return handle ? of(wbcard_send(((accelerator *)handle)->card, "write_reg", value, (int64_t)offset, bytes))
                  : FPGA_INVALID_PARAM;
}

static fpga_result get(fpga_handle handle, uint64_t offset, void *value, int64_t bytes)
{
    return handle && value ? of(wbcard_receive(((accelerator *)handle)->card, "read_reg", value, (int64_t)offset, bytes))
                           : FPGA_INVALID_PARAM;
}

fpga_result fpgaWriteMMIO64(fpga_handle handle, uint32_t mmio_num, uint64_t offset, uint64_t value)
{
    (void)mmio_num;
    return put(handle, offset, &value, 8);
}

fpga_result fpgaReadMMIO64(fpga_handle handle, uint32_t mmio_num, uint64_t offset, uint64_t *value)
{
    (void)mmio_num;
    return get(handle, offset, value, 8);
}

fpga_result fpgaWriteMMIO32(fpga_handle handle, uint32_t mmio_num, uint64_t offset, uint32_t value)
{
    (void)mmio_num;
    return put(handle, offset, &value, 4);
}

fpga_result fpgaReadMMIO32(fpga_handle handle, uint32_t mmio_num, uint64_t offset, uint32_t *value)
{
    (void)mmio_num;
    return get(handle, offset, value, 4);
}

fpga_result fpgaWriteMMIO512(fpga_handle handle, uint32_t mmio_num, uint64_t offset, const void *value)
{
    (void)mmio_num;
    return put(handle, offset, value, 64);
}

fpga_result fpgaMapMMIO(fpga_handle handle, uint32_t mmio_num, uint64_t **mmio_ptr)
{
    accelerator *known = handle;
    (void)mmio_num;
    if (!known)
        return FPGA_INVALID_PARAM;
    if (!mmio_ptr)
        return FPGA_OK;
    if (!known->mapped)
        known->mapped = wbcard_map(known->card, "write_reg", "read_reg", 0, 1, 256 * 1024);
    *mmio_ptr = known->mapped;
    return known->mapped ? FPGA_OK : FPGA_NOT_SUPPORTED;
}

fpga_result fpgaUnmapMMIO(fpga_handle handle, uint32_t mmio_num)
{
    accelerator *known = handle;
    (void)mmio_num;
    if (known && known->mapped)
        wbcard_unmap(known->mapped);
    if (known)
        known->mapped = NULL;
    return known ? FPGA_OK : FPGA_INVALID_PARAM;
}

/* ---- events: a handle is its eventfd and 1; one that is registered tells of the card's interrupt ---- */

#define FD_OF(event) ((int)(intptr_t)(event) - 1)

static ssize_t wait_for_interrupt(void *card, void *to, size_t bytes, off_t at)
{
    (void)at;
    if (bytes != 8 || wbcard_wait_irq(card))
        return -1;
    *(uint64_t *)to = 1;
    return 8;
}

static const wbcard_file interrupts = {.read = wait_for_interrupt};

fpga_result fpgaCreateEventHandle(fpga_event_handle *event_handle)
{
    int fd = event_handle ? eventfd(0, 0) : -1;
    if (fd < 0)
        return event_handle ? FPGA_EXCEPTION : FPGA_INVALID_PARAM;
    *event_handle = (fpga_event_handle)(intptr_t)(fd + 1);
    return FPGA_OK;
}

fpga_result fpgaDestroyEventHandle(fpga_event_handle *event_handle)
{
    if (!event_handle || !*event_handle)
        return FPGA_INVALID_PARAM;
    close(FD_OF(*event_handle));
    *event_handle = NULL;
    return FPGA_OK;
}

fpga_result fpgaGetOSObjectFromEventHandle(const fpga_event_handle eh, int *fd)
{
    if (!eh || !fd)
        return FPGA_INVALID_PARAM;
    *fd = FD_OF(eh);
    return FPGA_OK;
}

fpga_result fpgaRegisterEvent(fpga_handle handle, fpga_event_type event_type, fpga_event_handle event_handle, uint32_t flags)
{
    (void)flags;
    if (!handle || !event_handle)
        return FPGA_INVALID_PARAM;
    if (event_type != FPGA_EVENT_INTERRUPT)
        return FPGA_NOT_SUPPORTED;
    return of(wbcard_serve(FD_OF(event_handle), &interrupts, ((accelerator *)handle)->card));
}

fpga_result fpgaUnregisterEvent(fpga_handle handle, fpga_event_type event_type, fpga_event_handle event_handle)
{
    if (!handle || !event_handle || event_type != FPGA_EVENT_INTERRUPT)
        return FPGA_INVALID_PARAM;
    return of(wbcard_serve(FD_OF(event_handle), NULL, NULL));
}

/* ---- shared memory: there for the host alone ---- */

fpga_result fpgaPrepareBuffer(fpga_handle handle, uint64_t len, void **buf_addr, uint64_t *wsid, int flags)
{
    accelerator *known = handle;
    int own = !(flags & FPGA_BUF_PREALLOCATED);
    if (own)
        len = (len + 4095) / 4096 * 4096;
    if (!known || !buf_addr || !wsid || !len || len % 4096)
        return FPGA_INVALID_PARAM;
    buffer *made = malloc(sizeof *made);
    if (!made || (own && !(*buf_addr = aligned_alloc(4096, len)))) {
        free(made);
        return FPGA_NO_MEMORY;
    }
    *made = (buffer){known->buffers, *buf_addr, ++known->last_wsid, own};
    known->buffers = made;
    *wsid = made->wsid;
    return FPGA_OK;
}

static buffer **find(fpga_handle handle, uint64_t wsid)
{
    buffer **at = &((accelerator *)handle)->buffers;
    while (*at && (*at)->wsid != wsid)
        at = &(*at)->older;
    return at;
}

fpga_result fpgaReleaseBuffer(fpga_handle handle, uint64_t wsid)
{
    buffer **at = handle ? find(handle, wsid) : NULL;
    if (!at || !*at)
        return FPGA_INVALID_PARAM;
    forget(at);
    return FPGA_OK;
}

fpga_result fpgaGetIOAddress(fpga_handle handle, uint64_t wsid, uint64_t *ioaddr)
{
    buffer **at = handle ? find(handle, wsid) : NULL;
    if (!at || !*at || !ioaddr)
        return at ? FPGA_NOT_FOUND : FPGA_INVALID_PARAM;
    rcw_note("OPAE: memory shared with the accelerator is the host's alone on the simulated card: the design does not reach it");
    *ioaddr = (uint64_t)(uintptr_t)(*at)->at;
    return FPGA_OK;
}

const char *fpgaErrStr(fpga_result e)
{
    static const char *const names[] = {
        "success", "invalid parameter", "resource busy", "exception", "not found", "no memory", "not supported",
        "no driver available", "no fpga daemon running", "insufficient privileges", "reconfiguration error"};
    return e <= FPGA_RECONF_ERROR ? names[e] : "unknown error";
}
