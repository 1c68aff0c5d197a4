// The run-time of a streaming application on processor cores (C++17, header only; the blocks' sources include it).
//
// A block is a class with a member of type In<T> or Out<T> for each of its ports, a plain member for each of its
// configuration, and `void run()`, which a thread of its own calls once:
//
//     struct Scale {
//         streaming::In<uint32_t> x;
//         streaming::Out<uint32_t> y;
//         uint32_t factor;
//         void run() { for (uint32_t value; x.pop(value);) if (!y.push(value * factor)) return; }
//     };
//
// When `run` returns, the streams that the block wrote end (after what is in them), and nobody reads those that it read:
// `pop` then says false on the other side, and so does `push`. An edge is a bounded queue between two threads
// (ReaderWriterQueue's BlockingReaderWriterCircularBuffer).
#pragma once
#include <atomic>
#include <pthread.h>
#include <sched.h>
#include <cstddef>
#include <cstdint>
#include <vector>

#if !__has_include(<readerwriterqueue/readerwritercircularbuffer.h>)
#error "ReaderWriterQueue is not installed: apt-get install libreaderwriterqueue-dev"
#endif
#include <readerwriterqueue/readerwritercircularbuffer.h>

#include "agent.hpp"
#include "record.hpp"

namespace streaming {

// What is in a queue: an element, or the stream's end. It is copied into the queue once there is room and before the
// reader may know, and moved out before the writer may know that there is room again: so stamped, pushes and pops of a
// queue have one order in time.
template <class T> struct Token {
    T value{};
    bool end = false;
    int64_t* stamp = nullptr;

    Token() = default;
    Token(const T& value, bool end, int64_t* stamp) : value(value), end(end), stamp(stamp) {}
    Token(const Token& other) : value(other.value), end(other.end) {
        if (other.stamp) *other.stamp = now_ps();
    }
    Token& operator=(const Token& other) {
        value = other.value;
        end = other.end;
        if (stamp) *stamp = now_ps();
        return *this;
    }
};

// An edge. One thread pushes and closes, one pops and abandons.
template <class T> class Queue {
public:
    Queue(int edge, size_t depth) : edge_(edge), queue_(depth) {}
    Queue(const Queue&) = delete;
    Queue& operator=(const Queue&) = delete;

    // Waits for room. False where nobody reads any more: the element is lost.
    bool push(const T& value) {
        if (abandoned_.load(std::memory_order_relaxed)) return false;
        int64_t at_ps = 0, blocked_ps = -1;
        const bool watched = agent::wants(edge_) || recording();
        const Token<T> token(value, false, watched ? &at_ps : nullptr);
        if (!queue_.try_enqueue(token)) {
            if (watched) blocked_ps = now_ps();
            queue_.wait_enqueue(token);
        }
        if (watched) {
            agent::pushed(edge_, at_ps, blocked_ps, value);
            if (recording()) pushes_.add(edge_, Event::push, at_ps, blocked_ps, value);
        }
        return !abandoned_.load(std::memory_order_relaxed);
    }

    // Waits for an element. False at the stream's end.
    bool pop(T& value) {
        if (ended_) return false;
        int64_t at_ps = 0, waiting_ps = -1;
        Token<T> token;
        const bool watched = agent::wants(edge_) || recording();
        if (watched) token.stamp = &at_ps;
        if (!queue_.try_dequeue(token)) {
            if (watched) waiting_ps = now_ps();
            queue_.wait_dequeue(token);
        }
        return taken(token, at_ps, waiting_ps, value);
    }

    // Up to `most` elements: waits for the first (0: the stream has ended), takes those that are there; `wait_us` above 0:
    // waits so long for the rest.
    size_t pop(T* values, size_t most, int64_t wait_us = 0) {
        size_t count = most && pop(values[0]) ? 1 : 0;
        if (!count) return 0;
        for (const int64_t until_ps = wait_us ? now_ps() + wait_us * 1000000 : 0; count < most && !ended_; ++count) {
            int64_t at_ps = 0;
            Token<T> token;
            if (agent::wants(edge_) || recording()) token.stamp = &at_ps;
            if (!queue_.try_dequeue(token)) {
                const int64_t left_us = wait_us ? (until_ps - now_ps()) / 1000000 : 0;
                if (left_us <= 0 || !queue_.wait_dequeue_timed(token, left_us)) break;
            }
            if (!taken(token, at_ps, -1, values[count])) break;
        }
        return count;
    }

    void close() {
        if (!abandoned_.load(std::memory_order_relaxed)) queue_.wait_enqueue(Token<T>(T{}, true, nullptr));
        pushes_.write();
    }

    // Nobody pops any more; a writer that waits for room goes on.
    void abandon() {
        abandoned_.store(true, std::memory_order_relaxed);
        for (Token<T> token; queue_.try_dequeue(token);) {}
        ended_ = true;
        pops_.write();
    }

    bool abandoned() const { return abandoned_.load(std::memory_order_relaxed); }
    bool ended() const { return ended_; }
    size_t room() const { return queue_.max_capacity() - queue_.size_approx(); } // at least so much, for the writer

private:
    bool taken(const Token<T>& token, int64_t at_ps, int64_t waiting_ps, T& value) {
        if (token.end) {
            ended_ = true;
            return false;
        }
        value = token.value;
        if (agent::wants(edge_)) agent::popped(edge_, at_ps, waiting_ps, value);
        if (recording()) pops_.add(edge_, Event::pop, at_ps, waiting_ps, value);
        return true;
    }

    const int edge_;
    moodycamel::BlockingReaderWriterCircularBuffer<Token<T>> queue_;
    std::atomic<bool> abandoned_{false};
    bool ended_ = false; // the reader's
    Recorder pushes_, pops_;
};

// The calling thread runs on this core alone.
inline void bind_to(int core) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    pthread_setaffinity_np(pthread_self(), sizeof one, &one);
}

// A block's ports. `join` gives them their edge before the block runs.
template <class T> class In {
public:
    void join(Queue<T>& queue) { queue_ = &queue; }
    bool pop(T& value) { return queue_->pop(value); }
    size_t pop(T* values, size_t most) { return queue_->pop(values, most); }
    void close() { queue_->abandon(); }

private:
    Queue<T>* queue_ = nullptr;
};

template <class T> class Out {
public:
    void join(Queue<T>& queue) { queue_ = &queue; }
    bool push(const T& value) { return queue_->push(value); }
    bool push(const T* values, size_t count) {
        for (size_t i = 0; i < count; ++i)
            if (!queue_->push(values[i])) return false;
        return true;
    }
    void close() { queue_->close(); }

private:
    Queue<T>* queue_ = nullptr;
};

} // namespace streaming
