/* The simulated card's client library: what a platform's host API is written on (see README.md).
 * Sizes are bytes, addresses are in the port's address units. A size has to be a multiple of the port's word.
 * Functions return 0, or -1 on a wrong argument. When the card itself fails, they print why and end the program with
 * exit code WBCARD_EXIT_FAILED. */
#ifndef WBCARD_H
#define WBCARD_H
#include <stddef.h>
#include <stdint.h>
#ifndef WBCARD_NO_FILES /* defined by code whose API has types by the names of the system's, such as dev_t */
#include <sys/types.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define WBCARD_EXIT_FAILED 113

typedef struct wbcard wbcard_t;

/* Cards are numbered from 0. NULL, with a message on the standard error, when there is no such card. */
wbcard_t *wbcard_open(int card);
int wbcard_count(void);

/* For an API call by that name which asks the card nothing: 0. Called a million times in a row, with no transfer in between,
 * it ends the run: its caller waits for another answer. The name has to stay where it is. */
int wbcard_nothing(const char *name);
void wbcard_close(wbcard_t *card);

/* Takes the time of table `table` for 1 byte, when the platform has such a table. Only before the first transfer. */
int wbcard_configure(wbcard_t *card, const char *table, const char *file);

/* Blocking transfers; `table` names the platform's transfer table that says how long they last. */
int wbcard_send(wbcard_t *card, const char *table, const void *data, int64_t address, int64_t bytes);
int wbcard_receive(wbcard_t *card, const char *table, void *data, int64_t address, int64_t bytes);

/* How many bytes this thread's last receive brought: fewer than asked for where the design's packet ended before. */
int64_t wbcard_got(void);

/* Returns at once; the data are copied. wbcard_wait returns when all such sends are done. */
int wbcard_send_async(wbcard_t *card, const char *table, const void *data, int64_t address, int64_t bytes);
int wbcard_wait(wbcard_t *card);

/* Returns when the card's interrupt signal is high (at once, when it is already). */
int wbcard_wait_irq(wbcard_t *card);

/* A part of the card in the program's memory, NULL where there can be none: whatever instruction of the program's reads or
 * writes there, a blocking transfer of what it touches is made, which lasts as the tables say. `address` is where it begins
 * on the card, `unit_bytes` how many bytes one step of the port's addresses is. Writes are whole words of the port. */
void *wbcard_map(wbcard_t *card, const char *send_table, const char *receive_table, int64_t address, int64_t unit_bytes,
                 int64_t bytes);
int wbcard_unmap(void *at);

#ifndef WBCARD_NO_FILES
/* A device file, as a driver on a real machine serves it, to the program's open, openat, read, pread, write, pwrite, lseek, ioctl, mmap,
 * poll (it is always ready), dup and close. What is not there is refused; errno says what a function that fails means. `path` is a pattern, with * and ?. */
typedef struct {
    const char *path;
    void *(*open)(const char *path, int flags); /* NULL where it fails */
    ssize_t (*read)(void *file, void *to, size_t bytes, off_t at);
    ssize_t (*write)(void *file, const void *from, size_t bytes, off_t at);
    int (*ioctl)(void *file, unsigned long request, void *argument);
    void *(*map)(void *file, size_t bytes, off_t at); /* of wbcard_map, or NULL where it fails */
    void (*close)(void *file);
} wbcard_file;

/* An API that is used through files defines them, the last without a path. */
extern const wbcard_file wbcard_files[] __attribute__((weak));

/* From now on a descriptor that the program has, as an eventfd's, is served as `as` says, with this `file`; NULL: as it was before. */
int wbcard_serve(int fd, const wbcard_file *as, void *file);
#endif

/* This thread's time on the virtual clock. Asking costs no virtual time. */
int64_t rcw_now_ps(void);

/* Takes what this thread did since the clock was last asked off its time: work that is not the program's own, such as
 * recording. Returns how much that was. */
int64_t rcw_skip_ps(void);

/* How many transfers and waits the calling thread has begun so far: its next one's number among its own. */
int64_t rcw_transfer_count(void);

/* How to ask for the site of the call that the calling thread is in; -1: in none. Rules of changes name calls by it. */
void rcw_tell_sites(int (*site)(void));

/* The calling thread's number, in order of creation with main as 0; `without` where it has none. */
int rcw_thread_number(int without);

/* Something that the run's reader has to know, told once: a warning of the run's. */
void rcw_note(const char *text);

/* The program only looks again and again whether its cards have got anywhere; `done` changes with all that it does else.
 * Where none does for simulation.idle_cycle_limit cycles, the run ends with a message. */
void rcw_polls(int64_t done);

/* From `since_ps` (now, or a little before) to its first call after -1 all that the calling thread does is waiting: what the
 * calls take of which a wait is made is no work. */
void rcw_waits(int64_t since_ps);

/* Between 1 and 0 the calling thread is not on the virtual clock: what it does takes no virtual time, and it may wait for
 * real threads. May be nested. */
void rcw_aside(int aside);

/* The calling thread looks at the others now and then: where none of them can go on, the run stands still. */
void rcw_background(void);

#ifdef __cplusplus
}
#endif
#endif
