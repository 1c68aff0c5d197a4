/* Functions of the C library's that this library defines too. */
#ifndef RCW_REAL_H
#define RCW_REAL_H
#include <dlfcn.h>

/* The C library's own. */
#define REAL(name)                                                     \
    ({                                                                 \
        static __typeof__(&name) found_;                               \
        if (__builtin_expect(!found_, 0))                              \
            found_ = (__typeof__(&name))dlsym(RTLD_NEXT, #name);       \
        found_;                                                        \
    })

#define HERE __builtin_return_address(0)

/* One that does something else for threads on the virtual clock; others get the C library's. */
#define ON_CLOCK(type, name, parameters, arguments, does) \
    type name parameters                                  \
    {                                                     \
        if (!vc_self)                                     \
            return REAL(name) arguments;                  \
        return does;                                      \
    }
#endif
