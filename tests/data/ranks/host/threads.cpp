// The main thread of each rank waits for a worker, by pthread, by C++20, by pipes and by messages, for a worker of C11, and for a thread of OpenMP. Others go on
// only once it waits. The exit code counts calls that return something else than they should.
#include <atomic>
#include <barrier>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <latch>
#include <semaphore>

#include <fcntl.h>
#include <mpi.h>
#include <mqueue.h>
#include <omp.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static std::counting_semaphore<4> semaphore(0);
static std::latch latch(2);
static std::barrier<> meeting(2);
static std::atomic<int> goes, step, word;
static pthread_spinlock_t spin;
static pthread_once_t pthread_flag = PTHREAD_ONCE_INIT;
static mtx_t c11_mutex, c11_guard;
static cnd_t c11_changed;
static once_flag c11_flag = ONCE_FLAG_INIT;
static clockid_t main_clock;
static int ends[2], counter, messages, semaphores, wrong;
static mqd_t queue;
static struct { long type; char text[1]; } message = {1, {}};
static sembuf give = {0, 1, 0}, take = {0, -1, 0};
static char bytes[(1 << 16) + 1]; // more than a pipe has room for

static void compute()
{
    for (volatile long i = 0; i < 20000000; i = i + 1) ;
}

// Until the main thread sleeps in the wait of this step.
static void once_it_waits(int number)
{
    char path[64], text[512] = "", *state;
    std::snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)getpid());
    do {
        usleep(1000);
        std::FILE *file = std::fopen(path, "r");
        std::fread(text, 1, sizeof text - 1, file);
        std::fclose(file);
        state = std::strrchr(text, ')') + 2;
    } while (step < number || *state != 'S');
}

// Until it has computed for 5 ms since, for which that wait is all that it does.
static void once_it_spins(int number)
{
    timespec begun, now;
    while (step < number) usleep(100);
    clock_gettime(main_clock, &begun);
    do {
        usleep(1000);
        clock_gettime(main_clock, &now);
    } while ((now.tv_sec - begun.tv_sec) * 1000000000 + now.tv_nsec - begun.tv_nsec < 5000000);
}

static void run_once()
{
    int number = goes.exchange(3) == 2 ? 18 : 7;
    once_it_waits(number);
}

static void *work(void *argument)
{
    pthread_spin_lock(&spin);
    pthread_mutex_lock(&guard); // from when the main thread waits for the condition
    pthread_mutex_lock(&mutex);
    goes = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&guard);
    once_it_waits(1);
    compute();
    pthread_mutex_unlock(&mutex);
    once_it_waits(2);
    semaphore.release();
    once_it_waits(3);
    latch.count_down();
    once_it_waits(4);
    meeting.arrive_and_wait();
    once_it_waits(5);
    word = 1;
    word.notify_one();
    once_it_spins(6);
    pthread_spin_unlock(&spin);
    pthread_once(&pthread_flag, run_once);
    once_it_waits(8);
    wrong += write(ends[1], "", 1) != 1;
    once_it_waits(9);
    eventfd_write(counter, 1);
    once_it_waits(10);
    for (size_t left = sizeof bytes; left; left -= read(ends[0], bytes, left)) ;
    once_it_waits(11);
    eventfd_write(counter, 1);
    once_it_waits(12);
    wrong += write(ends[1], "", 1) != 1;
    once_it_waits(13);
    wrong += msgsnd(messages, &message, 1, 0) != 0;
    once_it_waits(14);
    wrong += mq_receive(queue, bytes, 1, NULL) != 1;
    once_it_waits(15);
    wrong += semop(semaphores, &give, 1) != 0;
    once_it_waits(16);
    return argument;
}

static int work_c11(void *)
{
    mtx_lock(&c11_guard); // from when the main thread waits for the condition
    mtx_lock(&c11_mutex);
    goes = 2;
    cnd_signal(&c11_changed);
    mtx_unlock(&c11_guard);
    once_it_waits(17);
    compute();
    mtx_unlock(&c11_mutex);
    call_once(&c11_flag, run_once);
    once_it_waits(19);
    thrd_exit(7);
}

static void wait_c11()
{
    const timespec past = {1, 0};
    thrd_t worker;
    int value = 0;
    mtx_init(&c11_mutex, mtx_timed);
    mtx_init(&c11_guard, mtx_plain);
    cnd_init(&c11_changed);
    mtx_lock(&c11_guard);
    wrong += cnd_timedwait(&c11_changed, &c11_guard, &past) != thrd_timedout;
    wrong += thrd_create(&worker, work_c11, NULL) != thrd_success;
    while (goes != 2)
        wrong += cnd_wait(&c11_changed, &c11_guard) != thrd_success;
    mtx_unlock(&c11_guard);
    wrong += mtx_trylock(&c11_mutex) != thrd_busy;
    wrong += mtx_timedlock(&c11_mutex, &past) != thrd_timedout;
    step = 17;
    wrong += mtx_lock(&c11_mutex) != thrd_success;
    while (goes != 3) ;
    step = 18;
    call_once(&c11_flag, run_once);
    step = 19;
    wrong += thrd_join(worker, &value) != thrd_success || value != 7;
}

static void regions(bool with_tasks)
{
    goes = 0;
    #pragma omp parallel num_threads(2)
    {
        if (omp_get_thread_num()) {
            #pragma omp critical
            {
                goes = 1;
                once_it_waits(20);
            }
        } else {
            while (!goes) ;
            step = 20;
            #pragma omp critical
            goes = 2;
        }
        #pragma omp barrier
        compute();
    }
    #pragma omp parallel for ordered num_threads(2) schedule(static, 1)
    for (int i = 0; i < 4; i++) {
        #pragma omp ordered
        goes++;
    }
    if (with_tasks) {
        #pragma omp parallel num_threads(2)
        #pragma omp single
        #pragma omp task
        goes++;
    }
}

static sem_t posted;
static std::atomic<bool> interrupts;
static std::atomic<int> woken;

static void post(int) { sem_post(&posted); }

static void *wait_for_posts(void *)
{
    for (; woken < 5; woken++)
        sem_wait(&posted);
    return NULL;
}

// The recorder calls it for each 4096 records, which is then interrupted.
extern "C" int munmap(void *address, size_t size) noexcept
{
    if (interrupts)
        raise(SIGALRM);
    return (int)syscall(SYS_munmap, address, size);
}

// A signal handler lets another thread go on while the thread that it interrupts makes a record.
static void post_in_a_handler()
{
    pthread_t waiter;
    signal(SIGALRM, post);
    sem_init(&posted, 0, 0);
    pthread_create(&waiter, NULL, wait_for_posts, NULL);
    interrupts = true;
    while (woken < 5)
        MPI_Barrier(MPI_COMM_SELF);
    interrupts = false;
    pthread_join(waiter, NULL);
}

static void open_files()
{
    const mq_attr of_one = {.mq_flags = 0, .mq_maxmsg = 1, .mq_msgsize = 1, .mq_curmsgs = 0};
    char name[32];
    std::snprintf(name, sizeof name, "/threads-%d", (int)getpid());
    queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &of_one);
    wrong += pipe(ends) != 0 || queue == (mqd_t)-1 || mq_unlink(name) != 0;
    counter = eventfd(0, 0);
    messages = msgget(IPC_PRIVATE, 0600);
    semaphores = semget(IPC_PRIVATE, 1, 0600);
    wrong += messages < 0 || semaphores < 0;
}

static void wait_for_files_and_messages()
{
    fd_set files;
    epoll_event event = {};
    uint64_t value;
    int poller = epoll_create1(0);
    event.events = EPOLLIN;
    FD_ZERO(&files);
    FD_SET(counter, &files);
    wrong += read(counter, &value, sizeof value) != sizeof value; // what poll() saw
    step = 11;
    wrong += select(counter + 1, &files, NULL, NULL, NULL) != 1 || !FD_ISSET(counter, &files);
    wrong += epoll_ctl(poller, EPOLL_CTL_ADD, ends[0], &event) != 0;
    step = 12;
    wrong += epoll_wait(poller, &event, 1, -1) != 1;
    step = 13;
    wrong += msgrcv(messages, &message, 1, 0, 0) != 1;
    wrong += mq_send(queue, "", 1, 0) != 0;
    step = 14;
    wrong += mq_send(queue, "", 1, 0) != 0;
    step = 15;
    wrong += semop(semaphores, &take, 1) != 0;
    wrong += msgctl(messages, IPC_RMID, NULL) != 0 || semctl(semaphores, 0, IPC_RMID) != 0;
}

int main(int argc, char **argv)
{
    pthread_t worker;
    const timespec past = {1, 0};
    int provided, there;
    open_files();
    pollfd event = {counter, POLLIN, 0};
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    pthread_getcpuclockid(pthread_self(), &main_clock);
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    pthread_mutex_lock(&guard);
    pthread_create(&worker, NULL, work, NULL);
    while (!goes)
        pthread_cond_wait(&changed, &guard);
    pthread_mutex_unlock(&guard);
    step = 1;
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    step = 2;
    semaphore.acquire();
    step = 3;
    latch.arrive_and_wait();
    step = 4;
    meeting.arrive_and_wait();
    step = 5;
    word.wait(0);
    wrong += pthread_timedjoin_np(worker, NULL, &past) != ETIMEDOUT;
    step = 6;
    pthread_spin_lock(&spin);
    while (goes != 3) ;
    step = 7;
    pthread_once(&pthread_flag, run_once);
    step = 8;
    wrong += read(ends[0], bytes, 1) != 1;
    step = 9;
    wrong += poll(&event, 1, -1) != 1;
    step = 10;
    wrong += write(ends[1], bytes, sizeof bytes) != sizeof bytes;
    wait_for_files_and_messages();
    step = 16;
    pthread_join(worker, NULL);
    wait_c11();
    for (int i = 0; i < 1200; i++)
        MPI_Iprobe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    regions(argc > 1);
    if (argc > 1)
        post_in_a_handler();
    MPI_Finalize();
    return wrong;
}
