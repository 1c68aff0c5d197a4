/* The host's end of the link to the card process. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "real.h"
#include "vcores.h"
#include "wb.h"

int wb_link = -1;
static rcw_request unsent; /* a receive that is submitted: it goes with the next message */

static int receive_exactly(void *data, size_t bytes)
{
    char *at = data;
    while (bytes) {
        ssize_t got = REAL(recv)(wb_link, at, bytes, 0);
        if (got < 0 && errno == EINTR)
            continue;
        for (size_t i = 0; got < 0 && errno == EFAULT && i < bytes; i++) /* the program's pointer: it crashes here */
            ((volatile char *)at)[i] = 0;
        if (got <= 0)
            return -1;
        at += got;
        bytes -= (size_t)got;
    }
    return 0;
}

static void receive_message(const rcw_reply *reply, char *message, size_t room)
{
    int64_t most = (int64_t)room - 1, length = reply->bytes < most ? reply->bytes : most;
    memset(message, 0, room);
    receive_exactly(message, (size_t)length);
}

void wb_receive_reply(rcw_reply *reply, void *data, int64_t most)
{
    if (receive_exactly(reply, sizeof *reply))
        vc_fatal("the card process ended without a word; see its log in the run folder");
    if (reply->status == RCW_FAILED) {
        char message[2048];
        receive_message(reply, message, sizeof message);
        vc_fatal(message);
    }
    if (reply->bytes > most || receive_exactly(data, (size_t)reply->bytes))
        vc_fatal("the card process ended in the middle of a reply");
}

static void send_now(const void *data, size_t bytes)
{
    const char *at = data;
    while (bytes) {
        ssize_t sent = send(wb_link, at, bytes, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        for (size_t i = 0; sent < 0 && errno == EFAULT && i < bytes; i++) /* the program's pointer: it crashes here */
            (void)((volatile const char *)at)[i];
        if (sent < 0) { /* the card is gone: what it said last is still to be read */
            rcw_reply reply;
            wb_receive_reply(&reply, NULL, 0);
            vc_fatal("the card process ended");
        }
        at += sent;
        bytes -= (size_t)sent;
    }
}

void wb_send(const void *data, size_t bytes)
{
    struct { rcw_request first; char rest[sizeof(rcw_request)]; } both;
    if (unsent.kind) {
        size_t more = bytes <= sizeof both.rest ? bytes : 0; /* small ones go in one message */
        both.first = unsent;
        unsent.kind = 0;
        memcpy(both.rest, data, more);
        send_now(&both, sizeof both.first + more);
        if (more)
            return;
    }
    send_now(data, bytes);
}

void wb_submit(const rcw_request *request)
{
    wb_send("", 0);
    unsent = *request;
}

void wb_say_goodbye(int64_t now_ps, char *message, size_t room)
{
    rcw_request bye = {.kind = RCW_BYE, .now_ps = now_ps};
    rcw_reply reply;
    *message = 0;
    wb_send(&bye, sizeof bye);
    if (!receive_exactly(&reply, sizeof reply) && reply.status != RCW_OK)
        receive_message(&reply, message, room);
}
