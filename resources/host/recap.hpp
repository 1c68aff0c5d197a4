/* What instrumented C++ calls are written with (recap.h records them, objects.h knows what they opened). */
#ifndef RECAP_HPP
#define RECAP_HPP
#include "objects.h"

/* A call's own function has a frame of its own, by which the recorder tells what is within it; and the blocks of these are
 * none of the program's. */
#if defined(__has_attribute) && __has_attribute(no_sanitize_coverage)
#define RCW_UNCOUNTED __attribute__((no_sanitize_coverage))
#else
#define RCW_UNCOUNTED
#endif
#define RCW_CALL __attribute__((noinline)) RCW_UNCOUNTED
#define RCW_INLINED inline __attribute__((always_inline)) RCW_UNCOUNTED

/* What is opened is known by its value, an object by where it stands, and what a smart pointer holds by where that does,
 * so that it may be moved. */
template <class T, bool = __is_class(T) || __is_union(T)> struct rcw_known {
    enum { may_be_none = 1 };
    static RCW_INLINED uint64_t by(const T &value) { return held(value, 0); }

private:
    template <class P> static RCW_INLINED auto held(const P &pointer, int) -> decltype(pointer.operator->(), (uint64_t)pointer.get())
    {
        return (uint64_t)pointer.get();
    }
    template <class O> static RCW_INLINED uint64_t held(const O &object, long)
    {
        return (uint64_t)(uintptr_t)__builtin_addressof(object);
    }
};
template <class T> struct rcw_known<T, false> {
    enum { may_be_none = 0 };
    static RCW_INLINED uint64_t by(const T &value) { return (uint64_t)(uintptr_t)value; }
};
template <class T> struct rcw_known<T *, false> {
    enum { may_be_none = 1 };
    static RCW_INLINED uint64_t by(T *pointer) { return (uint64_t)(uintptr_t)pointer; }
};
template <class T> RCW_INLINED uint64_t rcw_value(const T &value) { return rcw_known<T>::by(value); }
template <class T>
RCW_INLINED void rcw_opens(const T &value, int32_t name, uint64_t names, uint64_t bytes, const rcw_call &call)
{
    uint64_t known = rcw_value(value);
    if (known || !rcw_known<T>::may_be_none)
        rcw_opened(name, names, known, bytes, call.address, call.fpga);
}

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

    /* The call is recorded elsewhere. */
    RCW_INLINED void leave_out()
    {
        rcw_take_off();
        me = 0;
    }

    /* The last thing before the call: it has `entries`, whose slots come first. */
    RCW_INLINED void go(int entries)
    {
        if (!me)
            return;
        if (it.which < 0 && !(code & 1)) {
            leave_out();
            return;
        }
        slot += it.which < 0 ? entries : it.which;
        rcw_go(me, &began, slot);
    }

    /* The first thing after it. */
    RCW_INLINED void done()
    {
        if (me)
            rcw_leave(me, &began, slot, &it);
        me = 0;
    }

    /* A queue's call put in, or took out, so many elements. */
    RCW_INLINED void moved(int64_t elements)
    {
        if (it.address > 0 && elements > 0)
            it.address |= elements < 0xffffffff ? elements : 0xffffffff;
    }

    RCW_INLINED ~rcw_site() { done(); }
};

/* The read-out of a real machine's counters (rcw_board.c), where there is one. */
extern "C" {
__attribute__((weak)) void rcw_board_begin(int at);
__attribute__((weak)) void rcw_board_end(int at);
__attribute__((weak)) int rcw_board_at(int fpga, uint64_t handle);
__attribute__((weak)) void rcw_board_keep(int at, int which, const void *value, size_t bytes);
__attribute__((weak)) int rcw_board_stream(void);
__attribute__((weak)) void rcw_board_send(int at, const void *data, int64_t bytes);
__attribute__((weak)) void rcw_board_sent(int at);
}

/* While this lasts, data go into a port; where that is the stream in which the read-out has reserved words, it is told them. */
struct rcw_streams {
    int of;

    RCW_INLINED rcw_streams() : of(-1) {}
    rcw_streams(const rcw_streams &) = delete;
    rcw_streams &operator=(const rcw_streams &) = delete;
    RCW_INLINED void begin(int at, int port, const void *data, int64_t bytes)
    {
        if (rcw_board_stream && rcw_board_stream() == port)
            rcw_board_send(of = at, data, bytes);
    }
    RCW_INLINED ~rcw_streams()
    {
        if (of >= 0)
            rcw_board_sent(of);
    }
};

RCW_INLINED int rcw_board_of(const rcw_call &call) { return rcw_board_at ? rcw_board_at(call.fpga, 0) : 0; }

/* The type behind references, pointers and const; and the first of a template's types, as a vector's. */
template <class T> struct rcw_bare { typedef T type; };
template <class T> struct rcw_bare<const T> : rcw_bare<T> {};
template <class T> struct rcw_bare<T &> : rcw_bare<T> {};
template <class T> struct rcw_bare<T &&> : rcw_bare<T> {};
template <class T> struct rcw_bare<T *> : rcw_bare<T> {};
template <class T> struct rcw_first;
template <template <class...> class C, class T, class... R> struct rcw_first<C<T, R...>> { typedef T type; };
template <template <class, decltype(sizeof 0)> class C, class T, decltype(sizeof 0) N> struct rcw_first<C<T, N>> { typedef T type; };

template <class T> RCW_INLINED void rcw_keeps(int at, int which, const T &value) { rcw_board_keep(at, which, &value, sizeof value); }

/* What a queue's call returns, looked at before its record is made. */
template <class R> struct rcw_moved {
    typedef R type;
    template <class C, class T> static RCW_INLINED R of(const C &call, const T &look)
    {
        R result = call();
        look(__builtin_addressof(result));
        return result;
    }
};
template <class R> struct rcw_moved<R &> {
    typedef R type;
    template <class C, class T> static RCW_INLINED R &of(const C &call, const T &look)
    {
        R &result = call();
        look(__builtin_addressof(result));
        return result;
    }
};
template <class R> struct rcw_moved<R &&> {
    typedef R type;
    template <class C, class T> static RCW_INLINED R &&of(const C &call, const T &look)
    {
        R &&result = call();
        look(__builtin_addressof(result));
        return static_cast<R &&>(result);
    }
};
template <> struct rcw_moved<void> {
    typedef void type;
    template <class C, class T> static RCW_INLINED void of(const C &call, const T &look)
    {
        call();
        look((void *)0);
    }
};

/* What a call returns, told of between the call and whoever gets it: a reference, or an object where it stands from then
 * on. One that can neither be moved nor copied is not told of. */
template <class R, bool = __is_constructible(R, R)> struct rcw_returned {
    typedef R &made;
    template <class C, class T> static RCW_INLINED R of(rcw_site &site, const C &call, const T &tell)
    {
        R result = call();
        site.done();
        tell(result);
        return result;
    }
};
template <class R> struct rcw_returned<R &, true> {
    typedef R &made;
    template <class C, class T> static RCW_INLINED R &of(rcw_site &site, const C &call, const T &tell)
    {
        R &result = call();
        site.done();
        tell(result);
        return result;
    }
};
template <class R> struct rcw_returned<R &&, true> {
    typedef R &made;
    template <class C, class T> static RCW_INLINED R &&of(rcw_site &site, const C &call, const T &tell)
    {
        R &&result = call();
        site.done();
        tell(result);
        return static_cast<R &&>(result);
    }
};
template <class R> struct rcw_returned<R, false> {
    typedef R &made;
    template <class C, class T> static RCW_INLINED R of(rcw_site &, const C &call, const T &) { return call(); }
};
template <> struct rcw_returned<void, false> {
    typedef int made;
    template <class C, class T> static RCW_INLINED void of(rcw_site &site, const C &call, const T &tell)
    {
        call();
        site.done();
        tell(0);
    }
};

/* While this lasts, a constructor or destructor of an object is under way and recorded. A compiler makes several functions of
 * one, which call each other, and some linkers lead those calls to the recorder too. */
struct rcw_inside {
    int of;
    const void *at;

    RCW_INLINED rcw_inside(int now, const void *object) : of(rcw_inside_of), at(rcw_inside_at)
    {
        rcw_inside_of = now, rcw_inside_at = object;
    }
    rcw_inside(const rcw_inside &) = delete;
    rcw_inside &operator=(const rcw_inside &) = delete;
    RCW_INLINED ~rcw_inside() { rcw_inside_of = of, rcw_inside_at = at; }
};
RCW_INLINED bool rcw_is_inside(int of, const void *object) { return rcw_inside_of == of && rcw_inside_at == object; }

/* While this lasts, the next call of a constructor or destructor whose calls are recorded wherever they are made is recorded
 * already. */
struct rcw_expects {
    int before;

    RCW_INLINED explicit rcw_expects(int of) : before(rcw_expected) { rcw_expected = of; }
    rcw_expects(const rcw_expects &) = delete;
    rcw_expects &operator=(const rcw_expects &) = delete;
    RCW_INLINED ~rcw_expects() { rcw_expected = before; }
};

/* A method that a pointer to one of a class's may lead to, and that calls a function: of the same type as the method whose
 * address was taken. */
template <class T, class F, F f> struct rcw_member;
#define RCW_MEMBER(QUALIFIER, NOEXCEPT) \
    template <class C, class R, class... A, R (*f)(C QUALIFIER &, A...) NOEXCEPT> \
    struct rcw_member<R (C::*)(A...) QUALIFIER NOEXCEPT, R (*)(C QUALIFIER &, A...) NOEXCEPT, f> : C { \
        RCW_UNCOUNTED R call(A... given) QUALIFIER NOEXCEPT { return f(*this, static_cast<A &&>(given)...); } \
    };
RCW_MEMBER(, )
RCW_MEMBER(const, )
#ifndef __cpp_noexcept_function_type /* before C++17 it is no part of a type */
#define RCW_NOEXCEPT
#else
#define RCW_NOEXCEPT noexcept
RCW_MEMBER(, noexcept)
RCW_MEMBER(const, noexcept)
#endif

/* What a constructor or destructor returns to its caller. */
#if defined(__arm__) && !defined(__aarch64__)
#define RCW_STRUCTOR void *
#else
#define RCW_STRUCTOR void
#endif

/* What std::default_delete's operator says of itself: LLVM's library, where the compiler has it, says noexcept. */
#if defined(__has_include) && __has_include(<__config>)
#define RCW_DELETES noexcept
#else
#define RCW_DELETES
#endif

/* A type that is not written as a name, as one. */
template <class T> struct rcw_same {
    typedef T type;
};

/* What an argument is: never called. */
template <class T> T &&rcw_given(T &&argument);

/* An object, be it a temporary one, as something that a reference binds to. */
template <class T> RCW_INLINED T &rcw_ref(T &&object) { return object; }

/* What a pointer, or an object that acts like one, leads to. */
template <class T> RCW_INLINED T &rcw_arrow(T *pointer) { return *pointer; }
template <class T> RCW_INLINED auto rcw_arrow(T &&pointer) -> decltype(rcw_arrow(pointer.operator->()))
{
    return rcw_arrow(pointer.operator->());
}

/* Whether an object is of a class, which only a template's arguments tell. */
template <class T, class U> RCW_INLINED constexpr bool rcw_is(const U &) { return __is_base_of(T, U); }

/* An argument as the parameter of the function that is meant; nothing where it cannot be one. */
template <class T, class U> RCW_INLINED auto rcw_as(U &value, int) -> decltype(static_cast<T>(value)) { return static_cast<T>(value); }
template <class T, class U> RCW_INLINED T rcw_as(U &, long) { return T(); }
#endif
