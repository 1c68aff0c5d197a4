/* Device files that an API serves on the simulated card (wbcard_files), as a driver does on a real machine. Their descriptors are
 * real ones, so that no other file has their numbers; by O_PATH, so that calls that are not served here fail. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../wbcard.h"
#include "libc.h"

#define MAX_FD 1024

typedef struct {
    const wbcard_file *as;
    void *file;
    off_t at;
    int descriptors;
} opened;

static opened *of_fd[MAX_FD];

static opened *known(int fd) { return fd >= 0 && fd < MAX_FD ? of_fd[fd] : NULL; }

static int open_device(const wbcard_file *as, const char *path, int flags)
{
    int fd = REAL(open)("/dev/null", O_PATH | (flags & O_CLOEXEC));
    opened *made = fd >= 0 && fd < MAX_FD ? calloc(1, sizeof *made) : NULL;
    if (made && (made->file = as->open(path, flags))) {
        made->as = as;
        made->descriptors = 1;
        of_fd[fd] = made;
        return fd;
    }
    int error = errno;
    free(made);
    if (fd >= 0)
        REAL(close)(fd);
    errno = error;
    return -1;
}

static const wbcard_file *served(const char *path)
{
    const wbcard_file *as = vc_self ? wbcard_files : NULL;
    while (as && as->path && fnmatch(as->path, path, FNM_PATHNAME))
        as++;
    return as && as->path ? as : NULL;
}

#define OPENS(name, takes, gives)                                               \
    int name takes                                                              \
    {                                                                           \
        const wbcard_file *as = served(path);                                   \
        va_list more;                                                           \
        va_start(more, flags);                                                  \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0; \
        va_end(more);                                                           \
        return as ? open_device(as, path, flags) : REAL(name) gives;            \
    }
OPENS(open, (const char *path, int flags, ...), (path, flags, mode))
OPENS(open64, (const char *path, int flags, ...), (path, flags, mode))
OPENS(openat, (int folder, const char *path, int flags, ...), (folder, path, flags, mode))
OPENS(openat64, (int folder, const char *path, int flags, ...), (folder, path, flags, mode))

int devices_have(int fd) { return known(fd) != NULL; }

void devices_close(int fd)
{
    opened *one = known(fd);
    of_fd[fd] = NULL;
    if (--one->descriptors)
        return;
    if (one->as->close)
        one->as->close(one->file);
    free(one);
}

int wbcard_serve(int fd, const wbcard_file *as, void *file)
{
    opened *made = as && fd >= 0 && fd < MAX_FD ? calloc(1, sizeof *made) : NULL;
    if (as && !made)
        return -1;
    if (known(fd))
        devices_close(fd);
    if (made) {
        *made = (opened){as, file, 0, 1};
        of_fd[fd] = made;
    }
    return 0;
}

int dup(int fd)
{
    opened *one = known(fd);
    int again = REAL(dup)(fd);
    if (one && again >= 0 && again < MAX_FD) {
        of_fd[again] = one;
        one->descriptors++;
    }
    return again;
}

static ssize_t refuse(int error)
{
    errno = error;
    return -1;
}

static ssize_t read_at(const opened *one, void *to, size_t bytes, off_t at)
{
    return one->as->read ? one->as->read(one->file, to, bytes, at) : refuse(EINVAL);
}

static ssize_t write_at(const opened *one, const void *from, size_t bytes, off_t at)
{
    return one->as->write ? one->as->write(one->file, from, bytes, at) : refuse(EINVAL);
}

ssize_t devices_read(int fd, void *to, size_t bytes)
{
    opened *one = known(fd);
    ssize_t got = read_at(one, to, bytes, one->at);
    one->at += got > 0 ? got : 0;
    return got;
}

ssize_t devices_write(int fd, const void *from, size_t bytes)
{
    opened *one = known(fd);
    ssize_t put = write_at(one, from, bytes, one->at);
    one->at += put > 0 ? put : 0;
    return put;
}

#define POSITIONED(read_name, write_name, seek_name)                              \
    ssize_t read_name(int fd, void *to, size_t bytes, off_t at)                   \
    {                                                                             \
        const opened *one = known(fd);                                            \
        return one ? read_at(one, to, bytes, at) : REAL(read_name)(fd, to, bytes, at); \
    }                                                                             \
    ssize_t write_name(int fd, const void *from, size_t bytes, off_t at)          \
    {                                                                             \
        const opened *one = known(fd);                                            \
        return one ? write_at(one, from, bytes, at) : REAL(write_name)(fd, from, bytes, at); \
    }                                                                             \
    off_t seek_name(int fd, off_t offset, int whence)                             \
    {                                                                             \
        opened *one = known(fd);                                                  \
        if (!one)                                                                 \
            return REAL(seek_name)(fd, offset, whence);                           \
        if (whence == SEEK_END || (whence == SEEK_CUR ? one->at : 0) + offset < 0) \
            return refuse(EINVAL);                                                \
        return one->at = (whence == SEEK_CUR ? one->at : 0) + offset;             \
    }
POSITIONED(pread, pwrite, lseek)
POSITIONED(pread64, pwrite64, lseek64)

int ioctl(int fd, unsigned long request, ...)
{
    va_list more;
    va_start(more, request);
    void *argument = va_arg(more, void *);
    va_end(more);
    const opened *one = known(fd);
    if (!one)
        return REAL(ioctl)(fd, request, argument);
    return one->as->ioctl ? one->as->ioctl(one->file, request, argument) : (int)refuse(ENOTTY);
}

#define MAPS(name)                                                                            \
    void *name(void *at, size_t bytes, int may, int flags, int fd, off_t from)                \
    {                                                                                         \
        const opened *one = flags & MAP_ANONYMOUS ? NULL : known(fd);                         \
        if (!one)                                                                             \
            return REAL(name)(at, bytes, may, flags, fd, from);                               \
        void *made = one->as->map ? one->as->map(one->file, bytes, from) : NULL;              \
        if (!made)                                                                            \
            errno = ENODEV;                                                                   \
        return made ? made : MAP_FAILED;                                                      \
    }
MAPS(mmap)
MAPS(mmap64)

int munmap(void *at, size_t bytes) { return wbcard_unmap(at) ? REAL(munmap)(at, bytes) : 0; }

/* A device is always ready: it is its read, or write, that waits. */
int devices_poll(struct pollfd *files, nfds_t count)
{
    int ready = 0;
    for (nfds_t i = 0; i < count; i++) {
        files[i].revents = known(files[i].fd) ? files[i].events & (POLLIN | POLLOUT) : 0;
        ready += files[i].revents != 0;
    }
    return ready;
}
