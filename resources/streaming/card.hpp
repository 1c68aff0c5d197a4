// The threads that move data between the processor and an FPGA: a thread for each edge into the FPGA, one for all
// edges out of it. Data from one FPGA to another come out of the one into a queue here, and go into the other. Elements
// go in bulk; no transfer is begun that would have to wait inside the FPGA, so that an edge that is full holds up no
// other. The design's side is stream_port.v.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "streaming.hpp"

extern "C" {
// In the platform's own calls (generated: stream_card.c). Cards count from 0, addresses in 32-bit words.
void stream_card_open(int card);
void stream_card_write(int card, uint32_t address, const uint32_t* words, int count);
void stream_card_read(int card, uint32_t address, uint32_t* words, int count);
void stream_card_wait(int card); // for its interrupt
void stream_card_close(int card);
}

namespace streaming {

namespace port { // stream_port.v
constexpr uint32_t control = 0x0, which = 0x1, ins = 0x100, outs = 0x200, closes = 0x300, agents = 0x400, windows = 0x10000;
constexpr uint32_t finish = 1, ended = 0x80000000u;
inline uint32_t window(int number) { return windows * uint32_t(1 + number); }
} // namespace port

template <class T> constexpr size_t words_of() { return (sizeof(T) + 3) / 4; }

template <class T> void pack(const T* values, size_t count, uint32_t* words) {
    for (size_t i = 0; i < count; ++i) {
        words[(i + 1) * words_of<T>() - 1] = 0;
        std::memcpy(words + i * words_of<T>(), values + i, sizeof(T));
    }
}

template <class T> void unpack(const uint32_t* words, size_t count, T* values) {
    for (size_t i = 0; i < count; ++i) std::memcpy(values + i, words + i * words_of<T>(), sizeof(T));
}

class Card {
public:
    // Of several `cards` this one; `first_out` is the number of its first edge out. Before anything is timed: what the
    // start of a board's counters takes is set aside, and the clock stands meanwhile.
    Card(int number, int cards, const char* name, size_t bulk, int64_t flush_us, uint32_t first_out)
        : number_(number), name_(name), bulk_(bulk), flush_us_(flush_us), first_out_(first_out) {
        stream_card_open(number_);
        if (cards > 1 || !on_simulated_card()) write(port::which, uint32_t(number_)); // the first transfer starts a board's counters
    }
    Card(const Card&) = delete;

    // An edge into the FPGA, by its number among those and its window; `outs` are the edges out (in the order in which
    // they are told) that its data reach. The thread ends with the stream, or where nobody wants any of those.
    template <class T> void send(Queue<T>& queue, int number, int window, std::vector<size_t> outs) {
        ins_.push_back(std::make_unique<InTo>(std::move(outs), [&queue] { queue.refuse(); }));
        const std::atomic<bool>& stopped = ins_.back()->stopped;
        threads_.emplace_back([this, &queue, &stopped, number, window] {
            name_this(("to_" + name_).c_str());
            std::vector<T> values(bulk_);
            std::vector<uint32_t> words(bulk_ * words_of<T>());
            uint32_t room = 0;
            for (size_t count; (count = queue.pop(values.data(), bulk_, flush_us_)) && !stopped;) {
                while (room < count && !stopped) {
                    stream_card_read(number_, port::ins + uint32_t(number), &room, 1);
                    if (room < count) pause();
                }
                if (stopped) break;
                pack(values.data(), count, words.data());
                stream_card_write(number_, port::window(window), words.data(), int(count * words_of<T>()));
                moves();
                room -= uint32_t(count);
            }
            queue.abandon();
            if (!stopped) write(port::closes + uint32_t(number), 1);
        });
    }

    // An edge out of the FPGA, by its number among those; `window` is the number of its window.
    template <class T> void receive(Queue<T>& queue, int window) {
        outs_.push_back(std::make_unique<OutOf<T>>(queue, number_, window, bulk_));
    }

    // After all edges are told.
    void start() {
        if (!outs_.empty()) threads_.emplace_back([this] {
            name_this(("from_" + name_).c_str());
            take();
        });
    }

    // The blocks on the processor have ended: what they wrote is moved still.
    void finish() { write(port::control, port::finish); } // raises the interrupt

    // After all cards were told so.
    void join() {
        for (std::thread& thread : threads_) thread.join();
    }

    ~Card() { stream_card_close(number_); }

private:
    struct InTo {
        InTo(std::vector<size_t> outs, std::function<void()> refuse) : outs(std::move(outs)), refuse(std::move(refuse)) {}
        const std::vector<size_t> outs;
        const std::function<void()> refuse;
        std::atomic<bool> stopped{false};
    };
    struct Taken {
        virtual ~Taken() = default;
        virtual size_t take(uint32_t there) = 0; // how many it took of the elements that are there
        bool over = false, unread = false;
    };
    template <class T> struct OutOf : Taken {
        OutOf(Queue<T>& queue, int card, int window, size_t bulk)
            : queue(queue), card(card), window(window), values(bulk), words(bulk * words_of<T>()) {}
        size_t take(uint32_t there) override {
            size_t count = std::min(size_t(there & ~port::ended), values.size());
            if (count > queue.room()) count = 0; // small transfers would only cost time
            if (count) {
                stream_card_read(card, port::window(window), words.data(), int(count * words_of<T>()));
                moves();
                unpack(words.data(), count, values.data());
                for (size_t i = 0; i < count; ++i) queue.push(values[i]);
            }
            if (there == port::ended || queue.abandoned()) {
                queue.close();
                over = true;
                unread = there != port::ended;
            }
            return count;
        }
        Queue<T>& queue;
        const int card, window;
        std::vector<T> values;
        std::vector<uint32_t> words;
    };

    void take() {
        std::vector<uint32_t> there(outs_.size());
        for (size_t over = 0; over < outs_.size();) {
            stream_card_wait(number_);
            stream_card_read(number_, port::outs + first_out_, there.data(), int(there.size()));
            size_t moved = 0;
            for (size_t i = 0; i < outs_.size(); ++i)
                if (!outs_[i]->over) {
                    moved += outs_[i]->take(there[i]);
                    over += outs_[i]->over;
                    if (outs_[i]->unread) stop();
                }
            if (!moved && over < outs_.size()) pause(); // the queues here are full
        }
    }

    // Where nobody wants what the FPGA makes of it, what goes there is of no use either.
    void stop() {
        for (const auto& in : ins_) {
            bool over = !in->outs.empty(), unread = false;
            for (const size_t out : in->outs) {
                over &= outs_[out]->over;
                unread |= outs_[out]->unread;
            }
            if (over && unread && !in->stopped.exchange(true)) in->refuse();
        }
    }

    void write(uint32_t address, uint32_t word) { stream_card_write(number_, address, &word, 1); }

    void pause() const {
        looks_again();
        std::this_thread::sleep_for(std::chrono::microseconds(flush_us_));
    }

    const int number_;
    const std::string name_;
    const size_t bulk_;
    const int64_t flush_us_;
    const uint32_t first_out_;
    std::vector<std::unique_ptr<InTo>> ins_;
    std::vector<std::unique_ptr<Taken>> outs_;
    std::vector<std::thread> threads_;
};

} // namespace streaming
