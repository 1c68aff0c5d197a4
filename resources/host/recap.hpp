/* What instrumented C++ calls are written with (recap.h records them). */
#ifndef RECAP_HPP
#define RECAP_HPP
#include "recap.h"

/* A call's own function has a frame of its own, by which the recorder tells what is within it; and the blocks of these are
 * none of the program's. */
#if defined(__has_attribute) && __has_attribute(no_sanitize_coverage)
#define RCW_UNCOUNTED __attribute__((no_sanitize_coverage))
#else
#define RCW_UNCOUNTED
#endif
#define RCW_CALL __attribute__((noinline)) RCW_UNCOUNTED
#define RCW_INLINED inline __attribute__((always_inline)) RCW_UNCOUNTED

/* One call, recorded when this ends, by an exception too. `code` is twice the first of its slots, and 1 more where calls
 * of which no entry's condition holds are recorded too. */
struct rcw_site {
    rcw_start began;
    rcw_thread *me;
    rcw_call it;
    int code, slot;

    RCW_INLINED rcw_site(const rcw_unit &unit, int of)
        : began(rcw_enter()), me(rcw_ready(&unit)), it(), code(of), slot(unit.first + (of >> 1))
    {
        it.which = -1, it.fpga = -1, it.bytes = -1, it.address = -1;
    }
    rcw_site(const rcw_site &) = delete;
    rcw_site &operator=(const rcw_site &) = delete;

    RCW_INLINED bool open() const { return me && it.which < 0; }

    /* The last thing before the call: it has `entries`, whose slots come first. */
    RCW_INLINED void go(int entries)
    {
        if (!me)
            return;
        if (it.which < 0 && !(code & 1)) {
            rcw_take_off();
            me = 0;
            return;
        }
        slot += it.which < 0 ? entries : it.which;
        rcw_go(me, &began, slot);
    }

    RCW_INLINED ~rcw_site()
    {
        if (me)
            rcw_leave(me, &began, slot, &it);
    }
};

/* A type that is not written as a name, as one. */
template <class T> struct rcw_same {
    typedef T type;
};

/* An object, be it a temporary one, as something that a reference binds to. */
template <class T> RCW_INLINED T &rcw_ref(T &&object) { return object; }

/* What a pointer, or an object that acts like one, leads to. */
template <class T> RCW_INLINED T &rcw_arrow(T *pointer) { return *pointer; }
template <class T> RCW_INLINED auto rcw_arrow(T &&pointer) -> decltype(rcw_arrow(pointer.operator->()))
{
    return rcw_arrow(pointer.operator->());
}

/* Whether an object is of a class, which only a template's arguments tell. */
template <class T, class U> constexpr bool rcw_is(const U &) { return __is_base_of(T, U); }

/* An argument as the parameter of the function that is meant; nothing where it cannot be one. */
template <class T, class U> auto rcw_as(U &value, int) -> decltype(static_cast<T>(value)) { return static_cast<T>(value); }
template <class T, class U> T rcw_as(U &, long) { return T(); }
#endif
