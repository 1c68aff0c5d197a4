/* REAL(name): the C library's own function behind one that this library defines too. */
#ifndef RCW_REAL_H
#define RCW_REAL_H
#include <dlfcn.h>

#define REAL(name)                                                     \
    ({                                                                 \
        static __typeof__(&name) found_;                               \
        if (__builtin_expect(!found_, 0))                              \
            found_ = (__typeof__(&name))dlsym(RTLD_NEXT, #name);       \
        found_;                                                        \
    })
#endif
