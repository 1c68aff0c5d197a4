// A buffered file of records. A write that fails (a full disk) ends the simulation with its reason.
#pragma once
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>

class RecordFile {
public:
    explicit RecordFile(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "wb")) {
        if (!file_) throw std::runtime_error("cannot write " + path_ + ": " + std::strerror(errno));
        std::setvbuf(file_, nullptr, _IOFBF, 1 << 18);
    }
    RecordFile(const RecordFile&) = delete;
    RecordFile& operator=(const RecordFile&) = delete;
    ~RecordFile() {
        if (file_) std::fclose(file_);
    }

    void add(const void* record, size_t bytes) {
        if (std::fwrite(record, bytes, 1, file_) != 1)
            throw std::runtime_error("cannot write " + path_ + ": " + std::strerror(errno));
    }

    // So that whoever looks at the file meanwhile, or after a kill, finds all but the last moments.
    void settle() {
        const auto now = std::chrono::steady_clock::now();
        if (now - settled_ < std::chrono::milliseconds(100)) return;
        std::fflush(file_);  // what fails here fails again, and is told, when the next record is added
        settled_ = now;
    }

    void close() {
        FILE* file = file_;
        file_ = nullptr;
        if (file && std::fclose(file)) throw std::runtime_error("cannot write " + path_ + ": " + std::strerror(errno));
    }

private:
    std::string path_;
    FILE* file_;
    std::chrono::steady_clock::time_point settled_{};
};
