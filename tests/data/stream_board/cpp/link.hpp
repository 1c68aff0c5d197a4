// A vendor's C++ header: words go into a stream, and come out of one.
#pragma once
#include <cstdint>
#include <vector>

namespace link {

class Link {
  public:
    explicit Link(int card);
    ~Link();
    int send(const uint16_t *data, int words);
    int send(const std::vector<uint16_t> &data);
    int receive(uint16_t *data, int words);

  private:
    void *card_;
};

} // namespace link
