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
// `pop` then says false on the other side, and so does `push`. An edge is a bounded queue between two threads:
// a ReaderWriterQueue, which neither locks nor spins, and semaphores for who has to wait.
//
// A block of several threads (streaming.threads in the project) is an object for each, and all of them share its edges:
// an element goes to whichever thread takes it first. Such an end of an edge has a mutex. `streaming::thread_number`
// is 0, 1, ... within the block. Its streams end when the last of its threads has returned.
#pragma once
#include <atomic>
#include <mutex>
#include <semaphore.h>
#include <time.h>
#include <cstddef>
#include <cstdint>
#include <vector>

#if !__has_include(<readerwriterqueue/readerwriterqueue.h>)
#error "ReaderWriterQueue is not installed: apt-get install libreaderwriterqueue-dev"
#endif
#include <readerwriterqueue/readerwriterqueue.h>

#include "agent.hpp"
#include "record.hpp"
#include "thread.hpp"

namespace streaming {

// An edge, made after the agent that watches it. `writers` push, the last of them closes; `readers` pop, the last of them
// abandons. Semaphores count the room and the elements; one more than there are elements is the end.
template <class T> class Queue {
public:
    Queue(int edge, size_t depth, int writers = 1, int readers = 1)
        : edge_(edge), shared_{writers > 1, readers > 1}, queue_(depth), special_{writers > 1, readers > 1} {
        sem_init(&room_, 0, unsigned(depth));
        sem_init(&there_, 0, 0);
    }
    Queue(const Queue&) = delete;
    Queue& operator=(const Queue&) = delete;

    // Waits for room. False where nobody reads any more: the element is lost.
    bool push(const T& value) {
        if (is_special(agent::pushes)) return push_alone(value);
        const int64_t blocked_ps = taken(room_);
        if (abandoned()) return false;
        put(blocked_ps, value);
        return true;
    }

    // Waits for an element. False at the stream's end.
    bool pop(T& value) {
        if (is_special(agent::pops)) return pop_alone(value);
        return take(taken(there_), value);
    }

    // Up to `most` elements: waits for the first (0: the stream has ended), takes those that are there; `wait_us` above 0:
    // waits so long for the rest.
    size_t pop(T* values, size_t most, int64_t wait_us = 0) {
        size_t count = most && pop(values[0]) ? 1 : 0;
        if (!count) return 0;
        timespec until{};
        if (wait_us) {
            clock_gettime(CLOCK_REALTIME, &until);
            const int64_t ns = until.tv_nsec + wait_us * 1000;
            until = {until.tv_sec + ns / 1000000000, ns % 1000000000};
        }
        const auto another = [&] { return count < most && !(wait_us ? sem_timedwait(&there_, &until) : sem_trywait(&there_)); };
        if (shared_[agent::pops]) {
            while (!ended() && another() && take_alone(-1, values[count])) ++count;
        } else {
            while (another() && take(-1, values[count])) ++count;
        }
        return count;
    }

    void close() {
        sem_post(&there_);
    }

    // Nobody will pop any more; a writer that waits for room goes on.
    void refuse() {
        abandoned_.store(true, std::memory_order_relaxed);
        make_special(agent::pushes);
        sem_post(&room_);
    }

    // Nobody pops any more.
    void abandon() {
        refuse();
        if (!ended()) end(-1);
    }

    bool abandoned() const { return abandoned_.load(std::memory_order_relaxed); }
    size_t room() { // at least so much, for the writer
        int count = 0;
        sem_getvalue(&room_, &count);
        return size_t(count);
    }

private:
    // One less of room or elements; from when on the thread had to wait for it, -1 where it had not. What is rare is in
    // functions of its own: the rest is what every element costs.
    int64_t taken(sem_t& semaphore) {
        return sem_trywait(&semaphore) ? waited(semaphore) : -1;
    }

    [[gnu::noinline]] int64_t waited(sem_t& semaphore) {
        const int64_t since_ps = now_ps();
        const agent::Way way = &semaphore == &room_ ? agent::pushes : agent::pops;
        if (shared_[way]) {
            const std::lock_guard alone(mutexes_[way]);
            if (!waiting_[way]++) begins_to_wait(way, since_ps);
        } else {
            begins_to_wait(way, since_ps);
        }
        falls_asleep(since_ps);
        while (sem_wait(&semaphore)) {} // a signal came
        if (!shared_[way] || !--waiting_[way]) show_wait(edge_, way == agent::pushes, 0);
        wakes();
        return since_ps;
    }

    void begins_to_wait(agent::Way way, int64_t since_ps) {
        tell_wait(way, since_ps);
        show_wait(edge_, way == agent::pushes, since_ps + 1);
    }

    // Several threads share the end, or nobody pops any more.
    [[gnu::noinline]] bool push_alone(const T& value) {
        if (abandoned()) return false;
        const int64_t blocked_ps = taken(room_);
        if (abandoned()) {
            sem_post(&room_); // for the next of them
            return false;
        }
        const std::lock_guard alone(mutexes_[agent::pushes]);
        const int64_t at_ps = put(blocked_ps, value);
        if (waiting_[agent::pushes]) tell_wait(agent::pushes, at_ps); // to the agent a transfer ends the wait, which others go on with
        return true;
    }

    // Several threads share the end, or the stream has ended.
    [[gnu::noinline]] bool pop_alone(T& value) {
        return !ended() && take_alone(taken(there_), value);
    }

    [[gnu::noinline]] bool take_alone(int64_t waiting_ps, T& value) {
        const std::lock_guard alone(mutexes_[agent::pops]);
        int64_t at_ps = -1;
        if (!take(waiting_ps, value, &at_ps)) {
            sem_post(&there_); // for the next of them
            return false;
        }
        if (waiting_[agent::pops]) tell_wait(agent::pops, at_ps);
        return true;
    }

    // When the element was put there, -1 where nobody asks.
    int64_t put(int64_t blocked_ps, const T& value) {
        const bool kept = recording();
        const int64_t at_ps = told_[agent::pushes] || kept ? now_ps() : -1;
        if (told_[agent::pushes]) told_[agent::pushes]->tell({at_ps, bits_of(value), false});
        if (kept) pushes_.add(edge_, Event::push, at_ps, blocked_ps, value);
        queue_.enqueue(value);
        sem_post(&there_);
        return at_ps;
    }

    // The reader gets nothing any more: it counts as waiting, from now on or since it began to.
    void end(int64_t waiting_ps) {
        const int64_t since_ps = waiting_ps < 0 ? now_ps() : waiting_ps;
        if (waiting_ps < 0) tell_wait(agent::pops, since_ps);
        if (recording()) pops_.add(edge_, Event::waiting, since_ps, -1, T());
        ended_.store(true, std::memory_order_relaxed);
        make_special(agent::pops);
    }

    bool ended() const { return ended_.load(std::memory_order_relaxed); }
    bool is_special(agent::Way way) const { return __atomic_load_n(&special_[way], __ATOMIC_RELAXED); }
    void make_special(agent::Way way) { __atomic_store_n(&special_[way], true, __ATOMIC_RELAXED); }

    void tell_wait(agent::Way way, int64_t since_ps) {
        if (told_[way] && told_[way]->waits) told_[way]->tell({since_ps, 0, true});
    }

    // False at the stream's end. `when` gets when the element was taken, -1 where nobody asks.
    bool take(int64_t waiting_ps, T& value, int64_t* when = nullptr) {
        if (!queue_.try_dequeue(value)) {
            end(waiting_ps);
            return false;
        }
        const bool kept = recording();
        const int64_t at_ps = told_[agent::pops] || kept ? now_ps() : -1;
        if (told_[agent::pops]) told_[agent::pops]->tell({at_ps, 0, false});
        if (kept) pops_.add(edge_, Event::pop, at_ps, waiting_ps, value);
        if (when) *when = at_ps;
        sem_post(&room_);
        return true;
    }

    const int edge_;
    const bool shared_[2]; // whether several threads push, and pop
    std::mutex mutexes_[2];
    std::atomic<int> waiting_[2]{};
    agent::End* const told_[2] = {agent::end_of(edge_, agent::pushes), agent::end_of(edge_, agent::pops)};
    sem_t room_, there_;
    moodycamel::ReaderWriterQueue<T> queue_;
    std::atomic<bool> abandoned_{false};
    std::atomic<bool> ended_{false}; // the readers'
    bool special_[2]; // whether more has to be looked at before a push, or a pop: it costs an ordinary one nothing
    Recorder pushes_, pops_;
};

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
