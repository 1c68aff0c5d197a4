// A buffered file of records. A write that fails (a full disk) ends the simulation with its reason.
#pragma once
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

class RecordFile {
public:
    explicit RecordFile(const std::string& path)
        : path_(path), file_(std::fopen(path.c_str(), "wb")), buffer_(new char[room]), left_(room) {
        if (!file_) fail();
        std::setvbuf(file_, nullptr, _IONBF, 0);
    }
    RecordFile(const RecordFile&) = delete;
    RecordFile& operator=(const RecordFile&) = delete;
    ~RecordFile() {
        if (!file_) return;
        write();
        std::fclose(file_);
    }

    // (Millions of small ones: the C library's own buffer takes three times as long.)
    void add(const void* record, size_t bytes) {
        if (bytes > left_) {
            if (!write()) fail();
            if (bytes > room) {
                if (std::fwrite(record, bytes, 1, file_) != 1) fail();
                return;
            }
        }
        std::memcpy(buffer_.get() + used_, record, bytes);
        used_ += bytes;
        left_ -= bytes;
    }

    // So that whoever looks at the file meanwhile, or after a kill, finds all but the last moments.
    void settle() {
        const auto now = std::chrono::steady_clock::now();
        if (now - settled_ < std::chrono::milliseconds(100)) return;
        if (!write()) left_ = 0;  // fails again, and is told, when the next record is added
        settled_ = now;
    }

    void close() {
        const bool written = write();
        FILE* file = file_;
        file_ = nullptr;
        if (file && (std::fclose(file) || !written)) fail();
    }

private:
    static constexpr size_t room = 1 << 18;

    // What the buffer holds goes to the file; what does not stays.
    bool write() {
        if (!file_) return true;
        const size_t written = std::fwrite(buffer_.get(), 1, used_, file_);
        std::memmove(buffer_.get(), buffer_.get() + written, used_ - written);
        used_ -= written;
        left_ = room - used_;
        return !used_;
    }
    [[noreturn]] void fail() const { throw std::runtime_error("cannot write " + path_ + ": " + std::strerror(errno)); }

    std::string path_;
    FILE* file_;
    std::unique_ptr<char[]> buffer_;
    size_t used_ = 0, left_;
    std::chrono::steady_clock::time_point settled_{};
};
