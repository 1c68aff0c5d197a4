// Queues as programs have them: a bounded ring that blocks, a std::queue behind a lock, a ring without locks.
#pragma once
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <queue>

template <class T, int N> class Ring {
public:
    void push(const T &item)
    {
        std::unique_lock<std::mutex> held(lock);
        room.wait(held, [this] { return count < N; });
        items[(first + count++) % N] = item;
        some.notify_one();
    }
    bool pop(T &item) // false: closed and empty
    {
        std::unique_lock<std::mutex> held(lock);
        some.wait(held, [this] { return count || closed; });
        if (!count) return false;
        item = items[first++ % N];
        count--;
        room.notify_one();
        return true;
    }
    void close()
    {
        std::lock_guard<std::mutex> held(lock);
        closed = true;
        some.notify_all();
    }

private:
    std::mutex lock;
    std::condition_variable room, some;
    T items[N];
    int first = 0, count = 0;
    bool closed = false;
};

class Locked {
public:
    void put(int item)
    {
        std::lock_guard<std::mutex> held(lock);
        items.push(item);
    }
    std::optional<int> take()
    {
        std::lock_guard<std::mutex> held(lock);
        if (items.empty()) return std::nullopt;
        int item = items.front();
        items.pop();
        return item;
    }

private:
    std::mutex lock;
    std::queue<int> items;
};

class Spsc {
public:
    bool push(int item)
    {
        unsigned at = tail.load(std::memory_order_relaxed);
        if (at - head.load(std::memory_order_acquire) == 2) return false;
        items[at % 2] = item;
        tail.store(at + 1, std::memory_order_release);
        return true;
    }
    bool pop(int &item)
    {
        unsigned at = head.load(std::memory_order_relaxed);
        if (at == tail.load(std::memory_order_acquire)) return false;
        item = items[at % 2];
        head.store(at + 1, std::memory_order_release);
        return true;
    }

private:
    int items[2];
    std::atomic<unsigned> head{0}, tail{0};
};
