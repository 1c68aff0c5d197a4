// The main thread of each rank waits for a worker, by pthread and by C++20, and for a thread of OpenMP. Others go on only once it waits.
#include <atomic>
#include <barrier>
#include <cstdio>
#include <cstring>
#include <latch>
#include <semaphore>

#include <mpi.h>
#include <omp.h>
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static std::counting_semaphore<4> semaphore(0);
static std::latch latch(2);
static std::barrier<> meeting(2);
static std::atomic<int> goes, step, word;

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

static void *work(void *argument)
{
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
    return argument;
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
                once_it_waits(6);
            }
        } else {
            while (!goes) ;
            step = 6;
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

int main(int argc, char **argv)
{
    pthread_t worker;
    int provided, there;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
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
    for (int i = 0; i < 1200; i++)
        MPI_Iprobe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    pthread_join(worker, NULL);
    regions(argc > 1);
    MPI_Finalize();
    return 0;
}
