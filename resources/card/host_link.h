// The card's end of the link to the host program.
#pragma once
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <exception>
#include <sys/socket.h>

#include "link.h"
#include "ports/port.h"

inline volatile std::sig_atomic_t told_to_stop = 0;

struct HostGone : std::exception {};

class HostLink {
public:
    explicit HostLink(int fd) : fd_(fd) {}

    void receive(void* data, size_t bytes) const {
        auto* at = static_cast<char*>(data);
        while (bytes) {
            const ssize_t got = recv(fd_, at, bytes, 0);
            if (got < 0 && errno == EINTR) {
                if (told_to_stop) throw Failure("the run was stopped");
                continue;
            }
            if (got <= 0) throw HostGone();
            at += got;
            bytes -= size_t(got);
        }
    }

    void reply(const rcw_reply& reply, const void* data) const {
        send_all(&reply, sizeof reply);
        if (reply.bytes) send_all(data, size_t(reply.bytes));
    }

private:
    void send_all(const void* data, size_t bytes) const {
        auto* at = static_cast<const char*>(data);
        while (bytes) {
            const ssize_t sent = send(fd_, at, bytes, MSG_NOSIGNAL);
            if (sent < 0 && errno == EINTR && !told_to_stop) continue;
            if (sent < 0) throw HostGone();
            at += sent;
            bytes -= size_t(sent);
        }
    }

    int fd_;
};
