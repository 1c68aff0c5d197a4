/* Work of so many microseconds: basic blocks of 2 ns each. The programs are built without counting their own. */
#ifndef WORK_H
#define WORK_H

#ifdef __cplusplus
extern "C"
#endif
void __sanitizer_cov_trace_pc(void);

static void work_ns(long ns)
{
    for (long i = 0; i < ns / 2; i++)
        __sanitizer_cov_trace_pc();
}

static inline void work(long us) { work_ns(1000 * us); }
#endif
