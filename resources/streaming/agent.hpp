// What the host agent is told of each edge, by the thread that pushes or pops. Here nobody measures anything.
#pragma once
#include <cstdint>

namespace streaming::agent {

inline bool wants(int /*edge*/) { return false; }

// `blocked_ps` and `waiting_ps`: from when on the thread waited for room or for an element; -1 where it did not.
template <class T> inline void pushed(int /*edge*/, int64_t /*at_ps*/, int64_t /*blocked_ps*/, const T& /*value*/) {}
template <class T> inline void popped(int /*edge*/, int64_t /*at_ps*/, int64_t /*waiting_ps*/, const T& /*value*/) {}

} // namespace streaming::agent
